/** Random catalogs from few words, so that queries match, tie and miss often. */
import type { NaiveAuthor, NaiveBook, NaiveQuery } from './naive-list.ts';
import { below } from './random.ts';
import type { Random } from './random.ts';

const WORDS = [
  'the', 'The', 'river', 'River', 'rivers', 'Łódź', 'lodge', 'Straße', 'strassen', 'Éclair',
  'eclair', 'e\u0301clat', '1984', '19', '東京物語', '京都', 'C++', 'Åse', 'søster', 'so',
  'C#', '.NET', '한국의', 'Πόλις', 'Война', 'war', '"quoted"', 'back\\slash', '(war)', 'a/b', '😀',
  '2', '10', '007', '100b', '“The', '«River»',
];
const NAMES = [
  'Ursula K. Le Guin', 'Stanisław Lem', 'J. R. R. Tolkien', 'JRR Tolkien', 'José', '村上 春樹',
  'War Correspondent', 'The River', 'Martin Luther King Jr.', 'Le Guin, Ursula', '한강',
];
const PUBLISHERS = ['Penguin', 'penguin books', 'River & Sons', '🦊 Éditions!', '文藝春秋'];
const FORMATS = ['Hardcover', 'Paperback', 'EBook'];
const KEYWORDS = ['Fiction', 'fiction', 'science fiction', 'Poésie', 'war', '1984', 'ÉTÉ'];
const LANGUAGES = ['en', 'en-GB', 'en-US', 'enm', 'pt-BR', 'pl', 'zh-Hant-TW'];
const DATES = ['1960', '1960-05', '1960-05-17', '1960-06', '1961', '0999-12-31', '2001-02'];
const ISBNS = ['9780441172719', '9780306406157', '9791090636071'];
const STATUSES = ['to-read', 'reading', 'paused', 'read', 'abandoned'];
const SERIES = ['The River', 'the river', 'War 2', 'War 10', 'Éclair', '京都', 'war b'];
const SHELVES = ['Own', 'OWN', 'war room', 'war', 'room', 'été'];
const SORT_KEYS = ['id', 'title', 'author', 'datePublished', 'updatedAt', 'createdAt', 'rating',
  'finishedOn', 'series'];
const FIELDS = ['id', 'title', 'authors', 'isbn', 'keywords', 'metadata', 'updatedAt', 'subtitle',
  'series', 'reading'];

export function randomBook(random: Random, id: string): NaiveBook {
  const maybe = <T>(name: string, make: () => T): Record<string, T> =>
    random() < 0.6 ? { [name]: make() } : {};
  const updated = new Date(Date.UTC(2026, 0, 1) + below(random, 50) * 86_399_987);
  const book = {
    id,
    createdAt: new Date(Date.UTC(2025, below(random, 6))).toISOString(),
    updatedAt: updated.toISOString(),
    title: phrase(random, 4),
    ...maybe('subtitle', () => phrase(random, 2)),
    authors: Array.from({ length: below(random, 3) }, () => randomAuthor(random)),
    ...maybe('isbn', () => pick(random, ISBNS)),
    ...maybe('publisher', () => pick(random, PUBLISHERS)),
    ...maybe('datePublished', () => pick(random, DATES)),
    ...maybe('inLanguage', () => pick(random, LANGUAGES)),
    ...maybe('numberOfPages', () => 1 + below(random, 900)),
    ...maybe('bookFormat', () => pick(random, FORMATS)),
    ...maybe('keywords', () => [...new Set([pick(random, KEYWORDS), pick(random, KEYWORDS)])]),
    ...maybe('series', () => distinct([randomSeries(random), randomSeries(random)])),
    ...maybe('reading', () => randomReading(random)),
  };
  if (random() > 0.2) return book;
  // What stands in the metadata is not the book's own.
  return {
    ...book, metadata: {
      datePublished: '1960-05', inLanguage: 'en', isbn: ISBNS[0], title: 'war', bookFormat: 'EBook',
      publisher: 'Penguin', keywords: ['war'], authors: [{ name: 'War' }],
      series: [{ name: 'War 2', position: 1 }], reading: { status: 'read', rating: 4 },
      finishedOn: '1960', shelves: ['war'], review: 'war', owned: true, numberOfPages: 7,
    },
  };
}

