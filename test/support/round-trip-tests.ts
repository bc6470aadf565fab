/** Tests that books come back from a bibliographic format as they were. */
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import type { JsonObject } from '../../src/base/schema.ts';
import { hostileBook } from './hostile-books.ts';
import { IS_LONG } from './long.ts';
import { createRandom } from './random.ts';

const BOOK_COUNT = IS_LONG ? 3000 : 200;

/** The sample catalog. */
export const samples: readonly JsonObject[] =
  JSON.parse(readFileSync('data/samples/books.json', 'utf8'));

/** `nameEnd` stands behind each of a hundred long names. */
export function testRoundTrips(
  assertRoundTrip: (books: readonly JsonObject[]) => void, seed: number, nameEnd: string,
): void {
  test('the sample catalog comes back as it was, and its file too', () => {
    assertRoundTrip(samples);
  });

  test('books with hostile text come back as they were, and their file too', () => {
    const random = createRandom(seed);
    assertRoundTrip(
      Array.from({ length: BOOK_COUNT }, (_, number) => hostileBook(random, number)));
  });

  test('a hundred authors come back as they were', () => {
    const authors = Array.from({ length: 100 }, (_, number) =>
      ({ name: `Ana ${'x'.repeat(250)} ${number} ${nameEnd}` }));
    assertRoundTrip([{ ...samples[0], authors }]);
  });
}
