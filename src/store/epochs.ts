/**
 * An epoch is the part of a log that one process has written. It begins with a record that no other
 * history of the log has, so that two logs can be told apart although their sequences are the same:
 * after a restore, the transactions 51 to 100 may be others than before. The record
 *
 *   {"id":"<UUID>","after":N}        in the collection `epochs`
 *
 * stands in the first transaction that the process writes; N is the sequence before that one. A
 * state at sequence N whose last epoch is E is a part of a log when that log has E, and its next
 * epoch, if there is one, begins at N or later.
 *
 * A log has epochs once it has been followed (followers/followers.ts): the first follower begins
 * one, and from then on every process that writes does. Logs in an engine have none: their entries
 * are chained (replication/log-entry.ts).
 */
import { isCount, isJsonObject } from '../base/fields.ts';
import { walkRecords } from './find-record.ts';
import type { Collection, CollectionSpec, Transaction } from './store-port.ts';

export const EPOCHS: CollectionSpec = { name: 'epochs', key: 'id' };

type EpochRecord = { readonly id: string; readonly after: number };

/** The state of a log after a transaction, and the epoch that wrote that transaction. */
export type EpochPosition = { readonly epoch: string; readonly sequence: number };

/** Older epochs are removed: a state of their time is too old to be recognised. */
const EPOCHS_MAX = 1000;

/** All epochs of a log, in its order. */
export function listEpochs(collection: Collection): readonly EpochRecord[] {
  return [...walkRecords(collection)].flatMap(({ bytes }) => parseEpoch(bytes) ?? [])
    .sort((left, right) => left.after - right.after);
}

/** Whether a state at `position` is a part of the log that has these epochs and this sequence. */
export function isPartOfLog(
  position: EpochPosition, epochs: readonly EpochRecord[], sequence: number,
): boolean {
  const index = epochs.findIndex(({ id }) => id === position.epoch);
  const epoch = epochs[index];
  if (epoch === undefined || position.sequence <= epoch.after) return false;
  return position.sequence <= (epochs[index + 1]?.after ?? sequence);
}

type EpochDeps = {
  readonly collection: Collection;
  /** The last sequence that is committed. */
  readonly sequence: () => number;
  readonly makeId: () => string;
  /** Calls `onStaged`, while it is set, with each transaction that has staged something. */
  readonly commit: { onStaged: ((transaction: Transaction) => void) | null };
};

/** The epoch of this process: staged with the first transaction that writes something. */
export class Epoch {
  readonly #deps: EpochDeps;
  #id: string | null = null;

  constructor(deps: EpochDeps) {
    this.#deps = deps;
    if (deps.collection.size > 0) this.#stageWithNext();
  }

  #stageWithNext(): void {
    this.#deps.commit.onStaged = (transaction) => this.stage(transaction);
  }

  /** Called with each transaction that has staged something, until the epoch is committed. */
  stage(transaction: Transaction): void {
    const { collection, sequence, makeId, commit } = this.#deps;
    const id = this.#id ??= makeId();
    if (collection.findSlot(id) !== -1) {
      commit.onStaged = null;
      return;
    }
    // An earlier transaction that is not committed yet may have it: that may still be refused.
    if (transaction.find(EPOCHS.name, id) !== undefined) return;
    const epoch: EpochRecord = { id, after: sequence() };
    transaction.put(EPOCHS.name, id, JSON.stringify(epoch));
    const oldEpochs = listEpochs(collection).slice(0, 1 - EPOCHS_MAX);
    for (const { id } of oldEpochs) transaction.delete(EPOCHS.name, id);
  }

  /** Stages the epoch in a log that has none; such a log has not been followed before. */
  begin(transaction: Transaction): void {
    if (this.#deps.collection.size > 0) return;
    this.#stageWithNext();
    this.stage(transaction);
  }
}

function parseEpoch(bytes: Buffer): EpochRecord | null {
  const value: unknown = JSON.parse(bytes.toString());
  if (!isJsonObject(value) || typeof value.id !== 'string' || !isCount(value.after)) return null;
  return { id: value.id, after: value.after };
}
