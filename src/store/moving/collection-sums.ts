/**
 * Checksums of records, whichever store they are in: the SHA-256 of all records of a collection in
 * the order of their keys, each followed by a line feed. Two stores with equal checksums hold the
 * same records, byte by byte.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { AppError } from '../../base/errors.ts';
import { loadCrypto } from '../../base/node-modules.ts';
import { walkRecords } from '../find-record.ts';
import type { Collection } from '../store-port.ts';

export type CollectionSum = {
  readonly collection: string;
  readonly records: number;
  /** In hex. */
  readonly sha256: string;
};

// About 3 ms: a server may be at work in the same process.
const RECORDS_A_TURN = 5000;

/** Sorted by the collections' names. */
export async function sumCollections(
  collections: ReadonlyMap<string, Collection>,
): Promise<readonly CollectionSum[]> {
  const sums: CollectionSum[] = [];
  for (const name of [...collections.keys()].sort()) {
    const collection = collections.get(name);
    if (collection !== undefined) sums.push(await sumCollection(name, collection));
  }
  return sums;
}

/** One SHA-256, in hex, for all collections. */
export function computeDigest(sums: readonly CollectionSum[]): string {
  const text = sums.map(({ collection, records, sha256 }) =>
    `${collection} ${records} ${sha256}\n`).join('');
  return loadCrypto().createHash('sha256').update(text).digest('hex');
}

/**
 * Throws `damaged` where a collection of `expected` is missing from `actual`, or differs there.
 * `what` names, for the message, where `actual` was read.
 */
export function checkSums(
  expected: readonly CollectionSum[], actual: readonly CollectionSum[], what: string,
): void {
  const byName = new Map(actual.map((sum) => [sum.collection, sum]));
  for (const { collection, records, sha256 } of expected) {
    const actualSum = byName.get(collection);
    if (actualSum?.records === records && actualSum.sha256 === sha256) continue;
    throw new AppError('damaged', `${what}: the ${collection} are not those that were to be there `
      + `(${actualSum?.records ?? 0} records where there are ${records}, or other ones)`);
  }
}

async function sumCollection(name: string, collection: Collection): Promise<CollectionSum> {
  const hash = loadCrypto().createHash('sha256');
  let records = 0;
  for (const { bytes } of walkRecords(collection)) {
    hash.update(bytes).update('\n');
    records += 1;
    if (records % RECORDS_A_TURN === 0) await nextTurn();
  }
  return { collection: name, records, sha256: hash.digest('hex') };
}
