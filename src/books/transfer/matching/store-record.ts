/**
 * One record of an import: `findMatch` says which book it is, `decideOutcome` what becomes of it,
 * and `storeRecord` does it. A transaction may run all of it again: it changes nothing but the
 * staged books and the marks, which catalog-import.ts clears before each run.
 */
import { assert } from '../../../base/assert.ts';
import { createTimestamps, encodeRecord, nextTimestamps } from '../../../resources/record.ts';
import { bookResource } from '../../book-resource.ts';
import type { ImportRecord } from '../import-record.ts';
import type { ImportedBook, MatchMode, Remark } from './book-import.ts';
import type { BookMarks } from './book-marks.ts';
import type { BookStaging } from './book-staging.ts';
import { createVersion, hasMembers } from './book-version.ts';
import { describeChanges, describeStaying } from './describe-changes.ts';
import { putDigests } from './last-import.ts';
import { ISBN_KEYS, mayBeSameEdition } from './match-key.ts';
import type { MatchKeys } from './match-key.ts';
import { findBookId } from './own-export.ts';

export type StoreDeps = {
  readonly books: BookStaging;
  readonly mode: MatchMode;
  /** The keys of each way to match, in the order in which they are tried. */
  readonly keys: readonly MatchKeys[];
  readonly marks: BookMarks | null;
  readonly nowMs: number;
};

/** The outcome of a record, and the writes that it takes. */
type Decision = {
  readonly outcome: ImportedBook;
  /** The book that the record makes or matches; absent: it says nothing of one. */
  readonly markedId?: string;
  /** The book that is stored under `markedId`; absent: nothing is. */
  readonly json?: string;
};

/** Which book of the catalog a record is. */
type BookMatch =
  | ({ readonly kind: 'none' } & UnmatchedRecord)
  | {
    readonly kind: 'book'; readonly id: string;
    /** Another book with the ISBN of the record; absent: none. */
    readonly alike?: AlikeBook;
  }
  /** The book took in the one of the record (merged-ids.ts). */
  | { readonly kind: 'merged'; readonly id: string }
  /** Several books: some of their ids, in order. */
  | { readonly kind: 'several'; readonly ids: readonly string[] };

/** See `ImportedBook`. */
type UnmatchedRecord = {
  readonly knownBy: 'nothing' | 'wording' | 'keys';
  readonly alike: AlikeBook | null;
};

type AlikeBook = { readonly remark: Remark; readonly id: string };

const { collection: { key: KEY } } = bookResource;
// The most books that are named where very many match.
const MATCHES_NAMED_MAX = 10;

/** `newId` is that of a new book without an id of its own. */
export function storeRecord(deps: StoreDeps, record: ImportRecord, newId: string): ImportedBook {
  const { outcome, markedId, json } = decideOutcome(deps, record, newId);
  if (markedId !== undefined) deps.marks?.add(markedId);
  if (markedId !== undefined && json !== undefined) deps.books.put(markedId, json);
  return outcome;
}

/** Reads the staged books and the marks, and changes neither. */
function decideOutcome(deps: StoreDeps, record: ImportRecord, newId: string): Decision {
  const match = findMatch(deps, record);
  switch (match.kind) {
    case 'none': return decideUnmatched(deps, record, newId, match);
    case 'book': {
      const { outcome, ...decision } = decideMatched(deps, record, match.id);
      const isTold = match.alike !== undefined && outcome.outcome !== 'ambiguous';
      return { ...decision, outcome: isTold ? { ...outcome, alike: match.alike } : outcome };
    }
    case 'merged': return {
      outcome: { id: match.id, outcome: 'unchanged', leftOut: [], isMerged: true },
    };
    case 'several': return { outcome: { id: null, outcome: 'ambiguous', ids: match.ids } };
  }
}

/**
 * The book with the id of the record, else the book whose id our export put into the record, else
 * what is found by the keys, in their order.
 */
function findMatch(deps: StoreDeps, record: ImportRecord): BookMatch {
  const { books, keys, mode: { source } } = deps;
  const bookId = source === null ? null : findBookId(record.fields, source);
  let knownBy: UnmatchedRecord['knownBy'] = 'nothing';
  for (const id of [record.id, bookId]) {
    if (id === null) continue;
    knownBy = 'keys';
    if (books.find(id) !== undefined) return { kind: 'book', id };
  }
  for (const [rank, matchKeys] of keys.entries()) {
    const recordKeys = matchKeys.readRecord(record);
    const ids = findByKeys(books, rank, recordKeys);
    const mayMatch = (other: string): boolean =>
      matchKeys.mayMatch?.(record, getBytes(books, other)) ?? true;
    const { remark } = matchKeys;
    if (remark !== undefined) {
      const alikeId = ids.find(mayMatch);
      if (alikeId === undefined) continue;
      return { kind: 'none', knownBy, alike: { remark, id: alikeId } };
    }
    const [id] = ids;
    if (recordKeys.length > 0 && knownBy !== 'keys') {
      knownBy = matchKeys.areWording === true ? 'wording' : 'keys';
    }
    if (id === undefined) continue;
    if (!ids.some(mayMatch)) continue;
    if (matchKeys.areMerged === true) return { kind: 'merged', id };
    return ids.length === 1 ? { kind: 'book', id } : chooseOwn(deps, record, matchKeys, ids);
  }
  return { kind: 'none', knownBy, alike: null };
}

