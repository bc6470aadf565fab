/** Outgoing webhooks as they are kept: only with an action configuration that there is. */
import { createRepository, type Repository } from '../../resources/repository.ts';
import type { Store, Transaction } from '../../store/port.ts';
import { configurationUse } from '../actions/repository.ts';
import { referencesOf } from '../actions/references.ts';
import { forgetFailures } from './disabling.ts';
import { outgoingResource, showOutgoing } from './resource.ts';
import { decodeOutgoing } from './webhook-index.ts';

export type OutgoingParts = {
  readonly store: Store;
  readonly now: () => number;
  readonly makeId: () => string;
  /** Stages what goes with a webhook that is removed. */
  readonly onRemoved: (transaction: Transaction, identifier: string, nowMs: number) => void;
  /** Called once the removal is on disk. */
  readonly afterRemoved: (identifier: string) => Promise<void>;
};

export function createOutgoing(parts: OutgoingParts): Repository {
  const moveName = configurationUse('outgoing', parts.store, (bytes) =>
    referencesOf(decodeOutgoing(bytes)));
  return createRepository({
    ...parts,
    resource: { ...outgoingResource, present: (record) => showOutgoing(record, parts.now()) },
    onChange(transaction, change, drawn) {
      moveName(transaction, change, drawn);
      forgetFailures(transaction, change.id);
      if (change.after === null) parts.onRemoved(transaction, change.id, drawn.nowMs);
    },
  });
}
