/**
 * The model of the catalog: Book, Author and Address as tables, in the order in which members are
 * stored. Names are schema.org's (Book, Person, PostalAddress), with `title` for its `name`.
 */
import { parseJsonText } from '../base/json/exact-parser.ts';
import type { JsonObject, JsonValue, StringSchema } from '../base/schema.ts';
import { isJsonObject } from '../base/fields.ts';
import { foldCase } from '../base/text/fold.ts';
import { describeObject, type InputOf, type RecordOf } from '../base/schema-types.ts';
import { explainCountry, parseCountry } from './country.ts';
import { isBefore } from './date-order.ts';
import { explainIsbn, parseIsbn } from './isbn.ts';
import { mergedIdsMember } from './merged-ids.ts';
import { explainPartialDate, parsePartialDate } from './partial-date.ts';
import { READING_STATUSES, findReadingStatus } from './reading-status.ts';

export const RATING_MAX = 5;

export const BOOK_FORMATS =
  ['Hardcover', 'Paperback', 'EBook', 'AudiobookFormat', 'GraphicNovel'] as const;

// How forms name them.
const STATUS_CHOICES = [
  ['', '–'], ['to-read', 'To read'], ['reading', 'Reading'], ['paused', 'Paused'],
  ['read', 'Read'], ['abandoned', 'Abandoned'],
] as const;
const FORMAT_CHOICES = [
  ['', '–'], ['Hardcover', 'Hardcover'], ['Paperback', 'Paperback'], ['EBook', 'E-book'],
  ['AudiobookFormat', 'Audiobook'], ['GraphicNovel', 'Graphic novel'],
] as const;

/** How long the metadata of a book may be as JSON. */
export const METADATA_BYTES_MAX = 16_384;
/** How many objects and lists of the metadata may stand in each other. */
export const METADATA_DEPTH_MAX = 8;
/** How many authors or keywords a book may have. */
export const LIST_ITEMS_MAX = 100;

const SERIES_MAX = 10;

const isbnSchema: StringSchema = {
  kind: 'string',
  mustBe: 'an ISBN-10 or ISBN-13; hyphens and spaces are allowed',
  canonical: parseIsbn,
  explain: explainIsbn,
  numberHint: 'leading zeros would be lost',
};

const partialDateSchema: StringSchema = {
  kind: 'string',
  mustBe: 'a date as YYYY, YYYY-MM or YYYY-MM-DD',
  pattern: /^[0-9]{4}(-[0-9]{2}(-[0-9]{2})?)?$/,
  canonical: parsePartialDate,
  explain: explainPartialDate,
  numberHint: 'write the year in quotes',
};

const languageSchema: StringSchema = {
  kind: 'string',
  mustBe: 'a BCP 47 language tag, such as en or pt-BR',
  canonical: parseLanguage,
};

const urlSchema: StringSchema = {
  kind: 'string', maxLength: 2048, format: 'uri',
  mustBe: 'an absolute http or https URL',
  canonical: parseHttpUrl,
};

const timestampSchema: StringSchema = {
  kind: 'string', format: 'date-time', mustBe: 'an RFC 3339 time in UTC, with milliseconds',
};

const addressSchema = describeObject({
  kind: 'object', name: 'Address', isNotEmpty: true,
  members: {
    streetAddress: { label: 'Street', schema: { kind: 'string', maxLength: 300 } },
    addressLocality: { label: 'City', schema: { kind: 'string', maxLength: 150 } },
    addressRegion: { label: 'Region', schema: { kind: 'string', maxLength: 150 } },
    postalCode: {
      schema: { kind: 'string', maxLength: 20, numberHint: 'leading zeros would be lost' },
    },
    addressCountry: {
      label: 'Country', description: 'Its two letters (ISO 3166-1), such as `GB`.',
      schema: {
        kind: 'string', mustBe: 'an ISO 3166-1 alpha-2 country code, in upper case',
        pattern: /^[A-Z]{2}$/, canonical: parseCountry, explain: explainCountry,
      },
    },
  },
});

