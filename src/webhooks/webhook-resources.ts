/**
 * Creates the repositories of the three resources, each of which may read the others. A webhook may
 * only name an action configuration that exists. The removal of a webhook ends its health and its
 * pending work.
 */
import { Repository } from '../resources/repository.ts';
import type { Resource } from '../resources/resource.ts';
import type { Change, Store, Transaction } from '../store/store-port.ts';
import type { ActionRegistry } from './actions/action-registry.ts';
import {
  createActionConfigurationRepository, createUseCheck, findRecordsNaming,
} from './actions/action-configuration-repository.ts';
import type { OptionsChecks } from './actions/options-checks.ts';
import {
  listReferences, refersTo, type UsingWebhook,
} from './actions/configuration-references.ts';
import { stageMarkRemoval } from './applied-records.ts';
import type { HealthMonitors } from './health/health-monitor.ts';
import { observeHealth, type HostWait } from './health/public-health.ts';
import { checkTarget } from './members/target-rules.ts';
import { decodeIncomingWebhook, incomingCollection } from './incoming/incoming-webhook.ts';
import { incomingResource, toPublicIncomingWebhook } from './incoming/incoming-resource.ts';
import type { RemovalListener } from './work/end-pending.ts';
import { outgoingResource, toPublicOutgoingWebhook } from './outgoing/outgoing-resource.ts';
import { outgoingCollection } from './outgoing/outgoing-webhook.ts';
import { decodeOutgoingWebhook } from './outgoing/outgoing-webhook-index.ts';
import type { RelayContext } from './relay-context.ts';
import { formatWebhookLabel } from './webhook-label.ts';

export type WebhookResources = {
  readonly incoming: Repository;
  readonly configurations: Repository;
  readonly outgoing: Repository;
};

type ResourceServices = {
  readonly actions: ActionRegistry;
  readonly optionsChecks: OptionsChecks;
  readonly removals: { readonly incoming: RemovalListener; readonly outgoing: RemovalListener };
  readonly health: HealthMonitors;
  readonly isDeniedTarget: (url: string) => boolean;
  readonly findHostWait: (identifier: string) => HostWait | null;
};

export function createWebhookResources(
  context: RelayContext, services: ResourceServices,
): WebhookResources {
  const { store, clock } = context;
  const { actions, optionsChecks, findHostWait, isDeniedTarget } = services;
  return {
    incoming: createWebhookRepository(context, services, 'incoming', {
      ...incomingResource, toPublic: (record) => toPublicIncomingWebhook(record, clock.now()),
    }, decodeIncomingWebhook),
    configurations: createActionConfigurationRepository(
      context, actions, optionsChecks, isDeniedTarget,
      (transaction, identifier) => findUsers(store, transaction, identifier)),
    outgoing: createWebhookRepository(context, services, 'outgoing', {
      ...outgoingResource, toPublic: (record) => toPublicOutgoingWebhook(record, clock.now()),
    }, decodeOutgoingWebhook, {
      findWait: findHostWait,
      check(change) {
        checkTarget(change, '/targetUrl', (bytes) =>
          decodeOutgoingWebhook(bytes).targetUrl, isDeniedTarget);
        checkTarget(change, '/oauth2/tokenUrl', (bytes) =>
          decodeOutgoingWebhook(bytes).oauth2?.tokenUrl ?? null, isDeniedTarget);
      },
    }),
  };
}

/** The rules that one kind of webhook alone has. */
type OwnRules = {
  readonly findWait?: (identifier: string) => HostWait | null;
  readonly check?: (change: Change) => void;
};

function createWebhookRepository(
  context: RelayContext, services: ResourceServices, direction: 'incoming' | 'outgoing',
  resource: Resource, decode: (bytes: Buffer) => UsingWebhook,
  { findWait, check }: OwnRules = {},
): Repository {
  const { store, clock } = context;
  const removal = services.removals[direction];
  const health = services.health[direction];
  const checkUses = createUseCheck(direction, store, (bytes) => listReferences(decode(bytes)));
  return new Repository({
    ...context,
    afterRemoved: (identifier) => removal.endPending(identifier),
    resource: {
      ...resource,
      observe: (record) => observeHealth(
        health, record, clock.now(), findWait?.(String(record['identifier']))),
    },
    stageWithChange(transaction, change, inputs) {
      check?.(change);
      checkUses(transaction, change, inputs);
      stageMarkRemoval(transaction, change);
      if (change.after !== null) return;
      health.stageRemoval(transaction, change.id);
      removal.stageEndOfPending(transaction, change.id, inputs.nowMs);
    },
  });
}

/**
 * The labels of the webhooks that use a configuration, but of those that the transaction removes or
 * gives another one.
 */
function findUsers(store: Store, transaction: Transaction, configuration: string): string[] {
  const findIn = (collection: string, decode: (bytes: Buffer) => UsingWebhook): string[] => {
    const committedRecords = [...findRecordsNaming(store.collection(collection), configuration)];
    const stagedRecords = committedRecords.flatMap((bytes) =>
      transaction.find(collection, decode(bytes).identifier) ?? []);
    return stagedRecords.map(decode).filter((webhook) => refersTo(webhook, configuration))
      .map(formatWebhookLabel);
  };
  return [
    ...findIn(incomingCollection.name, decodeIncomingWebhook),
    ...findIn(outgoingCollection.name, decodeOutgoingWebhook),
  ];
}
