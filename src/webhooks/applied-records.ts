/**
 * The marks of the action configurations and webhooks that an apply has created
 * (webhooks/configuration/): each says in which set.
 *
 *     {"identifier":"<collection>.<identifier>","set":"<set>","createdAt":"<the record's>"}
 *
 * A mark is written with its record and deleted with it. It counts only while the record has the
 * same `createdAt`: a release that knows no marks may have deleted the record, and somebody may
 * have made one of the same identifier since.
 */
import { decodeRecordAs } from '../resources/record.ts';
import type { Change, CollectionSpec, Transaction } from '../store/store-port.ts';

export const appliedCollection: CollectionSpec = { name: 'applied-records', key: 'identifier' };

/** A record that an apply has created. */
type AppliedRecord = {
  readonly collection: string; readonly id: string; readonly createdAt: string;
};

/** Stages the mark of a new record. */
export function stageMark(
  transaction: Transaction, { collection, id, createdAt }: AppliedRecord, set: string,
): void {
  const identifier = createMarkId(collection, id);
  transaction.put(appliedCollection.name, identifier,
    JSON.stringify({ identifier, set, createdAt }));
}

/** Stages the end of a removed record's mark, if it has one. */
export function stageMarkRemoval(
  transaction: Transaction, { collection, id, after }: Pick<Change, 'collection' | 'id' | 'after'>,
): void {
  if (after === null) transaction.delete(appliedCollection.name, createMarkId(collection, id));
}

/** The set in which an apply has created the record; null: no apply has created it. */
export function findSet(
  source: Pick<Transaction, 'find'>, { collection, id, createdAt }: AppliedRecord,
): string | null {
  const bytes = source.find(appliedCollection.name, createMarkId(collection, id));
  if (bytes === undefined) return null;
  const mark = decodeRecordAs<{ readonly set: string; readonly createdAt: string }>(bytes,
    (record) => typeof record['set'] === 'string' && typeof record['createdAt'] === 'string');
  return mark.createdAt === createdAt ? mark.set : null;
}

function createMarkId(collection: string, id: string): string {
  return `${collection}.${id}`;
}
