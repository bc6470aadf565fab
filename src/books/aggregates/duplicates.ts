/**
 * Duplicates: groups of books with the same ISBN, or with the same title and first author. Books
 * whose `bookEdition` differs are no duplicates, nor are those of one title whose subtitles behind
 * `: ` differ. A book without one is in the group of the first book of its key that has one.
 *
 * They are found in three steps. A scan notes the slot of each book and a hash of its key: 16 bytes
 * a book. The books are sorted by hash: 8 bytes more. Of those that share a hash the keys
 * themselves are compared, because different keys may have one hash: some 50 bytes for each of
 * these books. Then only the slots of the duplicates are held, 8 bytes each and 20 a group. The
 * groups are sent in the order of their least ids, and their books are read again while they are
 * sent.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { crc32 } from 'node:zlib';
import { sortIndexes } from '../../base/structures/merge-sort.ts';
import type { Exchange, Pull } from '../../server/http-route.ts';
import { malformed, readQuery } from '../../server/query.ts';
import type { Steps } from '../../base/turns.ts';
import type { ConcurrentChanges } from '../list/concurrent-changes.ts';
import { NumberList } from '../list/sort-columns.ts';
import type { MatchSearch } from '../list/open-search.ts';
import { createExchangeCaller } from '../list/search-books.ts';
import type { SearchDeps } from '../list/search-books.ts';
import { ID_SORT } from '../query/book-sort.ts';
import { NO_CORRECTIONS } from '../query/corrections.ts';
import { NO_CONDITIONS } from '../query/book-filter.ts';
import { DUPLICATE_MEMBERS, duplicatesParameter } from '../query/query-parameters.ts';
import type { DuplicateKey } from '../query/query-parameters.ts';
import { selectMembers } from '../query/select-members.ts';
import { readBookEdition, readIsbn } from '../query/stored-fields.ts';
import { readTitleKey, splitTitleKey } from '../query/title-key.ts';
import { eachMatch, searchMatches } from './match-scan.ts';

/** The slots of all groups, one group after the other. */
type DuplicateGroups = {
  readonly slots: NumberList;
  /** For each group the index of its first slot. */
  readonly starts: NumberList;
  /** For each group where its first book stands among all books. */
  readonly positions: NumberList;
};

/** A book that shares its hash with another, and where it stands among all. */
type KeyedBook = { readonly slot: number; readonly position: number } & BookKey;

/** The key that duplicates share, and the values that keep books with one key apart. */
type BookKey = {
  readonly key: string;
  readonly subtitle: string | null;
  readonly edition: string | null;
};

/** The slots of the books that have a key, in id order, and the hashes of their keys. */
type HashedSlots = { readonly slots: NumberList; readonly hashes: NumberList };

const ALL_BOOKS = {
  filter: NO_CONDITIONS, sort: ID_SORT, corrections: NO_CORRECTIONS, mayCorrect: false,
};
const MEMBERS = new Set(DUPLICATE_MEMBERS);
const PIECE_BYTES = 64 * 1024;
const COMMA = Buffer.from(',');
// A look at a slot counts as so many bytes that are read, beside those of its book.
const SLOT_BYTES = 32;
const SLOTS_PER_YIELD = 1024;
// Bytes of books to compare before yielding, some 20 µs.
const BYTES_PER_YIELD = 4096;

/** Handles `GET /api/books/duplicates`. Throws `malformed`. */
export async function sendDuplicates(deps: SearchDeps, exchange: Exchange): Promise<void> {
  const { by } = readQuery(exchange.search, [duplicatesParameter]);
  if (by === null) {
    throw malformed('`by` is required: `by=isbn` or `by=title` says what duplicates have in '
      + 'common');
  }
  const { result, changes } = await searchMatches(deps, ALL_BOOKS, createExchangeCaller(exchange),
    (search) => findDuplicates(search, by), () => false);
  try {
    await exchange.sendStream(200, ['Content-Type', 'application/json'],
      streamGroups(result.groups, result.order, changes));
  } finally {
    changes.stop();
  }
}

function* findDuplicates(
  search: MatchSearch, by: DuplicateKey,
): Steps<{ readonly groups: DuplicateGroups; readonly order: Uint32Array }> {
  const books = yield* hashKeys(search, by);
  const groups = yield* groupByKey(search, by, books);
  search.changes.stopRecording();
  const { positions } = groups;
  const order = yield* sortIndexes(positions.length, (left, right) =>
    positions.at(left) - positions.at(right));
  return { groups, order };
}

function* hashKeys(search: MatchSearch, by: DuplicateKey): Steps<HashedSlots> {
  const slots = new NumberList();
  const hashes = new NumberList();
  yield* eachMatch(search, (bytes, slot) => {
    const bookKey = readKey(bytes, by);
    if (bookKey === null) return;
    slots.push(slot);
    hashes.push(crc32(bookKey.key));
  });
  return { slots, hashes };
}

