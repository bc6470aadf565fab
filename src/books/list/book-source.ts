/** Where the books of a response come from, and the JSON array that is made of them. */
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
const RUN_BYTES = 2 * 1024 * 1024;
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

/** The books that a scan found, as they were at that time. */
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

/** The rest of a walk as a JSON array: slices of the store, without copying. */
export function streamWalk(walk: Walk): PullChunk {
  return streamArray(() => {
    const runs = walk.nextSlices(RUN_BYTES);
    return runs.length === 0 ? null : runs;
  });
}

/** A whole body that is one buffer. */
export function streamBuffer(buffer: Buffer): PullChunk {
  let pieces: readonly Buffer[] | null = [buffer];
  return () => {
    const next = pieces;
    pieces = null;
    return next;
  };
}

/** The books of a source as a JSON array, copied together, as a slice for each costs more. */
export function streamSource(source: BookSource): PullChunk {
  let pending = source();
  return streamArray(() => {
    if (pending === undefined) return null;
    const books = [pending];
    let length = pending.length;
    for (pending = source(); pending !== undefined; pending = source()) {
      if (length + pending.length > PIECE_BYTES) break;
      books.push(SEPARATOR, pending);
      length += SEPARATOR.length + pending.length;
    }
    return books.length === 1 ? books : [Buffer.concat(books, length)];
  });
}

function streamArray(next: PullChunk): PullChunk {
  const frame = frameArray({ separator: SEPARATOR, end: END });
  return () => frame(next());
}
