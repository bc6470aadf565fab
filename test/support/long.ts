import { test } from 'node:test';

/**
 * True in `npm run test:long`: what is tried at random is tried more often, in more time. A file
 * that is for such a run alone is named `….long.ts`. `.ci/long.mjs` says which part a file is of.
 */
export const IS_LONG = process.env['TEST_LONG'] === '1';

/** All of them in a long run; else the first, and each `every`-th after it. */
export function someOf<Item>(items: readonly Item[], every: number): readonly Item[] {
  return IS_LONG ? items : items.filter((_, index) => index % every === 0);
}

/** `test` in a long run; else the test, of a large size or a long time, is left out. */
export const longTest = IS_LONG ? test : leaveOut;

/** Takes what `test` takes. */
function leaveOut(..._words: readonly unknown[]): void {}
