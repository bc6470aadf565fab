/** An order of books that follows a collection at once, with its naive model. */
import { SlotOrder } from '../../src/books/engine/slot-order.ts';
import type { OrderPosition } from '../../src/books/engine/slot-order.ts';
import type { SortOrder } from '../../src/books/query/book-sort.ts';
import { FakeCollection } from './fake-collection.ts';
import { naiveList } from './naive-list.ts';
import type { NaiveBook } from './naive-list.ts';
import { below } from './random.ts';
import type { Random } from './random.ts';
import { randomBook } from './random-books.ts';

export const ORDER_KEYS = ['title', 'author', 'datePublished', 'updatedAt', 'createdAt'] as const;

export class OrderHarness {
  readonly collection = new FakeCollection();
  readonly books = new Map<string, NaiveBook>();
  readonly order: SlotOrder;
  /** How often the order has read a book. */
  reads = 0;
  /** The books as the order knows them. */
  readonly #bytes = new Map<number, Buffer>();

  constructor(key: SortOrder['key']) {
    this.order = new SlotOrder(key, (slot) => {
      this.reads += 1;
      return this.#bytes.get(slot);
    });
    this.collection.onChange(({ before, after }, slot) => {
      if (before !== null) this.order.remove(slot);
      this.#bytes.delete(slot);
      if (after === null) return;
      this.#bytes.set(slot, after);
      this.order.insert(slot);
    });
  }

  put(book: NaiveBook): void {
    this.books.set(book.id, book);
    this.collection.put(book);
  }

  delete(id: string): void {
    this.books.delete(id);
    this.collection.delete(id);
  }

  /** Puts and deletes books at random, more of the one or of the other. */
  change(random: Random, count: number, deletedShare: number): void {
    for (let round = 0; round < count; round += 1) {
      const id = `id-${String(below(random, 100_000)).padStart(5, '0')}`;
      const [some] = this.collection.ids.slice(below(random, this.collection.size || 1));
      if (random() >= deletedShare) this.put(randomBook(random, random() < 0.1 ? some ?? id : id));
      else if (some !== undefined) this.delete(some);
    }
  }

  /** The books as `sort` orders them. */
  sorted(sort: string): readonly NaiveBook[] {
    return naiveList([...this.books.values()], { sort });
  }

  get size(): number { return this.ids.length; }

  /** How many slots stand before a position of the order. */
  countBefore({ block, position }: OrderPosition): number {
    let count = position;
    for (let index = 0; index < block; index += 1) count += this.order.countOf(index);
    return count;
  }

  get ids(): readonly string[] {
    const ids: string[] = [];
    for (let block = 0; block < this.order.end.block; block += 1) {
      for (const slot of this.order.slotsIn(block)) ids.push(this.collection.idAt(slot) ?? '');
    }
    return ids;
  }
}
