/** How often each name has occurred, of names that a file makes up: a bounded number of them. */
const NAMES_MAX = 1000;
const NAME_LENGTH_MAX = 200;
const OTHERS = '…';

export class NameCounts {
  readonly #counts = new Map<string, number>();

  get isEmpty(): boolean {
    return this.#counts.size === 0;
  }

  /** Counts the name; one that is new after NAMES_MAX others counts as `…`. */
  add(name: string): void {
    const short = name.slice(0, NAME_LENGTH_MAX).toWellFormed();
    const counted = this.#counts.has(short) || this.#counts.size < NAMES_MAX ? short : OTHERS;
    this.#counts.set(counted, (this.#counts.get(counted) ?? 0) + 1);
  }

  toObject(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#counts);
  }
}
