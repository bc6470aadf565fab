/** Parses etcd's JSON: numbers are strings there, and empty or false members are left out. */
import { isJsonObject } from '../../../base/fields.ts';
import type { JsonFields } from './etcd-request.ts';

type KeyValue = {
  readonly key: string;
  readonly value: Buffer;
  /** Revision of etcd's history at which the key was last put. */
  readonly revision: number;
};

/** The keys and values of a range. */
export function parseKeyValues(range: JsonFields): readonly KeyValue[] {
  return filterObjects(range.kvs).map(({ key, value, mod_revision: revision }) => ({
    key: typeof key === 'string' ? key : '', revision: Number(revision),
    value: typeof value === 'string' ? Buffer.from(value, 'base64') : Buffer.alloc(0),
  }));
}

/** Returns the matches of each range in the response to a transaction, in the order of ranges. */
export function parseRanges(transaction: JsonFields): readonly (readonly KeyValue[])[] {
  return filterObjects(transaction.responses).flatMap(({ response_range: range }) =>
    isJsonObject(range) ? [parseKeyValues(range)] : []);
}

/** The revision of etcd's history as of the response. */
export function parseRevision({ header }: JsonFields): number {
  return isJsonObject(header) ? Number(header.revision) : 0;
}

export function filterObjects(value: unknown): readonly JsonFields[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}
