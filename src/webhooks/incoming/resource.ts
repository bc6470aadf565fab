/** Incoming webhooks as a resource: where they are served and kept, masked, and listed. */
import type { Resource } from '../../resources/resource.ts';
import { mask, unmask } from '../http/mask.ts';
import { hideSecret, keepSecret } from '../http/secret.ts';
import { incomingCollection, incomingSchema } from './incoming-webhook.ts';

export const incomingResource: Resource = {
  path: '/api/incoming-webhooks',
  noun: 'incoming webhook',
  plural: 'incoming webhooks',
  schema: incomingSchema,
  collection: incomingCollection,
  // They decide what may come in: more than whoever keeps the catalog may change.
  access: { read: 'read', write: 'admin' },
  reconcile: (body, current, cause) => unmask(keepSecret(body, current, cause), current),
  present: (record) => mask(hideSecret(record)),
  columns: [
    { title: 'IDENTIFIER', member: 'identifier', form: 'identifier', importance: 3 },
    { title: 'PATH SEGMENT', member: 'pathSegment', isWhole: true },
    { title: 'ENABLED', member: 'enabled' },
    { title: 'SECRET', member: 'hasSecret', importance: 2 },
    { title: 'METHODS', member: 'allowedMethods', importance: 1 },
    { title: 'ACTION CONFIGURATION', member: 'actionConfiguration', form: 'identifier' },
  ],
};
