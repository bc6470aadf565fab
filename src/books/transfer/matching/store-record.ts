/**
 * Stores one record of an import: as a new book, as another version of the book that it matches,
 * or not at all. It changes only the staged books (`put`) and the marks (`add`), so a transaction
 * may run it again: catalog-import.ts clears the marks of the batch before each run.
 */
import { isDeepStrictEqual } from 'node:util';
import { assert } from '../../../base/assert.ts';
import { isJsonObject } from '../../../base/fields.ts';
import { encodeJson } from '../../../base/json/encode.ts';
import { parseJsonText } from '../../../base/json/exact-parser.ts';
import type { JsonObject } from '../../../base/schema.ts';
import {
  createTimestamps, decodeRecord, encodeRecord, nextTimestamps,
} from '../../../resources/record.ts';
import { bookResource } from '../../book-resource.ts';
import { MERGED_IDS_MAX, mergedIdsOf, putMergedIds } from '../../merged-ids.ts';
import type { ImportRecord } from '../import-record.ts';
import type { ImportedBook, MatchMode } from './book-import.ts';
import { DIGESTS_MEMBER } from '../mapping/metadata-source.ts';
import { findBookId, omitBookId, omitUnedited } from './own-export.ts';
import type { MatchKeys } from './match-key.ts';
import type { BookMarks } from './book-marks.ts';
import type { BookStaging } from './book-staging.ts';
import { omitDigests, omitSaidBefore, putDigests } from './last-import.ts';
import { fillRecord, mergeRecord } from './merge-record.ts';
import type { MergedRecord } from './merge-record.ts';
import { keepReplaced, listPassedOver, settleRecord } from './several-sources.ts';
import type { ReplacedMembers } from './several-sources.ts';

export type StoreDeps = {
  readonly books: BookStaging;
  readonly mode: MatchMode;
  /** The keys of each way to match, in the order in which they are tried. */
  readonly keys: readonly MatchKeys[];
  readonly marks: BookMarks | null;
  readonly nowMs: number;
};

const { collection: { key: KEY } } = bookResource;
// The most books that are named where very many match.
const MATCHES_NAMED_MAX = 10;

/** `newId` is that of a new book without an id of its own. */
export function storeRecord(deps: StoreDeps, record: ImportRecord, newId: string): ImportedBook {
  const { books, mode, marks, nowMs } = deps;
  const { ids, areMerged, hasKeys } = findMatches(deps, record);
  const [id] = ids;
  if (id !== undefined && areMerged) return { id, outcome: 'unchanged', leftOut: [] };
  if (id === undefined) {
    const addedId = record.id ?? newId;
    const fields = putDigests(record.fields, record.fields, mode, {});
    books.put(addedId, encodeBook(addedId, { ...record, fields }, null, nowMs));
    marks?.add(addedId);
    return { id: addedId, outcome: 'imported', leftOut: [], isUnmatchable: !hasKeys };
  }
  if (ids.length > 1) return { id: null, outcome: 'ambiguous', ids };
  const isSameId = id === record.id;
  const isRepeated = !isSameId && marks?.has(id) === true;
  marks?.add(id);
  const outcome = isLeftAlone(mode, isSameId) ? 'exists' : 'unchanged';
  if (outcome === 'exists' && !isRepeated) {
    const isKnown = mode.onMatch !== 'skip' && hasMembers(findStored(books, id), record.fields);
    return { id, outcome: isKnown ? 'unchanged' : outcome, leftOut: [] };
  }
  // A repeated book is never written. For `skip` too, the version that `update` would make tells
  // whether the record says something else (`repeated`) or nothing new (`exists`).
  const { json, leftOut, changes, replacedNames } = makeVersion(deps, record, id, isRepeated);
  if (json === null) return { id, outcome, leftOut };
  if (isRepeated) return { id, outcome: 'repeated', leftOut: [] };
  books.put(id, json);
  const changeOutcome = mode.onMatch === 'replace' ? 'replaced' : 'updated';
  return {
    id, outcome: changeOutcome, leftOut, ...replacedNames.length === 0 ? {} : { replacedNames },
    ...mode.isVerbose ? { changes } : {},
  };
}

type Matches = {
  readonly ids: readonly string[];
  /** Whether these books took in the one of the record, which says nothing of them then. */
  readonly areMerged: boolean;
  /** Whether the record has anything by which a book can match it. */
  readonly hasKeys: boolean;
};

/**
 * The ids of the books that are the same as the record. Its id comes first, then the id of a book
 * that it has from our export, then its match keys, of which the ids of merged books are first.
 */
