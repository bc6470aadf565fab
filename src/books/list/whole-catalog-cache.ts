/**
 * Caches the whole collection as one buffer while it is read repeatedly and nobody writes. To
 * gather the same bytes from the store takes a sixth more CPU time (10 000 books: 0.92 instead of
 * 0.78 ms, bench `get-all`). Only small collections are cached, because slow readers keep older
 * versions in memory too.
 */
import type { Collection } from '../../store/store-port.ts';
import { streamWalk } from './book-source.ts';

const BYTES_MAX = 8 * 2 ** 20;
// The separator after a book.
const BYTES_PER_BOOK = 2;

export class WholeCatalogCache {
  readonly #collection: Collection;
  #buffer: Buffer | null = null;
  /** Set while nothing has been written since the last request. */
  #unsubscribe: (() => void) | null = null;

  constructor(collection: Collection) {
    this.#collection = collection;
  }

  /**
   * The collection as a JSON array: the cached one, or one that is built now. Null when the
   * collection is to be streamed, as it is large or was written a moment ago.
   */
  findOrBuild(): Buffer | null {
    if (this.#buffer !== null) return this.#buffer;
    const { bytesTotal, size } = this.#collection;
    if (bytesTotal + size * BYTES_PER_BOOK > BYTES_MAX) return null;
    if (this.#unsubscribe === null) {
      // The first request after a change is streamed: under writes, no buffer would be used twice.
      this.#unsubscribe = this.#collection.onChange(() => this.#drop());
      return null;
    }
    const pull = streamWalk(this.#collection.walk());
    const pieces: Buffer[] = [];
    for (let next = pull(); next !== null; next = pull()) pieces.push(...next);
    this.#buffer = Buffer.concat(pieces);
    return this.#buffer;
  }

  #drop(): void {
    this.#unsubscribe?.();
    this.#unsubscribe = null;
    this.#buffer = null;
  }
}
