/** Random catalogs from few words, so that queries match, tie and miss often. */
import type { NaiveBook, NaiveQuery } from './naive-list.ts';
import { below } from './random.ts';
import type { Random } from './random.ts';

const WORDS = [
  'the', 'The', 'river', 'River', 'rivers', 'Łódź', 'lodge', 'Straße', 'strassen', 'Éclair',
  'eclair', 'e\u0301clat', '1984', '19', '東京物語', '京都', '物', 'Åse', 'søster', 'so',
  'naïve', 'ÑANDÚ', 'Πόλις', 'Война', 'war', '"quoted"', 'back\\slash', '(war)', 'a/b', '😀',
];
const NAMES = [
  'Ursula K. Le Guin', 'Stanisław Lem', 'Karen Blixen', 'Jorge Luis Borges', 'José', '村上 春樹',
  'War Correspondent', 'The River',
];
const KEYWORDS = ['Fiction', 'fiction', 'science fiction', 'Poésie', 'war', '1984', 'ÉTÉ'];
const LANGUAGES = ['en', 'en-GB', 'en-US', 'enm', 'pt-BR', 'pl', 'zh-Hant-TW'];
const DATES = ['1960', '1960-05', '1960-05-17', '1960-06', '1961', '0999-12-31', '2001-02'];
const ISBNS = ['9780441172719', '9780306406157', '9791090636071'];

export function randomBook(random: Random, id: string): NaiveBook {
  const maybe = <T>(name: string, make: () => T): Record<string, T> =>
    random() < 0.6 ? { [name]: make() } : {};
  const updated = new Date(Date.UTC(2026, 0, 1) + below(random, 50) * 86_399_987);
  const book = {
    id,
    createdAt: '2026-01-01T00:00:00.000Z',
    updatedAt: updated.toISOString(),
    title: phrase(random, 4),
    ...maybe('subtitle', () => phrase(random, 2)),
    authors: Array.from({ length: below(random, 3) }, () => ({ name: pick(random, NAMES) })),
    ...maybe('isbn', () => pick(random, ISBNS)),
    ...maybe('datePublished', () => pick(random, DATES)),
    ...maybe('inLanguage', () => pick(random, LANGUAGES)),
    ...maybe('keywords', () => [...new Set([pick(random, KEYWORDS), pick(random, KEYWORDS)])]),
  };
  if (random() > 0.2) return book;
  // What stands in the metadata is not the book's own.
  return {
    ...book, metadata: { datePublished: '1960-05', inLanguage: 'en', isbn: ISBNS[0], title: 'war' },
  };
}

export function randomQuery(random: Random): NaiveQuery {
  const maybe = <T>(name: string, chance: number, make: () => T): Record<string, T> =>
    random() < chance ? { [name]: make() } : {};
  const sort = pick(random, ['id', 'title', 'datePublished', 'updatedAt']);
  return {
    ...maybe('q', 0.4, () => Array.from({ length: 1 + below(random, 2) }, () =>
      start(random, pick(random, random() < 0.7 ? WORDS : NAMES))).join(' ')),
    ...maybe('author', 0.15, () => start(random, pick(random, NAMES))),
    ...maybe('isbn', 0.1, () => pick(random, ISBNS)),
    ...maybe('inLanguage', 0.2, () => pick(random, ['en', 'EN-gb', 'zh', 'pt-BR', 'fr'])),
    ...maybe('keyword', 0.15, () => pick(random, KEYWORDS).toUpperCase()),
    ...maybe('publishedFrom', 0.2, () => pick(random, DATES)),
    ...maybe('publishedTo', 0.2, () => pick(random, DATES)),
    ...maybe('sort', 0.7, () => random() < 0.5 ? sort : `-${sort}`),
  };
}

export function searchOf(query: NaiveQuery): string {
  return Object.entries(query)
    .map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`).join('&');
}

export function pick<T>(random: Random, list: readonly T[]): T {
  const item = list[below(random, list.length)];
  if (item === undefined) throw new Error('nothing to pick from');
  return item;
}

function phrase(random: Random, wordsMax: number): string {
  const count = 1 + below(random, wordsMax);
  return Array.from({ length: count }, () => pick(random, WORDS)).join(' ');
}

function start(random: Random, text: string): string {
  const characters = [...text];
  return characters.slice(0, 1 + below(random, characters.length)).join('');
}
