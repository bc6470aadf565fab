/** Which ids a rehearsed import has met, where nothing is stored that could tell. */

// Some 30 MB. A set of twice as many would hold the event loop for over 20 ms each time it grows.
const IDS_MAX = 250_000;

export class SeenIds {
  readonly #ids = new Set<string>();

  /** Whether the id was added before; adds it. Of ids beyond the limit it does not know. */
  add(id: string): boolean {
    if (this.#ids.has(id)) return true;
    if (this.#ids.size < IDS_MAX) this.#ids.add(id);
    return false;
  }
}
