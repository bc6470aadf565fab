/** The three resources put together: each may look at what the others hold. */
import type { Repository } from '../resources/repository.ts';
import type { Store } from '../store/store-port.ts';
import type { ActionRegistry } from './actions/registry.ts';
import { createConfigurations, recordsNaming } from './actions/repository.ts';
import { referencesOf } from './actions/references.ts';
import type { HealthMonitors } from './health/monitor.ts';
import { decodeIncomingWebhook, incomingCollection } from './incoming/incoming-webhook.ts';
import { createIncomingRepository } from './incoming/incoming-repository.ts';
import { createOutgoing, type OutgoingParts } from './outgoing/repository.ts';
import type { RemovalListener } from './durable-queue/end-pending.ts';
import { outgoingCollection } from './outgoing/webhook.ts';
import { decodeOutgoing } from './outgoing/webhook-index.ts';
import { webhookLabel } from './webhook-label.ts';

export type Resources = {
  readonly incoming: Repository;
  readonly configurations: Repository;
  readonly outgoing: Repository;
};

export function createResources(
  parts: Omit<OutgoingParts, 'removal' | 'health'> & {
    readonly actions: ActionRegistry;
    readonly removals: { readonly incoming: RemovalListener; readonly outgoing: RemovalListener };
    readonly health: HealthMonitors;
  },
): Resources {
  const usersOf = (identifier: string): string[] => findUsers(parts.store, identifier);
  const { removals, health } = parts;
  return {
    incoming: createIncomingRepository({ ...parts, removal: removals.incoming,
      health: health.incoming }),
    configurations: createConfigurations({ ...parts, usersOf }),
    outgoing: createOutgoing({ ...parts, removal: removals.outgoing, health: health.outgoing }),
  };
}

/** What a person knows the hooks by that use a configuration, as committed. */
function findUsers(store: Store, configuration: string): string[] {
  const isUser = (hook: Parameters<typeof referencesOf>[0]): boolean =>
    referencesOf(hook).some(({ name }) => name === configuration);
  const incoming = [...recordsNaming(store.collection(incomingCollection.name), configuration)]
    .map(decodeIncomingWebhook).filter(isUser);
  const outgoing = [...recordsNaming(store.collection(outgoingCollection.name), configuration)]
    .map(decodeOutgoing).filter(isUser);
  return [
    ...incoming.map(webhookLabel),
    ...outgoing.map(webhookLabel),
  ];
}
