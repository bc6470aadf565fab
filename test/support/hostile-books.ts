/** Books that are valid and as awkward as a seed can make them. */
import type { JsonObject, JsonValue } from '../../src/base/schema.ts';
import { below } from './random.ts';
import type { Random } from './random.ts';

const PIECES = [
  '', ' ', ',', ';', '; ', '"', '""', '\n', '\r\n', '\r', '\t', '[', ']', '{', '}', '[]', '{}',
  '\\', '=1+1', '+1', '-1', '@SUM(A1)', "'", 'null', 'true', '0', '007', '1e5', 'a', 'word',
  'Łódź', '本',
  '\nER  - \r\n', 'ER  - ', '\rTY  - BOOK', '@book{a,', '}}', '\\\\', '<b>', '&amp;', ': ', ' and ',
  '\u202e\u05d0\u05d1', 'de la ', 'hookshelf:', '$x^2$', '%', '#',
  '😀', '\u0000', '\ufeff', '\u2028', '\u00a0', 'e\u0301', '["a"]', '{"a":1}', '__proto__', 'x,y',
];

export function hostileText(random: Random): string {
  return Array.from({ length: below(random, 5) }, () => pick(random, PIECES)).join('');
}

/** Not blank, so that it may be a title or a name. */
function hostileName(random: Random): string {
  const text = hostileText(random);
  return text.trim() === '' ? `${text}n${text}` : text;
}

/** A book as it is stored, whole with id and dates. */
export function hostileBook(random: Random, number: number): JsonObject {
  const id = `018f2b7c-0000-7000-8000-${number.toString(16).padStart(12, '0')}`;
  const createdMs = below(random, 2 ** 40);
  const members: [string, JsonValue | undefined][] = [
    ['id', id],
    ['createdAt', new Date(createdMs).toISOString()],
    ['updatedAt', new Date(createdMs + below(random, 2 ** 30)).toISOString()],
    ['title', hostileName(random)],
    ['subtitle', maybe(random, () => hostileText(random))],
    ['authors', Array.from({ length: below(random, 4) }, () => hostileAuthor(random))],
    ['isbn', maybe(random, () => '9780306406157')],
    ['publisher', maybe(random, () => hostileText(random))],
    ['datePublished', maybe(random, () => pick(random, ['0001', '1960-05', '2000-02-29']))],
    ['inLanguage', maybe(random, () => pick(random, ['en', 'pt-BR']))],
    ['numberOfPages', maybe(random, () => 1 + below(random, 100_000))],
    ['bookEdition', maybe(random, () => hostileText(random))],
    ['bookFormat', maybe(random, () => 'Paperback')],
    ['keywords', maybe(random, () => hostileKeywords(random))],
    ['series', maybe(random, () => hostileSeries(random))],
    ['reading', hostileReading(random)],
    ['description', maybe(random, () => hostileText(random))],
    ['url', maybe(random, () => 'https://example.org/a?b=1,2;3"4')],
    ['metadata', maybe(random, () => hostileJson(random, 3))],
  ];
  return Object.fromEntries(members.flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value]]));
}

function hostileAuthor(random: Random): JsonObject {
  const name = hostileName(random);
  if (below(random, 3) > 0) return { name };
  return { name, familyName: hostileText(random), birthDate: '1960' };
}

/** Each name once, whatever its case. */
function hostileSeries(random: Random): JsonObject[] {
  const names = new Map(Array.from({ length: 1 + below(random, 3) }, () => hostileName(random))
    .map((name) => [name.toLowerCase(), name] as const));
  return [...names.values()].map((name) => {
    const position = maybe(random, () => pick(random, [0, 0.5, 1, 1.25, 2.125, 42, 100_000]));
    return position === undefined ? { name } : { name, position };
  });
}

/** Without members it is absent. */
function hostileReading(random: Random): JsonObject | undefined {
  const members: [string, JsonValue | undefined][] = [
    ['status', maybe(random, () => pick(random, ['read', 'to-read', 'abandoned']))],
    ['rating', maybe(random, () => (1 + below(random, 20)) / 4)],
    ['startedOn', maybe(random, () => pick(random, ['2024', '2024-01', '2023-12-31']))],
    ['finishedOn', maybe(random, () => '2024-02')],
    ['readCount', maybe(random, () => below(random, 100))],
    ['shelves', maybe(random, () => [hostileName(random)])],
    ['review', maybe(random, () => hostileText(random))],
    ['owned', maybe(random, () => below(random, 2) === 0)],
  ];
  const present = members.flatMap(([name, value]) => value === undefined ? [] : [[name, value]]);
  return present.length === 0 || below(random, 3) === 0 ? undefined : Object.fromEntries(present);
}

function hostileKeywords(random: Random): string[] {
  const keywords = Array.from({ length: below(random, 4) }, () => hostileText(random));
  return [...new Set(keywords)].filter((keyword) => keyword !== '');
}

function hostileJson(random: Random, depth: number): JsonObject {
  const entries = Array.from({ length: below(random, 4) }, (): [string, JsonValue] => {
    const value = below(random, 5);
    const name = hostileText(random);
    if (value === 0 && depth > 1) return [name, hostileJson(random, depth - 1)];
    if (value === 1) return [name, [null, true, -0.5, 1e21, hostileText(random)]];
    return [name, value === 2 ? below(random, 1000) : hostileText(random)];
  });
  return Object.fromEntries(entries);
}

function maybe<T>(random: Random, make: () => T): T | undefined {
  return below(random, 2) === 0 ? undefined : make();
}

function pick<T>(random: Random, list: readonly [T, ...T[]] | readonly T[]): T {
  const item = list[below(random, list.length)];
  if (item === undefined) throw new Error('nothing to pick from');
  return item;
}