export function randomQuery(random: Random): NaiveQuery {
  const maybe = <T>(name: string, chance: number, make: () => T): Record<string, T> =>
    random() < chance ? { [name]: make() } : {};
  const several = (make: () => string): readonly string[] =>
    Array.from({ length: 1 + below(random, 3) }, make);
  const search = maybe('q', 0.4, () => Array.from({ length: 1 + below(random, 2) }, () =>
    start(random, pick(random, random() < 0.7 ? WORDS : NAMES))).join(' '));
  return {
    ...search,
    ...maybe('author', 0.15, () => several(() => start(random, pick(random, NAMES)))),
    ...maybe('publisher', 0.1, () => several(() => start(random, pick(random, PUBLISHERS)))),
    ...maybe('isbn', 0.1, () => several(() => pick(random, ISBNS))),
    ...maybe('hasIsbn', 0.1, () => pick(random, ['true', 'false'])),
    ...maybe('inLanguage', 0.2, () =>
      several(() => pick(random, ['en', 'EN-gb', 'zh', 'pt-BR', 'fr']))),
    ...maybe('bookFormat', 0.1, () => several(() => pick(random, FORMATS))),
    ...maybe('keyword', 0.15, () => several(() => pick(random, KEYWORDS).toUpperCase())),
    ...maybe('keyword.not', 0.1, () => several(() => pick(random, KEYWORDS).toUpperCase())),
    ...maybe('publishedFrom', 0.2, () => pick(random, DATES)),
    ...maybe('publishedTo', 0.2, () => pick(random, DATES)),
    ...maybe('in', hasWords(search['q']) ? 0.1 : 0, () => pick(random, ['review', 'metadata'])),
    ...maybe('status', 0.05, () => several(() => pick(random, STATUSES))),
    ...maybe('shelf', 0.05, () => several(() => pick(random, SHELVES).toUpperCase())),
    ...maybe('series', 0.05, () => several(() => pick(random, SERIES).toLowerCase())),
    ...maybe('ratingFrom', 0.05, () => below(random, 5)),
    ...maybe('ratingTo', 0.05, () => below(random, 20) / 4),
    ...maybe('finishedFrom', 0.05, () => pick(random, DATES)),
    ...maybe('finishedTo', 0.05, () => pick(random, DATES)),
    ...maybe('owned', 0.05, () => pick(random, ['true', 'false'])),
    ...maybe('sort', 0.7, () => randomSort(random)),
  };
}

/** Blanks alone are no condition. */
function hasWords(text = ''): boolean {
  return text.trim() !== '';
}

/** The beginning of a title, a name or a keyword, as somebody may type it. */
export function randomBeginning(random: Random): string {
  const texts = [phrase(random, 3), pick(random, NAMES), pick(random, KEYWORDS)];
  return start(random, pick(random, texts));
}

/** One to four keys, each at most once and perhaps reversed. */
function randomSort(random: Random): string {
  const keys = new Set<string>();
  const count = 1 + below(random, 4);
  while (keys.size < count) keys.add(pick(random, SORT_KEYS));
  return [...keys].map((key) => random() < 0.5 ? key : `-${key}`).join(',');
}

/** Some members of a book, by name, as `fields` takes them. */
export function randomFields(random: Random): string {
  return Array.from({ length: 1 + below(random, 3) }, () => pick(random, FIELDS)).join(',');
}

export function searchOf(query: NaiveQuery): string {
  return Object.entries(query).flatMap(([name, value]) =>
    (typeof value === 'object' ? value : [value]).map((one) =>
      `${name}=${encodeURIComponent(String(one))}`)).join('&');
}

export function pick<T>(random: Random, list: readonly T[]): T {
  const item = list[below(random, list.length)];
  if (item === undefined) throw new Error('nothing to pick from');
  return item;
}

function randomSeries(random: Random): { readonly name: string; readonly position?: number } {
  const name = pick(random, SERIES);
  return random() < 0.4 ? { name } : { name, position: below(random, 24) / 2 };
}

/** No two of one name. */
function distinct<T extends { readonly name: string }>([first, second]: readonly [T, T]): T[] {
  return first.name.toLowerCase() === second.name.toLowerCase() ? [first] : [first, second];
}

function randomReading(random: Random): NonNullable<NaiveBook['reading']> {
  const maybe = <T>(name: string, make: () => T): Record<string, T> =>
    random() < 0.6 ? { [name]: make() } : {};
  return {
    ...maybe('status', () => pick(random, STATUSES)),
    ...maybe('rating', () => (1 + below(random, 20)) / 4),
    ...maybe('finishedOn', () => pick(random, DATES)),
    ...maybe('shelves', () => [pick(random, SHELVES), ...random() < 0.3 ? ['zoo'] : []]),
    ...maybe('review', () => `${phrase(random, 3)}\nriver "bank"`),
    owned: random() < 0.5,
  };
}

function randomAuthor(random: Random): NaiveAuthor {
  const name = pick(random, NAMES);
  if (name !== 'Ursula K. Le Guin' || random() < 0.3) return { name };
  return { name, ...random() < 0.5 ? { givenName: 'Ursula' } : {}, familyName: 'Le Guin' };
}

function phrase(random: Random, wordsMax: number): string {
  const count = 1 + below(random, wordsMax);
  return Array.from({ length: count }, () => pick(random, WORDS)).join(' ');
}

function start(random: Random, text: string): string {
  const characters = [...text];
  return characters.slice(0, 1 + below(random, characters.length)).join('');
}
