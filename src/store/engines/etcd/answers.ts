/**
 * What etcd's JSON answers hold: numbers come as strings, and what is empty or false is left out.
 */
import { isJsonObject } from '../../../base/fields.ts';
import type { Fields } from './request.ts';

type KeyValue = {
  readonly key: string;
  readonly value: Buffer;
  /** Of etcd's history, in which it was last put. */
  readonly revision: number;
};

/** The keys and values of a range. */
export function keyValuesIn(range: Fields): readonly KeyValue[] {
  return objectsIn(range.kvs).map(({ key, value, mod_revision: revision }) => ({
    key: typeof key === 'string' ? key : '', revision: Number(revision),
    value: typeof value === 'string' ? Buffer.from(value, 'base64') : Buffer.alloc(0),
  }));
}

/** What each range in the answer to a transaction has found, in their order. */
export function rangesIn(transaction: Fields): readonly (readonly KeyValue[])[] {
  return objectsIn(transaction.responses).flatMap(({ response_range: range }) =>
    isJsonObject(range) ? [keyValuesIn(range)] : []);
}

/** Of etcd's history, as of the answer. */
export function revisionIn({ header }: Fields): number {
  return isJsonObject(header) ? Number(header.revision) : 0;
}

export function objectsIn(value: unknown): readonly Fields[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}
