/**
 * Deterministic books that differ as those of a shelf do: few words, names, publishers and keywords
 * stand in most of them and many in a few. Queries need that: `makeBook` has one language, and all
 * of its titles begin alike.
 */
import { checkDigit13 } from '../support/check-digits.ts';
import { below, createRandom } from '../support/random.ts';
import type { Random } from '../support/random.ts';

const MS_PER_MINUTE = 60_000;
const FIRST_CREATED_MS = Date.UTC(2020, 0, 1);
const CREATED_MINUTES = 5 * 365 * 24 * 60;
const YEAR_MAX = 2025;

const NOUNS = [
  'River', 'House', 'Winter', 'Garden', 'Night', 'Sea', 'Library', 'Stone', 'Shadow', 'Harbour',
  'Memory', 'Island', 'Letter', 'Machine', 'Atlas', 'Signal', 'Mirror', 'Orchard', 'Bridge',
  'Station', 'Kingdom', 'Forest', 'Silence', 'Children', 'Empire', 'Lantern', 'Clock', 'Desert',
];
const ADJECTIVES = [
  'Silent', 'Last', 'Invisible', 'Broken', 'Distant', 'Hollow', 'Burning', 'Golden', 'Secret',
  'Forgotten', 'Blue', 'Wild', 'Quiet', 'Ancient', 'Crooked', 'Pale', 'Restless', 'Gentle',
];
const FIRST_NAMES = [
  'Ursula', 'Jorge', 'Chinua', 'Toni', 'Italo', 'Clarice', 'Haruki', 'Stanisław', 'Agatha', 'José',
  'Margaret', 'Émile', 'Doris', 'Karel', 'Selma', 'Naguib', 'Zadie', 'Günter', 'Iris', 'Wole',
];
const FAMILY_NAMES = [
  'Marsh', 'Borges', 'Okafor', 'Keller', 'Calder', 'Lopes', 'Nowak', 'Haddad', 'Harper', 'Söder',
  'Lindqvist', 'Moreau', 'Ferrante', 'Ibsen', 'Tanaka', 'Walsh', 'O’Brien', 'Čapek', 'Grünwald',
];
const KEYWORDS = [
  'fiction', 'history', 'crime', 'biography', 'fantasy', 'science', 'poetry', 'travel', 'essay',
  'art', 'philosophy', 'children', 'nature', 'music', 'cooking', 'war', 'love', 'religion',
];
const ONSETS = [
  'b', 'br', 'c', 'd', 'f', 'g', 'gr', 'h', 'k', 'l', 'm', 'n', 'p', 'r', 's', 't', 'v',
];
const RHYMES = ['a', 'an', 'ar', 'e', 'el', 'en', 'i', 'in', 'o', 'on', 'or', 'u', 'ul', 'us'];

/** Values, each with the share of the books that have it or one that stands before it. */
type Shares = readonly (readonly [value: string, share: number])[];

const LANGUAGES: Shares = [
  ['en', 0.55], ['en-GB', 0.65], ['de', 0.75], ['fr', 0.8], ['fr-CA', 0.81], ['es', 0.87],
  ['pt-BR', 0.9], ['it', 0.93], ['pl', 0.95], ['sv', 0.965], ['ja', 0.975], ['nl', 1],
];
const FORMATS: Shares = [
  ['Paperback', 0.5], ['Hardcover', 0.8], ['EBook', 0.95], ['AudiobookFormat', 1],
];
const STATUSES: Shares = [
  ['read', 0.6], ['to-read', 0.85], ['reading', 0.9], ['abandoned', 0.97], ['paused', 1],
];
const READ_YEARS = 15;
const TITLE_WORDS = [...NOUNS, ...makeWords(4000, 3)];
const TITLE_ADJECTIVES = [...ADJECTIVES, ...makeWords(1000, 2)];
const ALL_FIRST_NAMES = [...FIRST_NAMES, ...makeWords(300, 2)];
const ALL_FAMILY_NAMES = [...FAMILY_NAMES, ...makeWords(3000, 3)];
const PUBLISHERS = makeWords(400, 2).map((name) => `${name} Press`);
const SHELVES = makeWords(80, 2).map((word) => word.toLowerCase());
const SERIES = makeWords(5000, 3).map((word) => `${word} Cycle`);
const ALL_KEYWORDS = [...KEYWORDS, ...makeWords(600, 3).map((word) => word.toLowerCase())];

export const COMMON_SHELF = SHELVES[1] ?? '';
/** Words of titles, those of most books first. */
export const WORDS_BY_FREQUENCY: readonly string[] = TITLE_WORDS;

