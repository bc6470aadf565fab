/** Ratings as stars. */
import { h } from '../../base/dom.ts';

const STARS_MAX = 5;
const QUARTERS = ['', '¼', '½', '¾'];

/** Every rating that a book can have, the highest first. */
export const RATINGS: readonly number[] =
  Array.from({ length: STARS_MAX * 4 }, (_, index) => STARS_MAX - index / 4);

/** `★★★½` */
export function formatStars(rating: number): string {
  return '★'.repeat(Math.floor(rating)) + (QUARTERS[rating % 1 * 4] ?? '');
}

export function stars(rating: number): HTMLElement {
  return h('span.stars', { role: 'img', 'aria-label': `${rating} of ${STARS_MAX} stars` },
    formatStars(rating));
}
