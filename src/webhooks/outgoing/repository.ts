/** Outgoing webhooks as they are kept: only with an action configuration that there is. */
import { createRepository, type Repository } from '../../resources/repository.ts';
import type { Store } from '../../store/store-port.ts';
import { countConfigurationUses } from '../actions/action-configuration-repository.ts';
import { listReferences } from '../actions/configuration-references.ts';
import { stageHealthRemoval, type HealthMonitor } from '../health/health-monitor.ts';
import { observeHealth } from '../health/public-health.ts';
import { forgetFailures } from './disabling.ts';
import { checkTarget } from '../http/check-target.ts';
import type { RemovalListener } from '../durable-queue/end-pending.ts';
import { outgoingResource, showOutgoing } from './resource.ts';
import { decodeOutgoing } from './webhook-index.ts';

export type OutgoingParts = {
  readonly store: Store;
  readonly now: () => number;
  readonly makeId: () => string;
  readonly isDeniedTarget: (url: string) => boolean;
  readonly removal: RemovalListener;
  readonly health: HealthMonitor;
};

export function createOutgoing(parts: OutgoingParts): Repository {
  const { removal } = parts;
  const moveName = countConfigurationUses('outgoing', parts.store, (bytes) =>
    listReferences(decodeOutgoing(bytes)));
  return createRepository({
    ...parts,
    afterRemoved: (identifier) => removal.afterRemoved(identifier),
    resource: {
      ...outgoingResource, toPublic: (record) => showOutgoing(record, parts.now()),
      observe: (record) => observeHealth(parts.health, record),
    },
    onChange(transaction, change, drawn) {
      checkTarget(change, '/targetUrl', targetOf, parts.isDeniedTarget);
      moveName(transaction, change, drawn);
      forgetFailures(transaction, change.id);
      if (change.after !== null) return;
      stageHealthRemoval(transaction, change.id);
      removal.onRemoved(transaction, change.id, drawn.nowMs);
    },
  });
}

function targetOf(hook: Buffer): string {
  return decodeOutgoing(hook).targetUrl;
}
