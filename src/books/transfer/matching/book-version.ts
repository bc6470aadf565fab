/**
 * The version of a stored book after a record of an import: what `replace`, `fill` and `update`
 * make of both. Everything here is computed; nothing is read or written.
 *
 * A record says something of its own only where it says another thing than before: than at the last
 * import of its format (last-import.ts), and than our export of the book (own-export.ts). A record
 * of a file from here, which has the id of the book, is no source of the book: no digests are
 * written for it alone, and what was said before is not kept beside what it says.
 */
import { isDeepStrictEqual } from 'node:util';
import { encodeJson } from '../../../base/json/encode.ts';
import { parseJsonText } from '../../../base/json/exact-parser.ts';
import type { JsonObject, JsonValue } from '../../../base/schema.ts';
import { decodeRecord } from '../../../resources/record.ts';
import { bookResource } from '../../book-resource.ts';
import { READING_DATES } from '../../merge-choice.ts';
import { MERGED_IDS_MAX, mergedIdsOf, putMergedIds } from '../../merged-ids.ts';
import type { ImportRecord } from '../import-record.ts';
import type { MatchMode } from './book-import.ts';
import { keepReplaced, listPassedOver } from './kept-values.ts';
import type { ReplacedMembers } from './kept-values.ts';
import { isSaidBefore, omitDigests, omitSaidBefore, putDigests } from './last-import.ts';
import { hasOwnId } from './match-key.ts';
import {
  fillRecord, mergeRecord, omitEnd, omitRoundedIsbn, omitVague, restoreLetters, uniteLists,
} from './merge-record.ts';
import type { MergedRecord } from './merge-record.ts';
import { findBookId, omitBookId, omitUnedited } from './own-export.ts';
import { settleRecord } from './several-sources.ts';

const { collection: { key: KEY } } = bookResource;

/** No value of the book gives way, or is to, and none is put aside. */
const NONE_REPLACED = { putAside: [], passedOverNames: [], replacedNames: [], stayingNames: [] };

type BookVersion = SourceVersion & {
  /** The members that the book has now. */
  readonly before: JsonObject;
  /** Whether the stored book is already so: it need not be written. */
  readonly isSame: boolean;
  /** Whether the record has `?` in the place of letters of the book, which stay. */
  readonly hasLostLetters: boolean;
};

type SourceVersion = ReplacedMembers & {
  /** The dates of the record that are not of the reading that the book has, and are kept beside. */
  readonly putAside: readonly string[];
  /** The members that a fill leaves as they are, whose other values in the record nothing keeps. */
  readonly passedOverNames: readonly string[];
};

/** The stored book that a record matches, taken apart. */
type MatchedBook = {
  readonly id: string;
  readonly bytes: Buffer;
  readonly createdAt: JsonValue | undefined;
  readonly updatedAt: JsonValue | undefined;
  /** All others, with the digests. */
  readonly members: JsonObject;
};

/** A record that is about to change a stored book. */
type RecordOfBook = {
  readonly mode: MatchMode;
  readonly book: MatchedBook;
  /** All that the record says. */
  readonly said: JsonObject;
  /**
   * The same without the id of the book, where our export put it among the fields of a source, with
   * the book's letters (`restoreLetters`), and without what is vague (`omitVague`,
   * `omitRoundedIsbn`).
   */
  readonly fields: JsonObject;
  /** Whether the record has the id of the book: it is of a file from here. */
  readonly isFromHere: boolean;
  /** Whether an earlier record of the import made or matched the book: this one is not stored. */
  readonly isRepeated: boolean;
};

/** `id` and `bytes` are the stored book that the record matches; see `RecordOfBook`. */
export function createVersion(
  mode: MatchMode, id: string, bytes: Buffer, record: ImportRecord, isRepeated: boolean,
): BookVersion {
  const book = takeApart(id, bytes);
  const { source } = mode;
  const said = record.fields;
  const isFromHere =
    record.id === id || (source !== null && findBookId(said, source) === id);
  const ownFields = source === null ? said : omitBookId(said, book.members, id, bytes, source);
  const isWhole = isFromHere || mode.onMatch === 'replace';
  const letteredFields = restoreLetters(ownFields, book.members);
  const exactFields = mode.onMatch === 'replace' ? letteredFields
    : omitRoundedIsbn(letteredFields, book.members);
  const fields = isWhole ? exactFields : omitVague(exactFields, book.members);
  const input = { mode, book, said, fields, isFromHere, isRepeated };
  const { putAside, passedOverNames, replacedNames, stayingNames, ...result } = mergeInto(input);
  const { members: merged, leftOut } = joinMergedIds(result, book.members, said);
  const members = putDigests(merged, said, mode, book.members);
  const areDatesSame = mode.onMatch !== 'replace' || hasSameDates(record, book);
  const isSame = areDatesSame && (isSameBook(book.members, members)
    || (isSameBook(omitDigests(book.members, mode.digestFormat), merged)
      && !isWorthDigests(input)));
  return {
    before: book.members, members, leftOut, putAside, passedOverNames, replacedNames,
    stayingNames, isSame, hasLostLetters: letteredFields !== ownFields,
  };
}

/** Whether the stored book has the members of a record and no others, but for id and dates. */
export function hasMembers(bytes: Buffer, fields: JsonObject): boolean {
  return isSameBook(takeApart('', bytes).members, fields);
}

