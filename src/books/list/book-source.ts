/** The sources of the books of a response, and the JSON array that is made of them. */
import { frameArray } from '../../resources/json-array-stream.ts';
import type { Collection, Walk } from '../../store/store-port.ts';
import type { ConcurrentChanges } from './concurrent-changes.ts';
import type { BookEntry } from './top-k.ts';

/** The next part of the response's body, or null after its end. */
export type PullChunk = () => readonly Buffer[] | null;

/** The bytes of the next book, or undefined after the last. */
export type BookSource = () => Buffer | undefined;

// `streamWalk` sends slices of the store's memory, up to so many bytes at once.
// `streamSource` sends copies, so they are small enough for thousands of slow readers.
const SLICES_BYTES = 2 * 1024 * 1024;
const PIECE_BYTES = 64 * 1024;

const SEPARATOR = Buffer.from(',\n');
const END = Buffer.from(']\n');

export function sourceFromEntries(entries: readonly BookEntry[]): BookSource {
  let index = 0;
  return () => {
    const entry = entries[index];
    index += 1;
    return entry?.bytes;
  };
}

export function sourceFromWalk(collection: Collection, walk: Walk): BookSource {
  return () => {
    const slot = walk.next();
    return slot < 0 ? undefined : collection.bytesAt(slot);
  };
}

/**
 * The books that a scan found, as they were at that time. A book is skipped, and the response has
 * one fewer, if it changed since and so much had changed before that `changes` kept no copy of it.
 */
export function sourceFromSlots(slots: Uint32Array, changes: ConcurrentChanges): BookSource {
  let index = 0;
  return () => {
    for (let slot = slots[index]; slot !== undefined; slot = slots[index]) {
      index += 1;
      const bytes = changes.take(slot);
      if (bytes !== undefined) return bytes;
    }
    return undefined;
  };
}

/**
 * The rest of a walk as a JSON array: slices of the store, without copying. Between the books of a
 * slice stand the commas that the store has in its memory; the frame adds the others.
 */
export function streamWalk(walk: Walk): PullChunk {
  return streamArray(() => {
    const slices = walk.nextSlices(SLICES_BYTES);
    return slices.length === 0 ? null : slices;
  });
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

/**
 * The books of a source as a JSON array, copied together, as a slice for each costs more. Reads the
 * first book already now: a piece ends before the book that no longer fits, which is read by then.
 */
export function streamSource(source: BookSource): PullChunk {
  let nextBook = source();
  return streamArray(() => {
    if (nextBook === undefined) return null;
    const buffers = [nextBook];
    let length = nextBook.length;
    for (nextBook = source(); nextBook !== undefined; nextBook = source()) {
      if (length + nextBook.length > PIECE_BYTES) break;
      buffers.push(SEPARATOR, nextBook);
      length += SEPARATOR.length + nextBook.length;
    }
    return buffers.length === 1 ? buffers : [Buffer.concat(buffers, length)];
  });
}

/** Writes books in a format piece by piece, from their stored bytes. */
export interface BookTextWriter {
  /** Where it is there, it is shown all books of the answer before they are written. */
  prepare?(books: readonly Buffer[]): void;
  /** After `prepare`, where the file has another order: all books again, in id order. */
  prepareInIdOrder?(books: readonly Buffer[]): void;
  begin(): string;
  write(books: readonly Buffer[]): string;
  end(): string;
}

// So many bytes of books are written at once: to make BibTeX of them takes some milliseconds.
const WRITTEN_BYTES = 16 * 1024;

/** The books of a source as a writer writes them. */
export function streamText(source: BookSource, writer: BookTextWriter): PullChunk {
  let start = writer.begin();
  let isEnded = false;
  return () => {
    if (isEnded) return null;
    const books: Buffer[] = [];
    let length = 0;
    while (!isEnded && length < WRITTEN_BYTES) {
      const book = source();
      isEnded = book === undefined;
      if (book === undefined) break;
      books.push(book);
      length += book.length;
    }
    const text = start + writer.write(books) + (isEnded ? writer.end() : '');
    start = '';
    return [Buffer.from(text)];
  };
}

/** A body that is small enough to be sent at once, or else how to pull it from its start. */
type ListBody = { readonly whole: Buffer } | { readonly pull: PullChunk };

export function collectSmallBody(pull: PullChunk): ListBody {
  const pieces: (readonly Buffer[])[] = [];
  let length = 0;
  while (length <= PIECE_BYTES) {
    const piece = pull();
    if (piece === null) return { whole: Buffer.concat(pieces.flat(), length) };
    pieces.push(piece);
    for (const buffer of piece) length += buffer.length;
  }
  return { pull: () => pieces.shift() ?? pull() };
}

function streamArray(next: PullChunk): PullChunk {
  const frame = frameArray({ separator: SEPARATOR, end: END });
  return () => frame(next());
}
