/** The repository of incoming webhooks. It accepts only action configurations that exist. */
import { createRepository, type Repository } from '../../resources/repository.ts';
import type { Store } from '../../store/store-port.ts';
import { createUseCheck } from '../actions/action-configuration-repository.ts';
import { listReferences } from '../actions/configuration-references.ts';
import { stageHealthRemoval, type HealthMonitor } from '../health/health-monitor.ts';
import { observeHealth } from '../health/public-health.ts';
import { stageMarkRemoval } from '../applied-records.ts';
import type { RemovalListener } from '../durable-queue/end-pending.ts';
import { incomingResource, toPublicIncomingWebhook } from './incoming-resource.ts';
import { decodeIncomingWebhook } from './incoming-webhook.ts';

export function createIncomingRepository(deps: {
  readonly store: Store; readonly now: () => number; readonly makeId: () => string;
  readonly removal: RemovalListener; readonly health: HealthMonitor;
}): Repository {
  const { removal } = deps;
  const checkUses = createUseCheck('incoming', deps.store, (bytes) =>
    listReferences(decodeIncomingWebhook(bytes)));
  return createRepository({
    ...deps,
    afterRemoved: (identifier) => removal.afterRemoved(identifier),
    // These members need the clock and the health monitor, which incoming-resource.ts has not.
    resource: {
      ...incomingResource, toPublic: (record) => toPublicIncomingWebhook(record, deps.now()),
      observe: (record) => observeHealth(deps.health, record, deps.now()),
    },
    stageWithChange(transaction, change, inputs) {
      checkUses(transaction, change, inputs);
      stageMarkRemoval(transaction, change);
      if (change.after !== null) return;
      stageHealthRemoval(transaction, change.id);
      removal.onRemoved(transaction, change.id, inputs.nowMs);
    },
  });
}
