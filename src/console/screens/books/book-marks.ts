/** A book in few signs: its cover, its status as a word, and its rating as stars. */
import { h } from '../../base/dom.ts';
import { formatStars } from '../../base/format.ts';
import type { Book, Reading } from '../../../books/book.ts';
import { valueLabels } from '../../base/book-labels.ts';

export const STARS_MAX = 5;
const HUES = 360;
/** Spreads titles that differ in a letter over the hues. */
const HUE_STEP = 31;

/** No rating, and every one that a book can have, the highest first. */
export const RATING_CHOICES: readonly (readonly [rating: string, label: string])[] = [['', '–'],
  ...Array.from({ length: STARS_MAX * 4 }, (_, index) => STARS_MAX - index / 4)
    .map((rating) => [String(rating), formatStars(rating)] as const)];

export function stars(rating: number): HTMLElement {
  return h('span.stars', { role: 'img', 'aria-label': `${rating} of ${STARS_MAX} stars` },
    formatStars(rating));
}

/** The status and the rating, as far as there are any. */
export function readingMark({ status, rating }: Reading): HTMLElement {
  return h('span.reading',
    status === undefined ? null : h('span', valueLabels['status']?.[status] ?? status),
    status === undefined ? null : ' ', rating === undefined ? null : stars(rating));
}

/** Whether the operator has allowed images from elsewhere (server/documents/console-look.ts). */
export const mayLoadImages = (): boolean => document.documentElement.hasAttribute('data-images');

/** The image of the book, or, without one that can be loaded, a spine in a colour by the title. */
export function cover({ title, image }: Pick<Book, 'title' | 'image'>): HTMLElement {
  const spine = h('span.cover', { 'aria-hidden': 'true' });
  let hue = 0;
  for (const letter of title) hue = (hue * HUE_STEP + letter.charCodeAt(0)) % HUES;
  spine.style.setProperty('--hue', String(hue));
  if (image === undefined || !mayLoadImages()) return spine;
  const element = h('img.cover', {
    src: image, alt: '', loading: 'lazy', referrerpolicy: 'no-referrer',
    onerror: () => element.replaceWith(spine),
  });
  return element;
}