const authorSchema = describeObject({
  kind: 'object', name: 'Author',
  members: {
    name: {
      isRequired: true,
      schema: { kind: 'string', minLength: 1, maxLength: 300, isNotBlank: true },
    },
    givenName: { schema: { kind: 'string', maxLength: 150 } },
    familyName: { schema: { kind: 'string', maxLength: 150 } },
    birthDate: {
      label: 'Born', schema: partialDateSchema,
      description: '`YYYY`, `YYYY-MM` or `YYYY-MM-DD`.',
    },
    deathDate: {
      label: 'Died', schema: partialDateSchema,
      description: '`YYYY`, `YYYY-MM` or `YYYY-MM-DD`, not before the birth.',
    },
    url: { label: 'Link', schema: urlSchema },
    address: { schema: addressSchema },
  },
  check: ({ birthDate, deathDate }) =>
    typeof birthDate === 'string' && typeof deathDate === 'string' && isBefore(deathDate, birthDate)
      ? [{ pointer: '/deathDate', detail: `must not be before the birth (${birthDate})` }] : [],
});

const seriesSchema = describeObject({
  kind: 'object', name: 'Series',
  members: {
    name: {
      isRequired: true,
      schema: { kind: 'string', minLength: 1, maxLength: 500, isNotBlank: true },
    },
    position: {
      schema: { kind: 'number', minimum: 0, maximum: 100_000, partsOfOne: 1000 },
      description: 'Which of the series it is, with up to three decimals: `1.5` exists.',
    },
  },
});

export const readingSchema = describeObject({
  kind: 'object', name: 'Reading', isDroppedEmpty: true,
  members: {
    status: {
      schema: { kind: 'string', values: READING_STATUSES, findMeant: findReadingStatus },
      form: { choices: STATUS_CHOICES },
    },
    rating: {
      schema: { kind: 'number', minimum: 0.25, maximum: RATING_MAX, partsOfOne: 4 },
      form: { field: 'stars' }, description: 'Stars, also halves and quarters of one.',
    },
    startedOn: {
      label: 'Started', schema: partialDateSchema, description: 'When the last reading began.',
    },
    finishedOn: {
      label: 'Finished', schema: partialDateSchema,
      description: 'When the last reading ended: `YYYY`, `YYYY-MM` or `YYYY-MM-DD`, not before it '
        + 'began.',
    },
    readCount: {
      label: 'Times read', schema: { kind: 'integer', minimum: 0, maximum: 10_000 },
    },
    shelves: {
      schema: {
        kind: 'array', maxItems: LIST_ITEMS_MAX, isUnique: true, identify: foldText,
        items: { kind: 'string', minLength: 1, maxLength: 200, isNotBlank: true },
      },
      description: 'Their case does not tell them apart.',
    },
    review: {
      schema: { kind: 'string', maxLength: 100_000 }, description: 'Plain text.',
    },
    owned: { schema: { kind: 'boolean' } },
  },
  check: ({ startedOn, finishedOn }) =>
    typeof startedOn === 'string' && typeof finishedOn === 'string'
      && isBefore(finishedOn, startedOn)
      ? [{ pointer: '/finishedOn', detail: `must not be before the start (${startedOn})` }] : [],
});