function findMatches({ books, keys, mode }: StoreDeps, record: ImportRecord): Matches {
  const bookId = mode.source === null ? null : findBookId(record.fields, mode.source);
  let hasKeys = false;
  for (const id of [record.id, bookId]) {
    if (id === null) continue;
    hasKeys = true;
    if (books.find(id) !== undefined) return { ids: [id], areMerged: false, hasKeys };
  }
  for (const [rank, { readRecord, areMerged = false }] of keys.entries()) {
    const ids = new Set<string>();
    for (const key of readRecord(record)) {
      hasKeys = true;
      for (const id of books.findMatches(key, rank)) {
        ids.add(id);
        if (ids.size >= MATCHES_NAMED_MAX) break;
      }
    }
    if (ids.size > 0) return { ids: [...ids].sort(), areMerged, hasKeys };
  }
  return { ids: [], areMerged: false, hasKeys };
}

function isLeftAlone({ matches, onMatch }: MatchMode, isSameId: boolean): boolean {
  if (onMatch === 'skip') return true;
  return onMatch !== 'replace' && isSameId && matches.length === 0;
}

/** Whether the stored book has the members of a record and no others, but for id and dates. */
function hasMembers(bytes: Buffer, record: JsonObject): boolean {
  const { [KEY]: _, createdAt, updatedAt, ...members } = decodeRecord(bytes);
  return isSame(members, record);
}

type BookVersion = {
  /** Null where the book is already as the record says. */
  readonly json: string | null;
  readonly leftOut: readonly string[];
  /** The members that change, where the import is verbose. */
  readonly changes: readonly string[];
  readonly replacedNames: readonly string[];
};

/** The next version of a book, which has what the record says. */
function makeVersion(
  { books, mode, nowMs }: StoreDeps, record: ImportRecord, id: string, isRepeated: boolean,
): BookVersion {
  const before = findStored(books, id);
  const { [KEY]: _, createdAt, updatedAt, ...members } = decodeRecord(before);
  const { onMatch, source, digestFormat } = mode;
  const fields = source === null
    ? record.fields : omitBookId(record.fields, members, id, before, source);
  const isFromHere = isOwnExport(mode, record, id);
  const { replacedNames, ...result } = mergeFields(
    mode, { bytes: before, members, isFromHere }, fields, record.fields);
  const { members: merged, leftOut } = joinMergedIds(result, members, record.fields);
  const version = putDigests(merged, record.fields, mode, members);
  const areDatesSame = onMatch !== 'replace' || ((record.createdAt ?? createdAt) === createdAt
    && (record.updatedAt ?? updatedAt) === updatedAt);
  // A book whose digests alone change is written only for a record that another program said: not
  // by `fill`, for a repeated record, or for one that is from here or says what our export says.
  const isForDigests = (): boolean => onMatch !== 'fill' && !isRepeated && !isFromHere
    && !isExport(fields, before, source);
  const isUnchanged = areDatesSame && (isSame(members, version)
    || (isSame(omitDigests(members, digestFormat), merged) && !isForDigests()));
  if (isUnchanged) return { json: null, leftOut, changes: [], replacedNames };
  const json = onMatch === 'replace'
    ? encodeBook(id, { ...record, fields: version }, before, nowMs)
    : encodeRecord(KEY, id, nextTimestamps(KEY, id, before, nowMs), version);
  const changes = mode.isVerbose ? nameChanges(members, version) : [];
  return { json, leftOut, changes, replacedNames };
}

function findStored(books: BookStaging, id: string): Buffer {
  const bytes = books.find(id);
  assert(bytes !== undefined, 'a match is a book');
  return bytes;
}

/** The members that change, by name; digests only where nothing else does. */
export function nameChanges(before: JsonObject, after: JsonObject): readonly string[] {
  const names = listChanges(before, after);
  const others = names.filter((name) => !name.startsWith(`metadata.${DIGESTS_MEMBER}.`));
  return others.length === 0 ? names : others;
}

/** The members that differ by name, those of an object behind a dot: `metadata.shelf`. */
function listChanges(before: JsonObject, after: JsonObject, prefix = ''): readonly string[] {
  return [...new Set([...Object.keys(before), ...Object.keys(after)])].flatMap((name) => {
    const [left, right] = [before[name], after[name]];
    if (isDeepStrictEqual(left, right)) return [];
    const [leftObject, rightObject] = [left ?? {}, right ?? {}];
    return isJsonObject(leftObject) && isJsonObject(rightObject)
      ? listChanges(leftObject, rightObject, `${prefix}${name}.`) : [prefix + name];
  });
}

