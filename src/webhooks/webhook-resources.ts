/** Creates the repositories of the three resources, each of which may read the others. */
import type { Repository } from '../resources/repository.ts';
import type { Store, Transaction } from '../store/store-port.ts';
import type { ActionRegistry } from './actions/action-registry.ts';
import {
  createActionConfigurationRepository, findRecordsNaming,
} from './actions/action-configuration-repository.ts';
import type { OptionsChecks } from './actions/options-checks.ts';
import { listReferences } from './actions/configuration-references.ts';
import type { HealthMonitors } from './health/health-monitor.ts';
import { decodeIncomingWebhook, incomingCollection } from './incoming/incoming-webhook.ts';
import { createIncomingRepository } from './incoming/incoming-repository.ts';
import {
  createOutgoingRepository, type OutgoingRepositoryDeps,
} from './outgoing/outgoing-repository.ts';
import type { RemovalListener } from './durable-queue/end-pending.ts';
import { outgoingCollection } from './outgoing/outgoing-webhook.ts';
import { decodeOutgoingWebhook } from './outgoing/outgoing-webhook-index.ts';
import { formatWebhookLabel } from './webhook-label.ts';

/** The part of a webhook that names its configurations, and the one that names itself. */
type UsingWebhook =
  Parameters<typeof listReferences>[0] & Parameters<typeof formatWebhookLabel>[0];

export type WebhookResources = {
  readonly incoming: Repository;
  readonly configurations: Repository;
  readonly outgoing: Repository;
};

export function createWebhookResources(
  deps: Omit<OutgoingRepositoryDeps, 'removal' | 'health'> & {
    readonly actions: ActionRegistry;
    readonly optionsChecks: OptionsChecks;
    readonly removals: { readonly incoming: RemovalListener; readonly outgoing: RemovalListener };
    readonly health: HealthMonitors;
  },
): WebhookResources {
  const listUsers = (transaction: Transaction, identifier: string): string[] =>
    findUsers(deps.store, transaction, identifier);
  const { removals, health } = deps;
  return {
    incoming: createIncomingRepository({ ...deps, removal: removals.incoming,
      health: health.incoming }),
    configurations: createActionConfigurationRepository({ ...deps, listUsers }),
    outgoing: createOutgoingRepository({
      ...deps, removal: removals.outgoing, health: health.outgoing,
    }),
  };
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
    return stagedRecords.map(decode)
      .filter((webhook) => listReferences(webhook).some(({ name }) => name === configuration))
      .map(formatWebhookLabel);
  };
  return [
    ...findIn(incomingCollection.name, decodeIncomingWebhook),
    ...findIn(outgoingCollection.name, decodeOutgoingWebhook),
  ];
}
