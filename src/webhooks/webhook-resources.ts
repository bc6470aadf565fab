/** Creates the repositories of the three resources, each of which may read the others. */
import type { Repository } from '../resources/repository.ts';
import type { Store } from '../store/store-port.ts';
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
  const listUsers = (identifier: string): string[] => findUsers(deps.store, identifier);
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

/** The labels of the webhooks that use a configuration, as committed. */
function findUsers(store: Store, configuration: string): string[] {
  const isUser = (webhook: Parameters<typeof listReferences>[0]): boolean =>
    listReferences(webhook).some(({ name }) => name === configuration);
  const incoming = [...findRecordsNaming(store.collection(incomingCollection.name), configuration)]
    .map(decodeIncomingWebhook).filter(isUser);
  const outgoing = [...findRecordsNaming(store.collection(outgoingCollection.name), configuration)]
    .map(decodeOutgoingWebhook).filter(isUser);
  return [
    ...incoming.map(formatWebhookLabel),
    ...outgoing.map(formatWebhookLabel),
  ];
}
