/**
 * The match keys: by what a record and a book are the same, as texts. They are read of a stored
 * book as of a record that comes, so that both agree.
 */
import { assert } from '../../../base/assert.ts';
import { isJsonObject } from '../../../base/fields.ts';
import type { JsonObject, JsonValue } from '../../../base/schema.ts';
import { decodeRecord } from '../../../resources/record.ts';
import { formatSourceId } from '../../merged-ids.ts';
import {
  readBookEdition, readDatePublished, readIsbn, readMergedIds, readMetadataWith,
} from '../../query/stored-fields.ts';
import { createTitleKey, readTitleKey, splitTitleKey } from '../../query/title-key.ts';
import type { TitleKey } from '../../query/title-key.ts';
import { WORK_YEAR_FORMATS } from '../format-list.ts';
import type { ImportRecord } from '../import-record.ts';
import { DIGESTS_MEMBER, findOwnId, findSource } from '../mapping/metadata-source.ts';
import type { Match, MatchMode, Remark, SourceFormat } from './book-import.ts';
import { createSaidCheck, createWording, findWording } from './last-import.ts';
import { findBookId } from './own-export.ts';

export interface MatchKeys {
  /** Imports share an index of keys of one name. */
  readonly name: string;
  /** Empty for a stored book that nothing can match. */
  readStored(bytes: Buffer): readonly string[];
  /** Empty for a record that matches nothing. */
  readRecord(record: ImportRecord): readonly string[];
  /** Whether a record and a book of one key may be the same; absent: they are. */
  mayMatch?(record: ImportRecord, bytes: Buffer): boolean;
  /** Whether the record is of a book that was merged into the one that it matches. */
  readonly areMerged?: true;
  /** Whether they are the ids that the source gave its records. */
  readonly areOwnIds?: true;
  /** Whether a record that has changed in its source has another key. */
  readonly areWording?: true;
  /** The remark on a new book that has the key of another; absent: a record matches the book. */
  readonly remark?: Remark;
}

/**
 * The keys by which an import finds books, in the order in which they are tried: the ids of merged
 * books, each way to match, what records without an id say, and titles without a year; and last
 * those of the remarks on new books: the ISBN, where nobody asked to match by it, else title and
 * first author. Two books that have these in common are hardly wanted. An import by nothing but the
 * ids of our own files looks at records without an id alone: it would take a quarter longer.
 */
export function createImportKeys(
  { matches, source, isDryRun }: Pick<MatchMode, 'matches' | 'source' | 'isDryRun'>,
): readonly MatchKeys[] {
  const remarkKeys = [...matches.includes('isbn') ? [] : [SAME_ISBN_KEYS], SAME_TITLE_KEYS];
  return [
    createMergedKeys(source),
    ...matches.map((match) => createMatchKeys(match, source)),
    ...source === null ? [] : [createWordingKeys(source)],
    ...matches.includes('title') ? [YEARLESS_KEYS] : [],
    ...isDryRun || matches.length > 0 ? remarkKeys : remarkKeys.map(passOverIds),
  ];
}

/** The keys for records without an id. */
function passOverIds(keys: MatchKeys): MatchKeys {
  return {
    ...keys, readRecord: (record) => record.id === null ? keys.readRecord(record) : NO_KEYS,
  };
}

/** The keys of one way to match. `source` is of the format of the records. */
export function createMatchKeys(match: Match, source: SourceFormat | null): MatchKeys {
  switch (match) {
    case 'isbn': return ISBN_KEYS;
    case 'title': return TITLE_KEYS;
    case 'source':
      assert(source !== null, 'a format without own ids matches nothing by them');
      return createSourceKeys(source);
  }
}

/** The ids of merged books (merged-ids.ts), which every import matches by first. */
export function createMergedKeys(source: SourceFormat | null): MatchKeys {
  return {
    name: `merged ${source?.format ?? ''}`,
    readStored: readMergedIds,
    readRecord({ id, fields }) {
      const ids = toKeys(id);
      if (source === null) return ids;
      const ownId = readOwnId(fields['metadata'], source);
      return [
        ...ids, ...toKeys(findBookId(fields, source)),
        ...ownId === null ? [] : [formatSourceId(source.format, ownId)],
      ];
    },
    areMerged: true,
  };
}

/**
 * The keys of records without an id of their source: what they say, word for word, by its digests
 * (last-import.ts). So the same file again finds the books that it has made.
 */
function createWordingKeys(source: SourceFormat): MatchKeys {
  const digestsMember = `${JSON.stringify(DIGESTS_MEMBER)}:{`;
  return {
    name: `wording ${source.format}`,
    readStored(bytes) {
      const metadata = readMetadataWith(bytes, digestsMember);
      return readOwnId(metadata, source) === null
        ? toKeys(findWording({ metadata: metadata ?? {} }, source.format)) : NO_KEYS;
    },
    readRecord: ({ fields }) => readOwnId(fields['metadata'], source) === null
      ? [createWording(fields)] : NO_KEYS,
    areWording: true,
  };
}

export const ISBN_KEYS: MatchKeys = {
  name: 'isbn',
  readStored: (bytes) => toKeys(readIsbn(bytes)),
  readRecord: ({ fields: { isbn } }) => toKeys(isbn),
};