/** Compares the keys of books that share a hash. `changes` keeps the books of the groups. */
function* groupByKey(
  { collection, changes }: MatchSearch, by: DuplicateKey, { slots, hashes }: HashedSlots,
): Steps<DuplicateGroups> {
  // Books of one hash stay in the order of their ids.
  const order = yield* sortIndexes(slots.length, (left, right) =>
    hashes.at(left) - hashes.at(right));
  const groups = {
    slots: new NumberList(), starts: new NumberList(), positions: new NumberList(),
  };
  // NaN after the last, which equals no hash.
  const hashAt = (index: number): number =>
    index < order.length ? hashes.at(order[index] ?? 0) : NaN;
  let bytesRead = 0;
  for (let start = 0, end = 0; start < order.length; start = end) {
    const isShared = hashAt(start + 1) === hashAt(start);
    const books: KeyedBook[] = [];
    for (end = start; hashAt(end) === hashAt(start); end += 1) {
      const position = order[end] ?? 0;
      const slot = slots.at(position);
      const bytes = isShared ? collection.bytesAt(slot) : undefined;
      const bookKey = bytes === undefined ? null : readKey(bytes, by);
      // A book that has another key now was changed meanwhile.
      if (bookKey !== null && crc32(bookKey.key) === hashAt(start)) {
        changes.keepUntilTaken(slot);
        books.push({ slot, position, ...bookKey });
      }
      bytesRead += SLOT_BYTES + (bytes?.length ?? 0);
      if (bytesRead < BYTES_PER_YIELD) continue;
      bytesRead = 0;
      yield;
    }
    for (const group of splitGroups(books)) yield* addGroup(groups, group, changes);
  }
  return groups;
}

/** The groups of books of one hash; each keeps their order. */
function splitGroups(books: readonly KeyedBook[]): readonly (readonly KeyedBook[])[] {
  return groupBooks(books, ({ key }) => key)
    .flatMap((group) => groupBooks(group, ({ subtitle }) => subtitle))
    .flatMap((group) => groupBooks(group, ({ edition }) => edition));
}

/** Books without a text are in the group of the first text. */
function groupBooks(
  books: readonly KeyedBook[], readApart: (book: KeyedBook) => string | null,
): readonly (readonly KeyedBook[])[] {
  const firstText = books.map(readApart).find((text) => text !== null) ?? null;
  const groups = new Map<string | null, KeyedBook[]>();
  for (const book of books) {
    const text = readApart(book) ?? firstText;
    const group = groups.get(text);
    if (group === undefined) groups.set(text, [book]);
    else group.push(book);
  }
  return [...groups.values()];
}

/** Adds a group of two books or more; the book of another is not kept. */
function* addGroup(
  groups: DuplicateGroups, books: readonly KeyedBook[], changes: ConcurrentChanges,
): Steps<void> {
  const [first, second] = books;
  if (first === undefined) return;
  if (second === undefined) {
    changes.take(first.slot);
    return;
  }
  groups.starts.push(groups.slots.length);
  groups.positions.push(first.position);
  for (const { slot } of books) {
    groups.slots.push(slot);
    if (groups.slots.length % SLOTS_PER_YIELD === 0) yield;
  }
}

/** Null when the book has no key. */
function readKey(bytes: Buffer, by: DuplicateKey): BookKey | null {
  const edition = readBookEdition(bytes);
  if (by === 'isbn') {
    const isbn = readIsbn(bytes);
    return isbn === null ? null : { key: isbn, subtitle: null, edition };
  }
  const { key, subtitle } = splitTitleKey(readTitleKey(bytes));
  return { key: JSON.stringify(key), subtitle, edition };
}

/**
 * The groups as a JSON array. A piece ends after so many bytes of books that were looked at, and
 * the event loop serves others before the next.
 */
function streamGroups(
  groups: DuplicateGroups, order: Uint32Array, changes: ConcurrentChanges,
): Pull {
  const parts = encodeGroups(groups, order, changes);
  return async () => {
    const piece: Buffer[] = [];
    while (piece.length === 0) {
      await nextTurn();
      for (let bytes = 0; bytes < PIECE_BYTES;) {
        const next = parts.next();
        if (next.done === true) return piece.length === 0 ? null : [Buffer.concat(piece)];
        if (next.value.json !== null) piece.push(next.value.json);
        bytes += next.value.bytesRead;
      }
    }
    return [Buffer.concat(piece)];
  };
}

/** `json` is null after a look at a book that is not sent, or not yet. */
type JsonPart = { readonly json: Buffer | null; readonly bytesRead: number };

/**
 * As in the list, a book that changed since may be missing when much else has changed, too. A group
 * that has lost all books but one is no group of duplicates any more.
 */
function* encodeGroups(
  { slots, starts }: DuplicateGroups, order: Uint32Array, changes: ConcurrentChanges,
): Generator<JsonPart, void, void> {
  let groupStart = '[{"books":[';
  for (const group of order) {
    // Held back until there is a second one.
    let first: Buffer | null = null;
    let isOpen = false;
    const end = group + 1 < starts.length ? starts.at(group + 1) : slots.length;
    for (let index = starts.at(group); index < end; index += 1) {
      const bytes = changes.take(slots.at(index));
      const book = bytes === undefined ? null : selectMembers(bytes, MEMBERS);
      let json: Buffer | null = null;
      if (isOpen && book !== null) json = Buffer.concat([COMMA, book]);
      else if (first === null) first = book;
      else if (book !== null) {
        json = Buffer.concat([Buffer.from(groupStart), first, COMMA, book]);
        isOpen = true;
      }
      yield { json, bytesRead: SLOT_BYTES + (bytes?.length ?? 0) };
    }
    if (isOpen) groupStart = ']},\n{"books":[';
  }
  const end = groupStart.startsWith('[') ? '[]\n' : ']}]\n';
  yield { json: Buffer.from(end), bytesRead: 0 };
}
