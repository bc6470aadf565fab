/** A binary heap: `peek` and `pop` give the least item, by the order it was made with. */
export class PriorityQueue<T> {
  readonly #isLess: (left: T, right: T) => boolean;
  #items: T[] = [];

  constructor(isLess: (left: T, right: T) => boolean) {
    this.#isLess = isLess;
  }

  get size(): number {
    return this.#items.length;
  }

  peek(): T | undefined {
    return this.#items[0];
  }

  push(item: T): void {
    const items = this.#items;
    let index = items.length;
    items.push(item);
    while (index > 0) {
      const parent = (index - 1) >> 1;
      const above = items[parent];
      if (above === undefined || !this.#isLess(item, above)) break;
      items[index] = above;
      index = parent;
    }
    items[index] = item;
  }

  pop(): T | undefined {
    const items = this.#items;
    const least = items[0];
    const last = items.pop();
    if (last === undefined || items.length === 0) return least;
    let index = 0;
    for (;;) {
      let child = 2 * index + 1;
      let below = items[child];
      if (below === undefined) break;
      const right = items[child + 1];
      if (right !== undefined && this.#isLess(right, below)) {
        child += 1;
        below = right;
      }
      if (!this.#isLess(below, last)) break;
      items[index] = below;
      index = child;
    }
    items[index] = last;
    return least;
  }

  popWhile(shouldDrop: (item: T) => boolean): void {
    for (let least = this.peek(); least !== undefined && shouldDrop(least); least = this.peek()) {
      this.pop();
    }
  }

  clear(): void {
    this.#items = [];
  }

  /** Drops every item that `shouldKeep` refuses. */
  prune(shouldKeep: (item: T) => boolean): void {
    const remaining = this.#items.filter(shouldKeep);
    this.#items = [];
    for (const item of remaining) this.push(item);
  }
}
