/** Values that are costly to make, by key. The few that were used last are kept. */
export class RecentValues<Value> {
  readonly #countMax: number;
  /** The value that was used longest ago comes first. */
  readonly #values = new Map<string, Value>();

  constructor(countMax: number) {
    this.#countMax = countMax;
  }

  /** Returns the kept value of the key, or makes it, in place of the value used longest ago. */
  use(key: string, make: () => Value): Value {
    const value = this.#values.get(key) ?? make();
    this.#values.delete(key);
    this.#values.set(key, value);
    const [oldestKey = ''] = this.#values.keys();
    if (this.#values.size > this.#countMax) this.#values.delete(oldestKey);
    return value;
  }

  values(): Iterable<Value> {
    return this.#values.values();
  }
}
