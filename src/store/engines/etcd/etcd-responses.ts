/**
 * What etcd's JSON answers hold: numbers come as strings, and what is empty or false is left out.
 */
import { isJsonObject } from '../../../base/fields.ts';
import type { JsonFields } from './etcd-request.ts';

type KeyValue = {
  readonly key: string;
  readonly value: Buffer;
  /** Of etcd's history, in which it was last put. */
  readonly revision: number;
};

/** The keys and values of a range. */
export function parseKeyValues(range: JsonFields): readonly KeyValue[] {
  return filterObjects(range.kvs).map(({ key, value, mod_revision: revision }) => ({
    key: typeof key === 'string' ? key : '', revision: Number(revision),
    value: typeof value === 'string' ? Buffer.from(value, 'base64') : Buffer.alloc(0),
  }));
}

/** What each range in the answer to a transaction has found, in their order. */
export function parseRanges(transaction: JsonFields): readonly (readonly KeyValue[])[] {
  return filterObjects(transaction.responses).flatMap(({ response_range: range }) =>
    isJsonObject(range) ? [parseKeyValues(range)] : []);
}

/** Of etcd's history, as of the answer. */
export function parseRevision({ header }: JsonFields): number {
  return isJsonObject(header) ? Number(header.revision) : 0;
}

export function filterObjects(value: unknown): readonly JsonFields[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}
