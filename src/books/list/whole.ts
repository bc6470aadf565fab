/**
 * The whole collection as one buffer, for as long as it is asked for again and again and nobody
 * writes: sending one buffer is twice as fast as gathering the same bytes from the store (10 000
 * books: 0.43 against 0.9 ms). Only for small collections, so that what it holds, and what slow
 * readers of older versions hold, stays small too.
 */
import type { Collection } from '../../store/port.ts';
import { streamWalk } from './source.ts';

const BYTES_MAX = 8 * 2 ** 20;
// About the separator after each book.
const BYTES_PER_BOOK = 2;

export class WholeBuffer {
  readonly #collection: Collection;
  #buffer: Buffer | null = null;
  /** Set while nothing was written since somebody asked. */
  #unsubscribe: (() => void) | null = null;

  constructor(collection: Collection) {
    this.#collection = collection;
  }

  /** The collection as a JSON array, or null when it is to be streamed. */
  find(): Buffer | null {
    if (this.#buffer !== null) return this.#buffer;
    const { bytesTotal, size } = this.#collection;
    if (bytesTotal + size * BYTES_PER_BOOK > BYTES_MAX) return null;
    if (this.#unsubscribe === null) {
      // The first after a change: among writers, a buffer would be made for one answer each.
      this.#unsubscribe = this.#collection.onChange(() => this.#drop());
      return null;
    }
    const pull = streamWalk(this.#collection.walk());
    const pieces: Buffer[] = [];
    for (let some = pull(); some !== null; some = pull()) pieces.push(...some);
    this.#buffer = Buffer.concat(pieces);
    return this.#buffer;
  }

  #drop(): void {
    this.#unsubscribe?.();
    this.#unsubscribe = null;
    this.#buffer = null;
  }
}
