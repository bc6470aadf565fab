/** A collection of books that is written to at once, without transactions. */
import { listCommittedIds } from '../../src/store/find-record.ts';
import { StoredCollection } from '../../src/store/records/collection.ts';

export class FakeCollection extends StoredCollection {
  /** Called for each look at a record. */
  onRead: () => void = () => {};
  listenerCount = 0;

  constructor() {
    super({ name: 'books', key: 'id' });
  }

  get ids(): readonly string[] { return listCommittedIds(this, ''); }

  put<T extends { readonly id: string }>(record: T): void {
    this.apply({ collection: 'books', id: record.id, bytes: Buffer.from(JSON.stringify(record)) });
  }

  delete(id: string): void {
    if (this.findSlot(id) !== -1) this.apply({ collection: 'books', id, bytes: null });
  }

  override bytesAt(slot: number): Buffer | undefined {
    this.onRead();
    return super.bytesAt(slot);
  }

  override onChange(listener: Parameters<StoredCollection['onChange']>[0]): () => void {
    const end = super.onChange(listener);
    this.listenerCount += 1;
    return () => {
      this.listenerCount -= 1;
      end();
    };
  }
}
