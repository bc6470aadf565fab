/** The configuration as it is stored: the records of the three kinds, and a tag for all of them. */
import { loadCrypto } from '../../base/node-modules.ts';
import type { JsonObject } from '../../base/schema.ts';
import { decodeRecord, sliceHead } from '../../resources/record.ts';
import { findCommitted } from '../../store/find-record.ts';
import type { Store, Transaction } from '../../store/store-port.ts';
import { findSet } from '../applied-records.ts';
import { RECORD_KINDS, type RecordKind } from './record-kinds.ts';

/** Where records are read: a transaction, or what is committed. */
type RecordSource = Pick<Transaction, 'find' | 'listIds'>;

export type ConfiguredRecord = {
  readonly id: string;
  readonly bytes: Buffer;
  readonly members: JsonObject;
  /** What a document finds it by; null: an outgoing webhook without a name. */
  readonly name: string | null;
  /** The set in which an apply has created it; null: none has. */
  readonly set: string | null;
};

export type StoredConfiguration = {
  /**
   * A strong tag of all records. It is made of their keys and times: `updatedAt` rises with every
   * write of a record. It is not made of secrets, which a reader of the tag could then try out.
   */
  readonly etag: string;
  readonly records: ReadonlyMap<RecordKind, readonly ConfiguredRecord[]>;
};

/** Reads what is committed. */
export function createCommittedSource(store: Pick<Store, 'collection'>): RecordSource {
  return {
    find: findCommitted(store),
    listIds(name) {
      const collection = store.collection(name);
      const walk = collection.walk();
      const ids: string[] = [];
      for (let slot = walk.next(); slot !== -1; slot = walk.next()) {
        ids.push(collection.idAt(slot) ?? '');
      }
      return ids;
    },
  };
}

export function readStoredConfiguration(source: RecordSource): StoredConfiguration {
  const hash = loadCrypto().createHash('sha256');
  const records = new Map<RecordKind, readonly ConfiguredRecord[]>();
  for (const kind of RECORD_KINDS) {
    hash.update(`${kind.collection.name}\n`);
    records.set(kind, readRecords(source, kind, (head) => hash.update(head)));
  }
  return { etag: `"${hash.digest('base64url')}"`, records };
}

/** The tag alone. */
export function computeConfigurationTag(source: RecordSource): string {
  return readStoredConfiguration(source).etag;
}

function readRecords(
  source: RecordSource, { collection, naming }: RecordKind, onHead: (head: Buffer) => void,
): readonly ConfiguredRecord[] {
  return source.listIds(collection.name).flatMap((id) => {
    const bytes = source.find(collection.name, id);
    if (bytes === undefined) return [];
    onHead(sliceHead(collection.key, id, bytes));
    const members = decodeRecord(bytes);
    const name = members[naming];
    const createdAt = String(members['createdAt']);
    return [{
      id, bytes, members, name: typeof name === 'string' ? name : null,
      set: findSet(source, { collection: collection.name, id, createdAt }),
    }];
  });
}
