/** Values that are costly to make, by key. The few that were used last are kept. */
export class RecentValues<Value> {
  readonly #countMax: number;
  /** The one that was used longest ago comes first. */
  readonly #values = new Map<string, Value>();

  constructor(countMax: number) {
    this.#countMax = countMax;
  }

  /** The value of the key, kept or made now. The one that was used longest ago may go for it. */
  use(key: string, make: () => Value): Value {
    const value = this.#values.get(key) ?? make();
    this.#values.delete(key);
    this.#values.set(key, value);
    const [oldestKey = ''] = this.#values.keys();
    if (this.#values.size > this.#countMax) this.#values.delete(oldestKey);
    return value;
  }

  /** All that are kept. */
  values(): Iterable<Value> {
    return this.#values.values();
  }
}
