/** The ids that a dry run of an import has met: it stores no books that could be looked up. */

// Some 30 MB. A larger set would hold the event loop for over 20 ms each time it grows.
const IDS_MAX = 250_000;

export class SeenIds {
  readonly #ids = new Set<string>();

  /** Adds the id. Returns whether it was there; ids beyond the limit are not remembered. */
  add(id: string): boolean {
    if (this.#ids.has(id)) return true;
    if (this.#ids.size < IDS_MAX) this.#ids.add(id);
    return false;
  }
}
