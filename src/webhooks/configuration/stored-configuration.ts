/** The configuration as it is stored: the records of the three kinds, and a tag for all of them. */
import { loadCrypto } from '../../base/node-modules.ts';
import type { JsonObject } from '../../base/schema.ts';
import { decodeRecord, sliceHead } from '../../resources/record.ts';
import { findCommitted, listCommittedIds } from '../../store/find-record.ts';
import type { Store, Transaction } from '../../store/store-port.ts';
import { findSet } from '../applied-records.ts';
import { RECORD_KINDS, type RecordKind } from './record-kinds.ts';

/** A transaction, or what is committed. */
type RecordSource = Pick<Transaction, 'find' | 'listIds'>;

export type ConfiguredRecord = {
  readonly id: string;
  readonly bytes: Buffer;
  readonly members: JsonObject;
  /** A document finds the record by it (`RecordKind.naming`); null: a webhook has no name. */
  readonly name: string | null;
  /** The set in which an apply has created the record; null: no apply has. */
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

export function createCommittedSource(store: Pick<Store, 'collection'>): RecordSource {
  return {
    find: findCommitted(store),
    listIds: (name) => listCommittedIds(store.collection(name)),
  };
}

export function readStoredConfiguration(source: RecordSource): StoredConfiguration {
  const bytesByKind = readRecordBytes(source);
  return {
    etag: computeTag(bytesByKind),
    records: new Map([...bytesByKind].map(([kind, list]) =>
      [kind, list.map((record) => decodeConfiguredRecord(source, kind, record))])),
  };
}

export function computeConfigurationTag(source: RecordSource): string {
  return computeTag(readRecordBytes(source));
}

type StoredBytes = Pick<ConfiguredRecord, 'id' | 'bytes'>;
type BytesByKind = ReadonlyMap<RecordKind, readonly StoredBytes[]>;

function readRecordBytes(source: RecordSource): BytesByKind {
  return new Map(RECORD_KINDS.map((kind) => {
    const { name } = kind.collection;
    return [kind, source.listIds(name).flatMap((id) => {
      const bytes = source.find(name, id);
      return bytes === undefined ? [] : [{ id, bytes }];
    })];
  }));
}

function computeTag(stored: BytesByKind): string {
  const hash = loadCrypto().createHash('sha256');
  for (const [{ collection: { name, key } }, records] of stored) {
    hash.update(`${name}\n`);
    for (const { id, bytes } of records) hash.update(sliceHead(key, id, bytes));
  }
  return `"${hash.digest('base64url')}"`;
}

function decodeConfiguredRecord(
  source: RecordSource, { collection, naming }: RecordKind, { id, bytes }: StoredBytes,
): ConfiguredRecord {
  const members = decodeRecord(bytes);
  const name = members[naming];
  const createdAt = String(members['createdAt']);
  return {
    id, bytes, members, name: typeof name === 'string' ? name : null,
    set: findSet(source, { collection: collection.name, id, createdAt }),
  };
}
