import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTextFilter } from '../../../src/books/list/text-filter.ts';
import { parseBookQuery } from '../../../src/books/query/parse-query.ts';
import { below, createRandom } from '../../support/random.ts';
import type { Random } from '../../support/random.ts';
import { matchesParsedText } from '../../support/parsed-text-match.ts';
import { pick } from '../../support/random-books.ts';

const ROUNDS = 100_000;
// Names of members, words within words, numbers and ISBNs in pieces, signs beside words.
const WORDS = [
  'war', 'War', 'warwick', 'postwar', 'post-war', '(war)', 'WAR\u007f', 'title', 'name', 'authors',
  '19', '1914', '1914-1918', '19141918', '0-441-17271', '978', 'isbn', 'keywords', 'x', '', ' ',
  "o'war", 'river war', 'id', 'a,b', '{', ']', 'ss', 'k', '080442957X',
  'C++', 'c#', 'c', 'post.war', '.net', 'J.R.R.', 'J. R.', 'jrr', '!!', 'war!', 'w.a.r',
];
// The Kelvin sign is a k, and ß is ss.
const OTHER_WORDS = [
  'Łódź', 'wär', 'a\\b', '"war"', 'tab\twar', '東京物語', '\u212aing', 'Straße', 'İ', '한국어',
  'École', 'warﬁ', 'post\u00adwar', '😀',
];
const QUERY_WORDS = [
  ...WORDS, ...OTHER_WORDS, 'lodz', 'king', '\u212a', 'ß', 'wär', '東京', '東', '0-8044-2957-X',
  '9780441172719', '978-0441172719', '"', '\\', '1914\u20131918', 'ﬁ',
  '!', '.', '#', '😀 !', 'jr', 'net', 'c+', 'war++',
];

test('a book matches in its bytes where it matches when it is parsed', () => {
  const random = createRandom(7);
  let matchCount = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    const search = randomSearch(random);
    const { filter } = parseBookQuery(search);
    const matches = createTextFilter(filter);
    for (let count = 0; count < 3; count += 1) {
      const words = count === 0 ? [...WORDS, ...OTHER_WORDS] : WORDS;
      const bytes = Buffer.from(JSON.stringify(createRandomBook(random, words)));
      const expected = matchesParsedText(filter, bytes);
      assert.equal(matches(bytes), expected, `${search} in ${bytes}`);
      if (expected) matchCount += 1;
    }
  }
  assert.ok(matchCount > ROUNDS / 10, `${matchCount} matches`);
});

function createRandomBook(random: Random, words: readonly string[]): object {
  const maybe = (name: string, make: () => unknown): object =>
    random() < 0.5 ? { [name]: make() } : {};
  const stamp = '2026-01-01T00:00:00.000Z';
  return {
    id: 'war', createdAt: stamp, updatedAt: stamp, title: phrase(random, words),
    ...maybe('subtitle', () => phrase(random, words)),
    authors: Array.from({ length: below(random, 3) }, () =>
      ({ name: phrase(random, words), ...maybe('familyName', () => 'war') })),
    ...maybe('isbn', () => pick(random, ['9780441172719', '9780804429573'])),
    ...maybe('publisher', () => phrase(random, words)),
    ...maybe('keywords', () => [phrase(random, words), pick(random, words)]),
    ...maybe('description', () => phrase(random, words)),
    ...maybe('metadata', () => ({ title: 'war', keywords: ['war'], authors: [{ name: 'war' }] })),
  };
}

function randomSearch(random: Random): string {
  const parts: string[] = [];
  const add = (name: string, text: string): void => {
    if (text.trim() !== '') parts.push(`${name}=${encodeURIComponent(text)}`);
  };
  if (random() < 0.6) add('q', phrase(random, QUERY_WORDS));
  for (let count = below(random, 3); count > 0; count -= 1) {
    add('author', phrase(random, QUERY_WORDS));
  }
  for (let count = below(random, 3) - 1; count > 0; count -= 1) {
    add('publisher', pick(random, QUERY_WORDS));
  }
  return parts.join('&');
}

function phrase(random: Random, words: readonly string[]): string {
  return Array.from({ length: 1 + below(random, 2) }, () => pick(random, words)).join(' ');
}