/** Whether the record has the id of the book: the file came from here, and is no source of it. */
function isOwnExport({ source }: MatchMode, record: ImportRecord, id: string): boolean {
  return record.id === id || (source !== null && findBookId(record.fields, source) === id);
}

/** Whether the record says what our export of the book says: such a file is no source of it. */
function isExport(fields: JsonObject, bytes: Buffer, source: MatchMode['source']): boolean {
  if (source === null) return false;
  return [...source.readExports(bytes)].some((exportFields) => isSame(exportFields, fields));
}

/** The stored book that a record matches. */
type MatchedBook = {
  readonly bytes: Buffer;
  /** All but id and dates, with the digests. */
  readonly members: JsonObject;
  /** Whether the record is of a file from here. */
  readonly isFromHere: boolean;
};

/**
 * The members that the book has after the import, without digests. `said` has all members of the
 * record; `fields` are those to merge, without the id of the book that our export put among them.
 */
function mergeFields(
  { onMatch, source, digestFormat }: MatchMode, book: MatchedBook, fields: JsonObject,
  said: JsonObject,
): ReplacedMembers {
  const replacedNames: readonly string[] = [];
  if (onMatch === 'replace') {
    return { members: omitDigests(fields, digestFormat), leftOut: [], replacedNames };
  }
  const membersBefore = omitDigests(book.members, digestFormat);
  const isSource = digestFormat !== null && !book.isFromHere;
  if (onMatch === 'fill') {
    const result = fillRecord(membersBefore, fields, source);
    if (source === null || !isSource) return { ...result, replacedNames };
    const changes = omitSaidBefore(fields, said, book.members, digestFormat);
    return keepReplaced(result, book.members, digestFormat, listPassedOver(changes, book.members));
  }
  const result = mergeRecord(membersBefore, fields, source);
  // Most records change nothing.
  if (result.leftOut.length === 0 && isSame(membersBefore, result.members)) {
    return { ...result, replacedNames };
  }
  const changes = omitSaidBefore(fields, said, book.members, digestFormat);
  const settled = source !== null && isSource
    ? settleRecord(changes, book.members, digestFormat) : { fields: changes, passedOver: {} };
  const edited = mergeEdited(membersBefore, settled.fields, book.bytes, source);
  // Fields without room are told each time.
  const leftOut = 'metadata' in changes ? edited.leftOut : result.leftOut;
  const version = { members: edited.members, leftOut };
  return isSource ? keepReplaced(version, book.members, digestFormat, settled.passedOver)
    : { ...version, replacedNames };
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

/** Merges what the record says otherwise than our export of the book. */
function mergeEdited(
  members: JsonObject, record: JsonObject, bytes: Buffer, source: MatchMode['source'],
): MergedRecord {
  if (source === null) return mergeRecord(members, record, null);
  let result = mergeRecord(members, record, source);
  const isDone = (): boolean => result.leftOut.length === 0 && isSame(members, result.members);
  // Most records need no export.
  if (isDone()) return result;
  let editedRecord = record;
  for (const exportRecord of source.readExports(bytes)) {
    editedRecord = omitUnedited(editedRecord, members, exportRecord, source);
    result = mergeRecord(members, editedRecord, source);
    if (isDone()) break;
  }
  return result;
}

/** Whether the members say the same; in metadata the order of names says nothing. */
function isSame(members: JsonObject, others: JsonObject): boolean {
  const text = encodeJson(others);
  return text === encodeJson(members) || isDeepStrictEqual(parseJsonText(text), members);
}

/** The whole record as a stored book; `before` is the one that it replaces, null for none. */
function encodeBook(
  id: string, record: ImportRecord, before: Buffer | null, nowMs: number,
): string {
  const timestamps = before === null
    ? createTimestamps(nowMs) : nextTimestamps(KEY, id, before, nowMs);
  // A record may have one of the dates alone: the other must not contradict it.
  const createdAt = record.createdAt ?? earlier(timestamps.createdAt, record.updatedAt);
  const isNewWithDate = before === null && record.createdAt !== null;
  const updatedAt = record.updatedAt
    ?? (isNewWithDate ? createdAt : later(createdAt, timestamps.updatedAt));
  return encodeRecord(KEY, id, { createdAt, updatedAt }, record.fields);
}

function earlier(left: string, right: string | null): string {
  return right !== null && right < left ? right : left;
}

function later(left: string, right: string): string {
  return left < right ? right : left;
}
