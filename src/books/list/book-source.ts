/**
 * The sources of the books of a response, the bodies that are made of them, and the cache of the
 * one that has all books.
 */
import { frameArray } from '../../resources/json-array-stream.ts';
import type { Collection, Walk } from '../../store/store-port.ts';
import type { ConcurrentChanges } from './concurrent-changes.ts';

/** The next part of the response's body, or null after its end. */
type PullChunk = () => readonly Buffer[] | null;

/** The bytes of each book. */
export type BookSource = Iterable<Buffer>;

// `streamWalk` sends slices of the store's memory, up to so many bytes at once.
// `writeArray` makes copies, so they are small enough for thousands of slow readers.
const SLICES_BYTES = 2 * 1024 * 1024;
const PIECE_BYTES = 64 * 1024;

const START = Buffer.from('[');
const SEPARATOR = Buffer.from(',\n');
const END = Buffer.from(']\n');

export function* sourceFromWalk(collection: Collection, walk: Walk): BookSource {
  for (let slot = walk.next(); slot >= 0; slot = walk.next()) {
    const bytes = collection.bytesAt(slot);
    if (bytes !== undefined) yield bytes;
  }
}

/**
 * The books that a scan found, as they were at that time. A book is skipped, and the response has
 * one fewer, if it changed since and so much had changed before that `changes` kept no copy of it.
 */
export function* sourceFromSlots(slots: Uint32Array, changes: ConcurrentChanges): BookSource {
  for (const slot of slots) {
    const bytes = changes.take(slot);
    if (bytes !== undefined) yield bytes;
  }
}

/**
 * The rest of a walk as a JSON array: slices of the store, without copying. Between the books of a
 * slice stand the commas that the store has in its memory; the frame adds the others.
 */
export function streamWalk(walk: Walk): PullChunk {
  const frame = frameArray({ separator: SEPARATOR, end: END });
  return () => {
    const slices = walk.nextSlices(SLICES_BYTES);
    return frame(slices.length === 0 ? null : slices);
  };
}

/** A whole body that is one buffer: it comes with the first call, and then null. */
export function streamBuffer(buffer: Buffer): PullChunk {
  let isSent = false;
  return () => {
    if (isSent) return null;
    isSent = true;
    return [buffer];
  };
}

/** The pieces of a JSON array of books: copied together, as a slice for each costs more. */
export function* writeArray(books: BookSource): Iterable<Buffer> {
  let separator = START;
  let buffers: Buffer[] = [];
  let length = 0;
  for (const book of books) {
    // A piece ends before the book that no longer fits.
    if (length > 0 && length + book.length > PIECE_BYTES) {
      yield Buffer.concat(buffers, length);
      buffers = [];
      length = 0;
    }
    buffers.push(separator, book);
    length += separator.length + book.length;
    separator = SEPARATOR;
  }
  yield Buffer.concat(separator === START ? [START, END] : [...buffers, END]);
}

/** Writes books in a format piece by piece, from their stored bytes. */
export interface BookTextWriter {
  /**
   * If a writer has it, it is shown all books of the answer before they are written, so that what a
   * book is called can depend on those after it.
   */
  prepare?(books: readonly Buffer[]): void;
  /** After `prepare`, where the file has another order: all books again, in id order. */
  prepareInIdOrder?(books: readonly Buffer[]): void;
  begin(): string;
  write(books: readonly Buffer[]): string;
  end(): string;
}

// So many bytes of books are written at once: to make BibTeX of them takes some milliseconds.
const WRITTEN_BYTES = 16 * 1024;

/** The pieces of the text that a writer makes of books. */
export function* writeText(source: BookSource, writer: BookTextWriter): Iterable<Buffer> {
  let text = writer.begin();
  let books: Buffer[] = [];
  let length = 0;
  for (const book of source) {
    books.push(book);
    length += book.length;
    if (length < WRITTEN_BYTES) continue;
    yield Buffer.from(text + writer.write(books));
    text = '';
    books = [];
    length = 0;
  }
  yield Buffer.from(text + writer.write(books) + writer.end());
}

/** A body that is small enough to be sent at once, or else how to pull it from its start. */
type ListBody = { readonly whole: Buffer } | { readonly pull: PullChunk };

export function createBody(pieces: Iterable<Buffer>): ListBody {
  const first: Buffer[] = [];
  let length = 0;
  const rest = pieces[Symbol.iterator]();
  while (length <= PIECE_BYTES) {
    const piece = rest.next();
    if (piece.done === true) return { whole: Buffer.concat(first, length) };
    first.push(piece.value);
    length += piece.value.length;
  }
  return {
    pull() {
      const buffer = first.shift();
      if (buffer !== undefined) return [buffer];
      const piece = rest.next();
      return piece.done === true ? null : [piece.value];
    },
  };
}

const CACHED_BYTES_MAX = 8 * 2 ** 20;
// The separator after a book.
const BYTES_PER_BOOK = 2;

/**
 * Caches the whole collection as one buffer while it is read repeatedly and nobody writes. To
 * gather the same bytes from the store takes a sixth more CPU time (10 000 books: 0.92 instead of
 * 0.78 ms, bench `get-all`). Only small collections are cached, because slow readers keep older
 * versions in memory too.
 *
 * The function that is returned gives the collection as a JSON array: the cached one, or one that
 * is built now. It gives null when the collection is to be streamed, as it is large or was written
 * a moment ago.
 */
export function createWholeCatalogCache(collection: Collection): () => Buffer | null {
  let buffer: Buffer | null = null;
  /** Set while nothing has been written since the last request. */
  let unsubscribe: (() => void) | null = null;
  const drop = (): void => {
    unsubscribe?.();
    unsubscribe = null;
    buffer = null;
  };
  return () => {
    if (buffer !== null) return buffer;
    const { bytesTotal, size } = collection;
    if (bytesTotal + size * BYTES_PER_BOOK > CACHED_BYTES_MAX) return null;
    if (unsubscribe === null) {
      // The first request after a change is streamed: under writes, no buffer would be used twice.
      unsubscribe = collection.onChange(drop);
      return null;
    }
    const pull = streamWalk(collection.walk());
    const pieces: Buffer[] = [];
    for (let next = pull(); next !== null; next = pull()) pieces.push(...next);
    buffer = Buffer.concat(pieces);
    return buffer;
  };
}
