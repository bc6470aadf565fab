/**
 * An order of books that follows a collection, at once or when `apply` is called, with its naive
 * model.
 */
import { SlotOrder } from '../../src/books/engine/slot-order.ts';
import type { SortOrder } from '../../src/books/query/book-sort.ts';
import { FakeCollection } from './fake-collection.ts';
import { naiveList } from './naive-list.ts';
import type { NaiveBook } from './naive-list.ts';
import { below } from './random.ts';
import type { Random } from './random.ts';
import { randomBook } from './random-books.ts';
import { runAll } from './turns.ts';

export const ORDER_KEYS = [
  'title', 'author', 'datePublished', 'updatedAt', 'createdAt', 'rating', 'finishedOn',
] as const;

export class OrderHarness {
  readonly collection = new FakeCollection();
  readonly books = new Map<string, NaiveBook>();
  readonly order: SlotOrder;
  /** How often a book was read. */
  reads = 0;
  /** Whether changes wait for `apply`. */
  isHeld = false;
  readonly pending = new Set<number>();

  constructor(key: SortOrder['key']) {
    this.order = new SlotOrder(key, this.collection, this.readBook);
    runAll(this.order.settle());
    this.collection.onChange((_, slot) => {
      this.pending.add(slot);
      if (!this.isHeld) this.apply();
    });
  }

  /** The book in a slot, unless a change of it is pending. */
  readonly readBook = (slot: number): Buffer | undefined => {
    this.reads += 1;
    return this.pending.has(slot) ? undefined : this.collection.bytesAt(slot);
  };

  apply(): void {
    for (const slot of this.pending) {
      this.order.set(slot, this.collection.bytesAt(slot));
      this.pending.delete(slot);
    }
    runAll(this.order.settle());
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

  sorted(sort: string): readonly NaiveBook[] {
    return naiveList([...this.books.values()], { sort });
  }

  get size(): number { return this.ids.length; }

  /** The slots of the order, up to a position, but those that are pending. */
  slotsBefore(position: number): readonly number[] {
    const slots: number[] = [];
    this.order.snapshot().findFirst(0, position, (slot) => {
      if (!this.pending.has(slot)) slots.push(slot);
      return false;
    });
    return slots;
  }

  get slots(): readonly number[] { return this.slotsBefore(this.order.snapshot().end); }
  get ids(): readonly string[] {
    return this.slots.map((slot) => this.collection.idAt(slot) ?? '');
  }
}
