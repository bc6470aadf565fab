/** When something was out of order: spans on the clock of the test, which are its own record. */
export type Outage = { readonly beginMs: number; readonly endMs: number };

export class Outages {
  readonly #over: Outage[] = [];
  #sinceMs: number | null = null;

  /** All until now; one that goes on ends now. */
  get spans(): readonly Outage[] {
    return this.#sinceMs === null ? this.#over
      : [...this.#over, { beginMs: this.#sinceMs, endMs: performance.now() }];
  }

  /** It is out of order, since `sinceMs`. */
  begin(sinceMs = performance.now()): void {
    this.#sinceMs ??= sinceMs;
  }

  end(): void {
    if (this.#sinceMs === null) return;
    this.#over.push({ beginMs: this.#sinceMs, endMs: performance.now() });
    this.#sinceMs = null;
  }

  /** It broke, and is in order again at once. */
  tick(): void {
    const nowMs = performance.now();
    if (this.#sinceMs === null) this.#over.push({ beginMs: nowMs, endMs: nowMs });
  }
}
