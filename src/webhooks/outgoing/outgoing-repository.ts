/**
 * The repository of outgoing webhooks. A webhook may only name an action configuration that exists,
 * and a target that is not on the deny list. Removing a webhook ends its deliveries.
 */
import { createRepository, type Repository } from '../../resources/repository.ts';
import type { Store } from '../../store/store-port.ts';
import { stageMarkRemoval } from '../applied-records.ts';
import { createUseCheck } from '../actions/action-configuration-repository.ts';
import { listReferences } from '../actions/configuration-references.ts';
import { stageHealthRemoval, type HealthMonitor } from '../health/health-monitor.ts';
import { observeHealth, type HostWait } from '../health/public-health.ts';
import { stageFailingReset } from './automatic-disabling.ts';
import { checkTarget } from '../http/target-rules.ts';
import type { RemovalListener } from '../durable-queue/end-pending.ts';
import { outgoingResource, toPublicOutgoingWebhook } from './outgoing-resource.ts';
import { decodeOutgoingWebhook } from './outgoing-webhook-index.ts';

export type OutgoingRepositoryDeps = {
  readonly store: Store;
  readonly now: () => number;
  readonly makeId: () => string;
  readonly isDeniedTarget: (url: string) => boolean;
  readonly removal: RemovalListener;
  readonly health: HealthMonitor;
  readonly findHostWait: (identifier: string) => HostWait | null;
};

export function createOutgoingRepository(deps: OutgoingRepositoryDeps): Repository {
  const { removal } = deps;
  const checkUses = createUseCheck('outgoing', deps.store, (bytes) =>
    listReferences(decodeOutgoingWebhook(bytes)));
  return createRepository({
    ...deps,
    afterRemoved: (identifier) => removal.afterRemoved(identifier),
    // These members need the clock and the health monitor, which outgoing-resource.ts has not.
    resource: {
      ...outgoingResource, toPublic: (record) => toPublicOutgoingWebhook(record, deps.now()),
      observe: (record) => observeHealth(
        deps.health, record, deps.now(), deps.findHostWait(String(record['identifier']))),
    },
    stageWithChange(transaction, change, inputs) {
      checkTarget(change, '/targetUrl', decodeTargetUrl, deps.isDeniedTarget);
      checkTarget(change, '/oauth2/tokenUrl', findTokenUrl, deps.isDeniedTarget);
      checkUses(transaction, change, inputs);
      stageMarkRemoval(transaction, change);
      stageFailingReset(transaction, change.id);
      if (change.after !== null) return;
      stageHealthRemoval(transaction, change.id);
      removal.onRemoved(transaction, change.id, inputs.nowMs);
    },
  });
}

function decodeTargetUrl(bytes: Buffer): string {
  return decodeOutgoingWebhook(bytes).targetUrl;
}

function findTokenUrl(bytes: Buffer): string | null {
  return decodeOutgoingWebhook(bytes).oauth2?.tokenUrl ?? null;
}