export const bookSchema = describeObject({
  kind: 'object', name: 'Book',
  members: {
    id: {
      readOnly: 'echo', description: 'Assigned by the service: a UUIDv7, so ids sort by creation.',
      schema: { kind: 'string', format: 'uuid' },
    },
    createdAt: { readOnly: 'ignored', schema: timestampSchema },
    updatedAt: { readOnly: 'ignored', schema: timestampSchema },
    title: {
      isRequired: true,
      schema: { kind: 'string', minLength: 1, maxLength: 1000, isNotBlank: true },
    },
    subtitle: { schema: { kind: 'string', maxLength: 1000 } },
    authors: {
      default: [], description: 'In order.',
      schema: { kind: 'array', maxItems: LIST_ITEMS_MAX, items: authorSchema },
    },
    isbn: {
      schema: isbnSchema,
      description: 'An ISBN-10 or ISBN-13; hyphens and spaces are allowed. Stored as 13 digits. '
        + 'Not unique: a catalog may hold several copies.',
    },
    publisher: { schema: { kind: 'string', maxLength: 500 } },
    datePublished: {
      label: 'Published', schema: partialDateSchema,
      description: '`YYYY`, `YYYY-MM` or `YYYY-MM-DD`.',
    },
    inLanguage: {
      label: 'Language', schema: languageSchema,
      description: 'A language tag (BCP 47) such as `en` or `pt-BR`, stored in its canonical form.',
    },
    numberOfPages: {
      label: 'Pages', schema: { kind: 'integer', minimum: 1, maximum: 100_000 },
    },
    bookEdition: {
      label: 'Edition', schema: { kind: 'string', maxLength: 100 }, form: { group: 'more' },
    },
    bookFormat: {
      label: 'Format', schema: { kind: 'string', values: BOOK_FORMATS },
      form: { choices: FORMAT_CHOICES },
    },
    keywords: {
      schema: {
        kind: 'array', maxItems: LIST_ITEMS_MAX, isUnique: true,
        items: { kind: 'string', minLength: 1, maxLength: 200 },
      },
    },
    series: {
      form: { item: 'Series' }, description: 'The first one is the one that books are sorted by.',
      schema: {
        kind: 'array', maxItems: SERIES_MAX, isUnique: true, items: seriesSchema,
        identify: (item) => isJsonObject(item) ? foldText(item['name']) : item,
      },
    },
    reading: {
      description: 'What the book is to its reader.',
      schema: readingSchema,
    },
    description: { schema: { kind: 'string', maxLength: 20_000 } },
    url: { label: 'Link', schema: urlSchema, form: { group: 'more' } },
    image: {
      label: 'Cover', schema: urlSchema, form: { group: 'more' },
      description: 'The address of an image of the book.',
    },
    mergedIds: {
      ...mergedIdsMember, label: 'Ids of merged books', readOnly: 'ignored', isAlwaysPresent: false,
    },
    metadata: {
      label: 'Other data', form: { group: 'more' },
      description: 'Data of your own: at most 16 KiB of JSON and 8 levels.',
      schema: {
        kind: 'json', isObject: true, bytesMax: METADATA_BYTES_MAX, depthMax: METADATA_DEPTH_MAX,
      },
    },
  },
});

export type Book = RecordOf<typeof bookSchema>;
/** A book as callers send it. */
export type BookInput = InputOf<typeof bookSchema>;
export type Series = RecordOf<typeof seriesSchema>;
export type Reading = RecordOf<typeof readingSchema>;
export type Author = RecordOf<typeof authorSchema>;
export type Address = RecordOf<typeof addressSchema>;

/** For the documentation: a body that is accepted as it is. */
export const bookExample: JsonObject = {
  title: 'The Left Hand of Darkness',
  authors: [{ name: 'Ursula K. Le Guin', birthDate: '1929-10-21', deathDate: '2018-01-22' }],
  isbn: '978-0-441-47812-5',
  datePublished: '1969',
  inLanguage: 'en-US',
  keywords: ['science fiction'],
};

/** The stored bytes of a book as an object. They were validated when they were stored. */
export function decodeBook(bytes: Buffer): Book {
  return parseJsonText(bytes.toString()) as Book;
}

export function foldText(text: JsonValue | undefined): JsonValue | undefined {
  return typeof text === 'string' ? foldCase(text) : text;
}

// Canonicalising costs 1 µs, 4 % of a POST (bench `durable-post`); a catalog has few languages.
const LANGUAGES_CACHED_MAX = 512;
const LANGUAGE_LENGTH_CACHED_MAX = 35;
// RFC 5646 §4.4 has implementations choose a limit, of 35 at least.
const LANGUAGE_LENGTH_MAX = 255;
const canonicalLanguages = new Map<string, string>();

/** The canonical form of a BCP 47 language tag, or null when it is not well-formed. */
function parseLanguage(tag: string): string | null {
  const cachedLanguage = canonicalLanguages.get(tag);
  if (cachedLanguage !== undefined) return cachedLanguage;
  if (tag.length > LANGUAGE_LENGTH_MAX) return null;
  const language = canonicalizeLanguage(tag);
  if (language !== null && tag.length <= LANGUAGE_LENGTH_CACHED_MAX
    && canonicalLanguages.size < LANGUAGES_CACHED_MAX) canonicalLanguages.set(tag, language);
  return language;
}

function canonicalizeLanguage(tag: string): string | null {
  try {
    return Intl.getCanonicalLocales(tag)[0] ?? null;
  } catch {
    return null;
  }
}

// The URL parser repairs white space, control characters and backslashes; these are refused.
const HTTP_URL = /^https?:\/\/[^/?#\s\\][^\s\\\p{Cc}]*$/iu;

/** The URL as given, or null when it is not an absolute http or https URL. */
function parseHttpUrl(text: string): string | null {
  return HTTP_URL.test(text) && URL.canParse(text) ? text : null;
}
