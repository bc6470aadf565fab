/**
 * One record of an import: `decideRecord` says what becomes of it, and `storeRecord` does it. A
 * transaction may run both again: they change nothing but the staged books and the marks, which
 * catalog-import.ts clears before each run.
 */
import { assert } from '../../../base/assert.ts';
import { createTimestamps, encodeRecord, nextTimestamps } from '../../../resources/record.ts';
import { bookResource } from '../../book-resource.ts';
import type { ImportRecord } from '../import-record.ts';
import type { ImportedBook, MatchMode } from './book-import.ts';
import type { BookMarks } from './book-marks.ts';
import type { BookStaging } from './book-staging.ts';
import { createVersion, hasMembers, nameChanges } from './book-version.ts';
import { findMatch } from './find-match.ts';
import { putDigests } from './last-import.ts';
import type { MatchKeys } from './match-key.ts';

export type StoreDeps = {
  readonly books: BookStaging;
  readonly mode: MatchMode;
  /** The keys of each way to match, in the order in which they are tried. */
  readonly keys: readonly MatchKeys[];
  readonly marks: BookMarks | null;
  readonly nowMs: number;
};

/** What becomes of a record. */
type Decision = {
  readonly outcome: ImportedBook;
  /** The book that the record makes or matches; absent: it says nothing of one. */
  readonly markedId?: string;
  /** The book that is stored under `markedId`; absent: nothing is. */
  readonly json?: string;
};

const { collection: { key: KEY } } = bookResource;

/** `newId` is that of a new book without an id of its own. */
export function storeRecord(deps: StoreDeps, record: ImportRecord, newId: string): ImportedBook {
  const { outcome, markedId, json } = decideRecord(deps, record, newId);
  if (markedId !== undefined) deps.marks?.add(markedId);
  if (markedId !== undefined && json !== undefined) deps.books.put(markedId, json);
  return outcome;
}

/** Reads the staged books and the marks, and changes neither. */
function decideRecord(deps: StoreDeps, record: ImportRecord, newId: string): Decision {
  const match = findMatch(deps.books, deps.keys, deps.mode.source, record);
  switch (match.kind) {
    case 'none': return decideNew(deps, record, newId, match.hasKeys);
    case 'book': return decideMatched(deps, record, match.id);
    case 'merged': return { outcome: { id: match.id, outcome: 'unchanged', leftOut: [] } };
    case 'several': return { outcome: { id: null, outcome: 'ambiguous', ids: match.ids } };
  }
}

function decideNew(
  { mode, nowMs }: StoreDeps, record: ImportRecord, newId: string, hasKeys: boolean,
): Decision {
  const id = record.id ?? newId;
  const fields = putDigests(record.fields, record.fields, mode, {});
  return {
    outcome: { id, outcome: 'imported', leftOut: [], isUnmatchable: !hasKeys },
    markedId: id, json: encodeBook(id, { ...record, fields }, null, nowMs),
  };
}

function decideMatched(
  { books, mode, marks, nowMs }: StoreDeps, record: ImportRecord, id: string,
): Decision {
  const bytes = books.find(id);
  assert(bytes !== undefined, 'a match is a book');
  const isSameId = id === record.id;
  const isRepeated = !isSameId && marks?.has(id) === true;
  const isLeftAlone = isBookLeftAlone(mode, isSameId);
  const decide = (outcome: ImportedBook, json?: string): Decision =>
    ({ outcome, markedId: id, ...json === undefined ? {} : { json } });
  if (isLeftAlone && !isRepeated) {
    const isKnown = mode.onMatch !== 'skip' && hasMembers(bytes, record.fields);
    return decide({ id, outcome: isKnown ? 'unchanged' : 'exists', leftOut: [] });
  }
  // A repeated book is never written. For `skip` too, the version that `update` would make tells
  // whether the record says something else (`repeated`) or nothing new (`exists`).
  const { before, members, isSame, leftOut, replacedNames } =
    createVersion(mode, id, bytes, record, isRepeated);
  if (isSame) return decide({ id, outcome: isLeftAlone ? 'exists' : 'unchanged', leftOut });
  if (isRepeated) return decide({ id, outcome: 'repeated', leftOut: [] });
  const isReplaced = mode.onMatch === 'replace';
  const outcome: ImportedBook = {
    id, outcome: isReplaced ? 'replaced' : 'updated', leftOut,
    ...replacedNames.length === 0 ? {} : { replacedNames },
    ...mode.isVerbose ? { changes: nameChanges(before, members) } : {},
  };
  return decide(outcome, isReplaced
    ? encodeBook(id, { ...record, fields: members }, bytes, nowMs)
    : encodeRecord(KEY, id, nextTimestamps(KEY, id, bytes, nowMs), members));
}

/** See `MatchMode.onMatch`. */
function isBookLeftAlone({ matches, onMatch }: MatchMode, isSameId: boolean): boolean {
  if (onMatch === 'skip') return true;
  return onMatch !== 'replace' && isSameId && matches.length === 0;
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
