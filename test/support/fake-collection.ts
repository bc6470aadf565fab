/**
 * A collection to read from, written to at once. Unlike the memory store's it gives the slots of
 * deleted records to new ones, and stays quick with thousands of records.
 */
import type {
  Change, Collection, CollectionSpec, StoredRecord, Walk, WalkStart,
} from '../../src/store/store-port.ts';

export class FakeCollection implements Collection {
  readonly spec: CollectionSpec = { name: 'books', key: 'id' };
  readonly idByName: ReadonlyMap<string, string> = new Map();
  /** Called for each look at a record. */
  onRead: () => void = () => {};
  readonly #slots: ({ readonly id: string; readonly bytes: Buffer } | undefined)[] = [];
  readonly #free: number[] = [];
  readonly #slotOf = new Map<string, number>();
  readonly #listeners = new Set<(change: Change, slot: number) => void>();
  #ids: string[] = [];

  put<T extends { readonly id: string }>(record: T): void {
    const found = this.#slotOf.get(record.id);
    const slot = found ?? this.#free.pop() ?? this.#slots.length;
    if (found === undefined) this.#ids.splice(this.#rankOf(record.id), 0, record.id);
    this.#slotOf.set(record.id, slot);
    this.#apply(record.id, slot, Buffer.from(JSON.stringify(record)));
  }

  delete(id: string): void {
    const slot = this.#slotOf.get(id);
    if (slot === undefined) return;
    this.#slotOf.delete(id);
    this.#ids.splice(this.#rankOf(id), 1);
    this.#free.push(slot);
    this.#apply(id, slot, null);
  }

  get listenerCount(): number { return this.#listeners.size; }
  get ids(): readonly string[] { return this.#ids; }
  get size(): number { return this.#slotOf.size; }
  get slotBound(): number { return this.#slots.length; }
  get bytesTotal(): number {
    return this.#slots.reduce((sum, entry) => sum + (entry?.bytes.length ?? 0), 0);
  }

  find(id: string): StoredRecord | undefined {
    const bytes = this.bytesAt(this.findSlot(id));
    return bytes === undefined ? undefined : { bytes, representation: undefined };
  }

  findBytes(id: string): Buffer | undefined { return this.find(id)?.bytes; }
  findSlot(id: string): number { return this.#slotOf.get(id) ?? -1; }
  idAt(slot: number): string | undefined { return this.#slots[slot]?.id; }

  bytesAt(slot: number): Buffer | undefined {
    this.onRead();
    return this.#slots[slot]?.bytes;
  }

  walk({ after = null, isDescending = false }: WalkStart = {}): Walk {
    let last = after;
    const next = (): number => {
      const rank = this.#nextRank(last, isDescending);
      const id = this.#ids[rank];
      if (id === undefined) return -1;
      last = id;
      return this.findSlot(id);
    };
    const nextRuns = (bytesMax: number): readonly Buffer[] => {
      const runs: Buffer[] = [];
      for (let bytes = 0; bytes < bytesMax;) {
        const record = this.bytesAt(next());
        if (record === undefined) break;
        runs.push(...runs.length > 0 ? [Buffer.from(',\n')] : [], record);
        bytes += record.length;
      }
      return runs;
    };
    return { next, nextSlices: nextRuns };
  }

  onChange(listener: (change: Change, slot: number) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #apply(id: string, slot: number, after: Buffer | null): void {
    const before = this.#slots[slot]?.bytes ?? null;
    this.#slots[slot] = after === null ? undefined : { id, bytes: after };
    const change = { collection: this.spec.name, id, before, after };
    for (const listener of this.#listeners) listener(change, slot);
  }

  #nextRank(last: string | null, isDescending: boolean): number {
    if (last === null) return isDescending ? this.#ids.length - 1 : 0;
    const rank = this.#rankOf(last);
    if (isDescending) return rank - 1;
    return this.#ids[rank] === last ? rank + 1 : rank;
  }

  /** How many ids sort before this one. */
  #rankOf(id: string): number {
    let low = 0;
    let high = this.#ids.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#ids[middle] ?? '') < id) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
