/** The cover of a book. */
import { h } from '../../base/dom.ts';
import type { Book } from '../../../books/book.ts';

const HUES = 360;
/** Spreads titles that differ in a letter over the hues. */
const HUE_STEP = 31;

/** Whether the operator has allowed images from elsewhere (server/documents/console-look.ts). */
const mayLoadImages = (): boolean => document.documentElement.hasAttribute('data-images');

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