/**
 * Chooses the book that has the record's id of its source among several that match by `matchKeys`,
 * if one book alone has that id. It is looked for by the id, as `ids` are only the first books.
 */
function chooseOwn(
  { books, keys }: StoreDeps, record: ImportRecord, matchKeys: MatchKeys, ids: readonly string[],
): BookMatch {
  const sourceRank = keys.findIndex(({ areOwnIds }) => areOwnIds === true);
  const sourceKeys = keys[sourceRank];
  if (sourceKeys === undefined) return { kind: 'several', ids };
  const recordKeys = matchKeys.readRecord(record);
  const [id, second] = findByKeys(books, sourceRank, sourceKeys.readRecord(record));
  const isChosen = id !== undefined && second === undefined
    && matchKeys.readStored(getBytes(books, id)).some((key) => recordKeys.includes(key));
  if (!isChosen) return { kind: 'several', ids };
  const otherId = ids.find((one) =>
    one !== id && mayBeSameEdition(record, getBytes(books, one)));
  // Books of one title may be two editions.
  return matchKeys.name !== ISBN_KEYS.name || otherId === undefined ? { kind: 'book', id }
    : { kind: 'book', id, alike: { remark: 'sameIsbn', id: otherId } };
}

function getBytes(books: BookStaging, id: string): Buffer {
  const bytes = books.find(id);
  assert(bytes !== undefined, 'a match is a book');
  return bytes;
}

function findByKeys(
  books: BookStaging, rank: number, recordKeys: readonly string[],
): readonly string[] {
  const ids = new Set<string>();
  for (const key of recordKeys) {
    for (const id of books.findMatches(key, rank)) {
      ids.add(id);
      if (ids.size >= MATCHES_NAMED_MAX) return [...ids].sort();
    }
  }
  return [...ids].sort();
}

function decideUnmatched(
  { mode, nowMs }: StoreDeps, record: ImportRecord, newId: string,
  { knownBy, alike }: UnmatchedRecord,
): Decision {
  const id = record.id ?? newId;
  const fields = putDigests(record.fields, record.fields, mode, {});
  return {
    outcome: { id, outcome: 'imported', leftOut: [], knownBy, alike },
    markedId: id, json: encodeBook(id, { ...record, fields }, null, nowMs),
  };
}

function decideMatched(
  { books, mode, marks, nowMs }: StoreDeps, record: ImportRecord, id: string,
): Decision {
  const bytes = getBytes(books, id);
  const isSameId = id === record.id;
  const isRepeated = !isSameId && marks?.has(id) === true;
  const isLeftAlone = mode.onMatch === 'skip' || (mode.isSameIdLeftAlone && isSameId);
  const createDecision = (outcome: ImportedBook, json?: string): Decision =>
    ({ outcome, markedId: id, ...json === undefined ? {} : { json } });
  if (isLeftAlone && !isRepeated) {
    const isKnown = mode.onMatch !== 'skip' && hasMembers(bytes, record.fields);
    return createDecision({ id, outcome: isKnown ? 'unchanged' : 'exists', leftOut: [] });
  }
  // A repeated book is never written. For `skip` too, the version that `update` would make tells
  // whether the record says something else (`repeated`) or nothing new (`exists`).
  const version = createVersion(mode, id, bytes, record, isRepeated);
  const { before, members, isSame, leftOut, putAside } = version;
  const { passedOverNames, replacedNames, stayingNames } = version;
  const staying = mode.isVerbose && mode.onMatch === 'update'
    ? describeStaying(before, record.fields, mode.digestFormat) : {};
  const told = {
    leftOut, ...putAside.length === 0 ? {} : { putAside },
    ...version.hasLostLetters ? { hasLostLetters: true } : {},
    ...stayingNames.length === 0 ? {} : { stayingNames },
    ...passedOverNames.length === 0 ? {} : { passedOverNames },
  };
  if (isSame) {
    const outcome = isLeftAlone ? 'exists' : 'unchanged';
    return createDecision({
      id, outcome, ...told, ...mode.isVerbose ? { changes: staying } : {},
    });
  }
  if (isRepeated) return createDecision({ id, outcome: 'repeated', leftOut: [] });
  const isReplaced = mode.onMatch === 'replace';
  const outcome: ImportedBook = {
    id, outcome: isReplaced ? 'replaced' : 'updated', ...told,
    ...replacedNames.length === 0 ? {} : { replacedNames },
    ...mode.isVerbose ? { changes: { ...staying, ...describeChanges(before, members) } } : {},
  };
  return createDecision(outcome, isReplaced
    ? encodeBook(id, { ...record, fields: members }, bytes, nowMs)
    : encodeRecord(KEY, id, nextTimestamps(KEY, id, bytes, nowMs), members));
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
