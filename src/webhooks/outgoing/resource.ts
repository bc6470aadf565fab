/** Outgoing webhooks as a resource: masked, and tied to their action configuration. */
import { createRepository, type Repository } from '../../resources/repository.ts';
import type { Resource } from '../../resources/resource.ts';
import type { Store, Transaction } from '../../store/port.ts';
import { configurationUse } from '../actions/resource.ts';
import { mask, unmask, urlsIn } from '../http/mask.ts';
import { hideSecret, keepSecret, maskedBase } from '../http/secret.ts';
import { readOutgoing } from './webhook-index.ts';
import { outgoingCollection, outgoingSchema } from './webhook.ts';

export const outgoingResource: Resource = {
  path: '/api/outgoing-webhooks',
  noun: 'outgoing webhook',
  plural: 'outgoing webhooks',
  schema: outgoingSchema,
  collection: outgoingCollection,
  // They decide where data goes: more than whoever keeps the catalog may change.
  access: { read: 'read', write: 'admin' },
  patchBase: maskedBase,
  reconcile: (body, current, cause) => unmask(keepSecret(body, current, cause), current,
    ({ targetUrl }) => urlsIn(targetUrl)),
  present: (record) => mask(hideSecret(record)),
  columns: [
    { title: 'IDENTIFIER', member: 'identifier', form: 'identifier' },
    { title: 'METHOD', member: 'httpMethod', importance: 2 },
    { title: 'TARGET', member: 'targetUrl', widthMin: 24 },
    { title: 'ENABLED', member: 'enabled' },
    { title: 'SECRET', member: 'hasSecret', importance: 1 },
    { title: 'EVENT', member: 'triggerEvent', widthMin: 12 },
  ],
};

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
    readOutgoing(bytes).actionConfiguration);
  return createRepository({
    ...parts, resource: outgoingResource,
    onChange(transaction, change, drawn) {
      moveName(transaction, change, drawn);
      if (change.after === null) parts.onRemoved(transaction, change.id, drawn.nowMs);
    },
  });
}