/** A record for an import: book number `n`, with times but without an id. */
export function makeVariedBook(n: number): object {
  const random = createRandom(Math.imul(n + 1, 2_654_435_761));
  const created = FIRST_CREATED_MS + below(random, CREATED_MINUTES) * MS_PER_MINUTE;
  const updated = created + Math.floor(random() ** 3 * CREATED_MINUTES) * MS_PER_MINUTE;
  const datePublished = random() < 0.04 ? undefined : makeDate(random);
  return {
    createdAt: new Date(created).toISOString(),
    updatedAt: new Date(updated).toISOString(),
    title: makeTitle(random),
    authors: Array.from({ length: countAuthors(random) }, () => makeAuthor(random)),
    isbn: random() < 0.2 ? undefined : makeIsbn(random),
    publisher: random() < 0.1 ? undefined : pickSkewed(random, PUBLISHERS),
    datePublished,
    inLanguage: random() < 0.05 ? undefined : pickByShare(random, LANGUAGES),
    numberOfPages: 60 + below(random, 800),
    bookFormat: random() < 0.05 ? undefined : pickByShare(random, FORMATS),
    keywords: makeKeywords(random),
    description: makeDescription(random),
    series: random() < 0.25 ? makeSeries(random) : undefined,
    reading: random() < 0.7 ? makeReading(random) : undefined,
  };
}

function makeTitle(random: Random): string {
  const noun = (): string => pickSkewed(random, TITLE_WORDS);
  const adjective = (): string => pickSkewed(random, TITLE_ADJECTIVES);
  switch (below(random, 6)) {
    case 0: return `The ${adjective()} ${noun()}`;
    case 1: return `${noun()} of ${noun()}`;
    case 2: return `${adjective()} ${noun()}`;
    case 3: return `${noun()} and the ${adjective()} ${noun()}`;
    case 4: return `A ${noun()} in ${noun()}`;
    default: return `${adjective()} ${noun()}: ${adjective()} ${noun()}`;
  }
}

/** 1.3 on average; 2 % of the books have none. */
function countAuthors(random: Random): number {
  const share = random();
  if (share < 0.02) return 0;
  if (share < 0.76) return 1;
  return share < 0.94 ? 2 : 3;
}

function makeAuthor(random: Random): object {
  const givenName = pickSkewed(random, ALL_FIRST_NAMES);
  const familyName = pickSkewed(random, ALL_FAMILY_NAMES);
  const name = `${givenName} ${familyName}`;
  return random() < 0.15 ? { name, givenName, familyName } : { name };
}

/** Half of the books are of the last 20 years, few of before 1900. */
function makeDate(random: Random): string {
  const year = YEAR_MAX - Math.floor(-Math.log(1 - random()) * 29);
  const precision = random();
  const month = String(1 + below(random, 12)).padStart(2, '0');
  const day = String(1 + below(random, 28)).padStart(2, '0');
  if (precision < 0.6) return String(year);
  return precision < 0.8 ? `${year}-${month}` : `${year}-${month}-${day}`;
}

function makeIsbn(random: Random): string {
  const digits = `978${String(below(random, 1e9)).padStart(9, '0')}`;
  return digits + checkDigit13(digits);
}

function makeKeywords(random: Random): readonly string[] {
  const count = 2 + below(random, 3);
  return [...new Set(Array.from({ length: count }, () => pickSkewed(random, ALL_KEYWORDS)))];
}

function makeDescription(random: Random): string {
  const words = Array.from({ length: 8 + below(random, 16) }, () =>
    pickSkewed(random, TITLE_WORDS).toLowerCase());
  return `A story of ${words.join(' ')}.`;
}

function makeSeries(random: Random): readonly object[] {
  const position = random() < 0.9 ? 1 + below(random, 12) : undefined;
  return [{ name: pickSkewed(random, SERIES), position }];
}

function makeReading(random: Random): object {
  const status = pickByShare(random, STATUSES);
  const isRead = status === 'read';
  const year = YEAR_MAX - below(random, READ_YEARS);
  const month = String(1 + below(random, 12)).padStart(2, '0');
  const day = String(1 + below(random, 28)).padStart(2, '0');
  return {
    status,
    rating: isRead && random() < 0.8 ? (1 + below(random, 10)) / 2 : undefined,
    finishedOn: isRead && random() < 0.9 ? `${year}-${month}-${day}` : undefined,
    shelves: random() < 0.5 ? [pickSkewed(random, SHELVES)] : undefined,
    owned: random() < 0.4 ? random() < 0.7 : undefined,
  };
}

/** The item at index `i` comes about as often as 1 / (i + 3): so do words in a language. */
function pickSkewed(random: Random, items: readonly string[]): string {
  const index = Math.floor(3 * ((items.length + 3) / 3) ** random()) - 3;
  return items[index] ?? '';
}

function pickByShare(random: Random, shares: Shares): string {
  const place = random();
  return shares.find(([, share]) => place < share)?.[0] ?? '';
}

/** Distinct words that can be spoken. */
function makeWords(count: number, syllables: number): readonly string[] {
  const random = createRandom(count);
  const words = new Set<string>();
  while (words.size < count) {
    const parts = Array.from({ length: 1 + below(random, syllables) }, () =>
      `${ONSETS[below(random, ONSETS.length)]}${RHYMES[below(random, RHYMES.length)]}`);
    const word = parts.join('');
    if (word.length > 3) words.add(`${word.charAt(0).toUpperCase()}${word.slice(1)}`);
  }
  return [...words];
}
