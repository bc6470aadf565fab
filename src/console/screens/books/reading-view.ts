/** What a book is to its reader, in few signs: the status as a word, and the rating as stars. */
import { h } from '../../base/dom.ts';
import type { Reading } from '../../../books/book.ts';
import { valueLabels } from './book-labels.ts';

const STARS_MAX = 5;
const QUARTERS = ['', '¼', '½', '¾'];

/** No rating, and every one that a book can have, the highest first. */
export const RATING_CHOICES: readonly (readonly [rating: string, label: string])[] = [['', '–'],
  ...Array.from({ length: STARS_MAX * 4 }, (_, index) => STARS_MAX - index / 4)
    .map((rating) => [String(rating), formatStars(rating)] as const)];

/** `★★★½` */
export function formatStars(rating: number): string {
  return '★'.repeat(Math.floor(rating)) + (QUARTERS[rating % 1 * 4] ?? '');
}

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
