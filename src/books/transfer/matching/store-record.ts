/**
 * What becomes of one record of an import: a new book, another version of the book that it matches,
 * or nothing. Pure but for what it puts, so that a transaction may run it again.
 */
import { isDeepStrictEqual } from 'node:util';
import { assert } from '../../../base/assert.ts';
import { encodeJson } from '../../../base/json/encode.ts';
import { parseJsonText } from '../../../base/json/exact-parser.ts';
import type { JsonObject } from '../../../base/schema.ts';
import {
  createTimestamps, decodeRecord, encodeRecord, nextTimestamps,
} from '../../../resources/record.ts';
import { bookResource } from '../../book-resource.ts';
import type { ImportRecord } from '../import-record.ts';
import type { ImportedBook, MatchMode } from './book-import.ts';
import { findBookId, omitBookId, omitUnedited } from './own-export.ts';
import type { MatchKeys } from './match-key.ts';
import type { BookMarks } from './book-marks.ts';
import type { BookStaging } from './book-staging.ts';
import { mergeRecord } from './merge-record.ts';
import type { MergedRecord } from './merge-record.ts';

export type StoreDeps = {
  readonly books: BookStaging;
  readonly mode: MatchMode;
  /** Of each way to match, the first to be tried first; none where nothing is matched but ids. */
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
  const ids = findMatches(deps, record);
  const [id] = ids;
  if (id === undefined) {
    const addedId = record.id ?? newId;
    books.put(addedId, encodeBook(addedId, record, null, nowMs));
    marks?.add(addedId);
    return { id: addedId, outcome: 'imported', leftOut: [] };
  }
  if (ids.length > 1) return { id: null, outcome: 'ambiguous', ids };
  const isSameId = id === record.id;
  const isRepeated = !isSameId && marks?.has(id) === true;
  marks?.add(id);
  const outcome = isLeftAlone(mode, isSameId) ? 'exists' : 'unchanged';
  if (outcome === 'exists' && !isRepeated) return { id, outcome, leftOut: [] };
  const { json, leftOut } = makeVersion(deps, record, id);
  if (json === null) return { id, outcome, leftOut };
  if (isRepeated) return { id, outcome: 'repeated', leftOut: [] };
  books.put(id, json);
  return { id, outcome: mode.onMatch === 'replace' ? 'replaced' : 'updated', leftOut };
}

/**
 * The ids of the books that are the same as the record. Its id comes first, then the id of a book
 * that it has from our export, then its match keys.
 */
function findMatches({ books, keys, mode }: StoreDeps, record: ImportRecord): readonly string[] {
  if (record.id !== null && books.find(record.id) !== undefined) return [record.id];
  const bookId = mode.source === null ? null : findBookId(record.fields, mode.source);
  if (bookId !== null && books.find(bookId) !== undefined) return [bookId];
  for (const [rank, { readMembers }] of keys.entries()) {
    const key = readMembers(record.fields);
    if (key === null) continue;
    const ids: string[] = [];
    for (const id of books.findMatches(key, rank)) {
      ids.push(id);
      if (ids.length >= MATCHES_NAMED_MAX) break;
    }
    if (ids.length > 0) return ids.sort();
  }
  return [];
}

function isLeftAlone({ matches, onMatch }: MatchMode, isSameId: boolean): boolean {
  if (onMatch === 'skip') return true;
  return onMatch !== 'replace' && isSameId && matches.length === 0;
}

type BookVersion = {
  /** Null where the book is already as the record says. */
  readonly json: string | null;
  readonly leftOut: readonly string[];
};

/** The next version of a book, which has what the record says. */
function makeVersion(
  { books, mode: { onMatch, source }, nowMs }: StoreDeps, record: ImportRecord, id: string,
): BookVersion {
  const before = books.find(id);
  assert(before !== undefined, 'a match is a book');
  const { [KEY]: _, createdAt, updatedAt, ...members } = decodeRecord(before);
  const fields = source === null
    ? record.fields : omitBookId(record.fields, members, id, before, source);
  if (onMatch === 'replace') {
    const isUnchanged = (record.createdAt ?? createdAt) === createdAt
      && (record.updatedAt ?? updatedAt) === updatedAt && isSame(members, fields);
    const json = isUnchanged ? null : encodeBook(id, { ...record, fields }, before, nowMs);
    return { json, leftOut: [] };
  }
  const merged = onMatch === 'fill' ? fillMembers(members, fields, source)
    : mergeEdited(members, fields, before, source);
  const { leftOut } = merged;
  if (isSame(members, merged.members)) return { json: null, leftOut };
  const timestamps = nextTimestamps(KEY, id, before, nowMs);
  return { json: encodeRecord(KEY, id, timestamps, merged.members), leftOut };
}

/** The record gives what the book lacks; of its metadata nothing where there is no room for all. */
function fillMembers(
  members: JsonObject, record: JsonObject, source: MatchMode['source'],
): MergedRecord {
  const merged = mergeRecord(record, members, source?.ownIdFields ?? []);
  const { metadata } = members;
  if (merged.leftOut.length === 0 || metadata === undefined) return merged;
  return { members: { ...merged.members, metadata }, leftOut: ['metadata'] };
}

/** Merges what the record says otherwise than our export of the book. */
function mergeEdited(
  members: JsonObject, record: JsonObject, bytes: Buffer, source: MatchMode['source'],
): MergedRecord {
  if (source === null) return mergeRecord(members, record, []);
  let merged = mergeRecord(members, record, source.ownIdFields);
  const isDone = (): boolean => merged.leftOut.length === 0 && isSame(members, merged.members);
  // Most records change nothing, and need no export.
  if (isDone()) return merged;
  let edited = record;
  for (const exported of source.readExports(bytes)) {
    edited = omitUnedited(edited, members, exported, source);
    merged = mergeRecord(members, edited, source.ownIdFields);
    if (isDone()) break;
  }
  return merged;
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