function takeApart(id: string, bytes: Buffer): MatchedBook {
  const { [KEY]: _, createdAt, updatedAt, ...members } = decodeRecord(bytes);
  return { id, bytes, createdAt, updatedAt, members };
}

function hasSameDates(record: ImportRecord, { createdAt, updatedAt }: MatchedBook): boolean {
  return (record.createdAt ?? createdAt) === createdAt
    && (record.updatedAt ?? updatedAt) === updatedAt;
}

/** The members of the book after the import, without digests. */
function mergeInto(input: RecordOfBook): SourceVersion {
  switch (input.mode.onMatch) {
    case 'replace': return {
      members: omitDigests(input.fields, input.mode.digestFormat), leftOut: [], ...NONE_REPLACED,
    };
    case 'fill': return fillGaps(input);
    default: return update(input);
  }
}

function fillGaps({ mode, book, said, fields, isFromHere }: RecordOfBook): SourceVersion {
  const { source, digestFormat } = mode;
  const { refusedNames, ...filled } = fillRecord(
    omitDigests(book.members, digestFormat), omitEnd(fields, book.members), source);
  const result = { ...filled, members: uniteLists(filled.members, fields) };
  const changes = omitSaidBefore(fields, said, book.members, digestFormat);
  const passedOver = listPassedOver(changes, result.members);
  if (source === null || digestFormat === null || isFromHere) {
    const passedOverNames = Object.keys(passedOver).filter((name) => !refusedNames.includes(name));
    return {
      ...result, leftOut: [...result.leftOut, ...refusedNames], ...NONE_REPLACED, passedOverNames,
    };
  }
  const putAside = refusedNames.filter((name) => Object.hasOwn(passedOver, name));
  return {
    ...keepReplaced(result, book.members, digestFormat, passedOver, source.ownIdFields), putAside,
    passedOverNames: [],
  };
}

function update(input: RecordOfBook): SourceVersion {
  const { mode: { source, digestFormat }, book, said, fields, isFromHere } = input;
  const membersBefore = omitDigests(book.members, digestFormat);
  const { refusedNames, ...result } = mergeRecord(membersBefore, fields, source);
  // Most records change nothing.
  const isUnchanged = result.leftOut.length === 0 && refusedNames.length === 0
    && isSameBook(membersBefore, result.members);
  if (isUnchanged) return { ...result, ...NONE_REPLACED };
  const changes = omitSaidBefore(fields, said, book.members, digestFormat);
  if (digestFormat === null || isFromHere) {
    const edited = mergeEdited(membersBefore, changes, book.bytes, source);
    const { leftOut } = 'metadata' in changes ? edited : result;
    return {
      members: edited.members, leftOut: [...leftOut, ...refusedNames], ...NONE_REPLACED,
    };
  }
  const settled = settleRecord(changes, fields, book.members, digestFormat);
  const edited = mergeEdited(
    omitDigests(settled.book, digestFormat), settled.fields, book.bytes, source);
  // Fields without room are told each time.
  const { leftOut } = 'metadata' in changes ? edited : result;
  const { passedOver } = settled;
  return {
    ...keepReplaced({ members: edited.members, leftOut }, book.members, digestFormat, passedOver,
      source?.ownIdFields ?? []),
    putAside: READING_DATES.filter((name) => Object.hasOwn(passedOver, name)),
    passedOverNames: [],
  };
}

/** Merges what the record says otherwise than our export of the book. */
function mergeEdited(
  members: JsonObject, record: JsonObject, bytes: Buffer, source: MatchMode['source'],
): MergedRecord {
  let result = mergeRecord(members, record, source);
  const isDone = (): boolean =>
    result.leftOut.length === 0 && isSameBook(members, result.members);
  // Most records need no export.
  if (source === null || isDone()) return result;
  let editedRecord = record;
  for (const exportRecord of source.readExports(bytes)) {
    editedRecord = omitUnedited(editedRecord, members, exportRecord, source);
    result = mergeRecord(members, editedRecord, source);
    if (isDone()) break;
  }
  return result;
}

/** The ids of merged books that the record has come behind those that the book has. */
function joinMergedIds(
  { members, leftOut }: MergedRecord, stored: JsonObject, record: JsonObject,
): MergedRecord {
  const ids = [...new Set([...mergedIdsOf(stored), ...mergedIdsOf(record)])];
  const book = putMergedIds(members, ids.slice(0, MERGED_IDS_MAX));
  return {
    members: book, leftOut: ids.length > MERGED_IDS_MAX ? [...leftOut, 'mergedIds'] : leftOut,
  };
}

/**
 * Whether a book of which the digests alone change is written: only for a record that another
 * program said, and not for one that says what our export of the book says. A record that says less
 * than before and nothing new is not worth it either, if its own id finds the book again.
 */
function isWorthDigests(
  { mode, book, said, fields, isFromHere, isRepeated }: RecordOfBook,
): boolean {
  if (mode.onMatch === 'fill' || isFromHere || isRepeated) return false;
  if (hasOwnId(said, mode.source) && isSaidBefore(said, book.members, mode.digestFormat)) {
    return false;
  }
  const exports = mode.source?.readExports(book.bytes) ?? [];
  return ![...exports].some((exportFields) => isSameBook(exportFields, fields));
}

/** Whether the members say the same; in metadata the order of names says nothing. */
function isSameBook(members: JsonObject, others: JsonObject): boolean {
  const text = encodeJson(others);
  return text === encodeJson(members) || isDeepStrictEqual(parseJsonText(text), members);
}