/** In the place of the year: the title is the beginning of one with a subtitle. */
const WITH_SUBTITLE = ':';

const SAME_ISBN_KEYS: MatchKeys = {
  ...ISBN_KEYS, mayMatch: mayBeSameEdition, remark: 'sameIsbn',
};

const TITLE_KEYS: MatchKeys = {
  name: 'title',
  readStored: (bytes) => [joinLines(...readTitleKey(bytes), readYear(bytes))],
  readRecord: ({ fields }) => [joinLines(...createRecordTitleKey(fields), yearOf(fields))],
};

const TITLE_ALONE = {
  name: 'title without year',
  readStored(bytes: Buffer): readonly string[] {
    const titleKey = readTitleKey(bytes);
    const { key, subtitle } = splitTitleKey(titleKey);
    return subtitle === null ? [joinLines(...titleKey)]
      : [joinLines(...titleKey), joinLines(...key, WITH_SUBTITLE)];
  },
};

/** The same title, or one without a subtitle beside the same with one. */
const SAME_TITLE_KEYS: MatchKeys = {
  ...TITLE_ALONE,
  readRecord({ fields }) {
    // A title alone says little.
    if (isEmptyList(fields['authors'])) return NO_KEYS;
    const titleKey = createRecordTitleKey(fields);
    const { key, subtitle } = splitTitleKey(titleKey);
    return [joinLines(...titleKey),
      subtitle === null ? joinLines(...titleKey, WITH_SUBTITLE) : joinLines(...key)];
  },
  mayMatch: mayBeSameEdition,
  remark: 'sameTitle',
};

/** An absent edition is no other. Duplicates are told by the same (aggregates/duplicates.ts). */
export function mayBeSameEdition(
  { fields: { bookEdition } }: Pick<ImportRecord, 'fields'>, bytes: Buffer,
): boolean {
  const storedEdition = readBookEdition(bytes);
  return bookEdition === undefined || storedEdition === null || bookEdition === storedEdition;
}

/**
 * Title and first author alone, where the record or the book has no year of an edition. The last
 * keys that are tried: a record that several books have these in common with may have an id of its
 * own.
 */
const YEARLESS_KEYS: MatchKeys = {
  ...TITLE_ALONE,
  readRecord: ({ fields }) => [joinLines(...createRecordTitleKey(fields))],
  mayMatch: ({ fields }, bytes) => yearOf(fields) === '' || readYear(bytes) === ''
    || isWorkOrEdition(fields, bytes),
};

/**
 * Whether the year of one of the two is that of the work, of which the other may be an edition. Two
 * works are two books.
 */
function isWorkOrEdition(record: JsonObject, bytes: Buffer): boolean {
  return WORK_YEAR_FORMATS.some((format) => {
    const isOfWork = findSource(format, record['metadata']) !== null;
    const metadata = readMetadataWith(bytes, createFormatMember(format));
    if (findSource(format, metadata) === null) return isOfWork;
    const book = decodeRecord(bytes);
    return !isOfWork && createSaidCheck(book, format)(book, 'datePublished');
  });
}

/** Empty for a book without a date. */
function readYear(bytes: Buffer): string {
  const date = readDatePublished(bytes);
  // A date is a number YYYYMMDD.
  return date === null ? '' : String(Math.trunc(date / 10_000)).padStart(4, '0');
}

function yearOf({ datePublished }: JsonObject): string {
  return textOrNull(datePublished)?.slice(0, 4) ?? '';
}

/** Folded texts have no line ends. As JSON they would take 0.4 µs more, four times a record. */
function joinLines(title: string, author: string, year = ''): string {
  return `${title}\n${author}\n${year}`;
}

function createRecordTitleKey({ title, authors }: JsonObject): TitleKey {
  const author: unknown = Array.isArray(authors) ? authors[0] : undefined;
  const name = isJsonObject(author) ? author['name'] : undefined;
  return createTitleKey(textOrNull(title) ?? '', textOrNull(name) ?? '');
}

function isEmptyList(value: JsonValue | undefined): boolean {
  return Array.isArray(value) && value.length === 0;
}

function createSourceKeys(source: SourceFormat): MatchKeys {
  const formatMember = createFormatMember(source.format);
  return {
    name: `source ${source.format}`,
    readStored: (bytes) => toKeys(readOwnId(readMetadataWith(bytes, formatMember), source)),
    readRecord: ({ fields: { metadata } }) => toKeys(readOwnId(metadata, source)),
    areOwnIds: true,
  };
}

/** The text that the metadata of each book from the format have: others need not be parsed. */
function createFormatMember(format: string): string {
  return `${JSON.stringify(format)}:{`;
}

/** Whether the source has given the record an id. */
export function hasOwnId({ metadata }: JsonObject, source: SourceFormat | null): boolean {
  return source !== null && readOwnId(metadata, source) !== null;
}

function readOwnId(
  metadata: JsonValue | undefined | null, { format, ownIdFields }: SourceFormat,
): string | null {
  const fields = findSource(format, metadata);
  return fields === null ? null : findOwnId(fields, ownIdFields);
}

const NO_KEYS: readonly string[] = [];

/** A list of the text, or of nothing. */
function toKeys(text: unknown): readonly string[] {
  return typeof text === 'string' ? [text] : NO_KEYS;
}

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}
