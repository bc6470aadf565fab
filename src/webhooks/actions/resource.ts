/** Action configurations as a resource: where they are served and kept, masked, and listed. */
import type { Resource } from '../../resources/resource.ts';
import { mask, unmask, urlsIn } from '../http/mask.ts';
import { maskedBase } from '../http/secret.ts';
import { configurationCollection, configurationSchema } from './action-configuration.ts';

export const configurationResource: Resource = {
  path: '/api/action-configurations',
  noun: 'action configuration',
  plural: 'action configurations',
  schema: configurationSchema,
  collection: configurationCollection,
  // They decide where data goes: more than whoever keeps the catalog may change.
  access: { read: 'read', write: 'admin' },
  isKeyGiven: true,
  patchBase: maskedBase,
  reconcile: (body, current) => unmask(body, current, ({ options }) => urlsIn(options)),
  toPublic: mask,
  columns: [
    { title: 'IDENTIFIER', member: 'identifier', form: 'identifier' },
    { title: 'ACTION', member: 'actionType', isWhole: true },
    { title: 'OPTIONS', member: 'options' },
  ],
};
