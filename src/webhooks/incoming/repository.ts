/** Incoming webhooks as they are kept: only with action configurations that there are. */
import { createRepository, type Repository } from '../../resources/repository.ts';
import type { Store } from '../../store/store-port.ts';
import { configurationUse } from '../actions/repository.ts';
import { referencesOf } from '../actions/references.ts';
import { forgetHealth, type HealthMonitor } from '../health/monitor.ts';
import { observeHealth } from '../health/shown.ts';
import type { RemovalListener } from '../durable-queue/end-pending.ts';
import { incomingResource, showIncoming } from './resource.ts';
import { decodeIncoming } from './webhook.ts';

export function createIncoming(parts: {
  readonly store: Store; readonly now: () => number; readonly makeId: () => string;
  readonly removal: RemovalListener; readonly health: HealthMonitor;
}): Repository {
  const { removal } = parts;
  const moveName = configurationUse('incoming', parts.store, (bytes) =>
    referencesOf(decodeIncoming(bytes)));
  return createRepository({
    ...parts,
    afterRemoved: (identifier) => removal.afterRemoved(identifier),
    resource: {
      ...incomingResource, toPublic: (record) => showIncoming(record, parts.now()),
      observe: (record) => observeHealth(parts.health, record),
    },
    onChange(transaction, change, drawn) {
      moveName(transaction, change, drawn);
      if (change.after !== null) return;
      forgetHealth(transaction, change.id);
      removal.onRemoved(transaction, change.id, drawn.nowMs);
    },
  });
}
