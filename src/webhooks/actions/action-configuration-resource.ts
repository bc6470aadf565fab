/** Action configurations as a resource: where they are served and kept, masked, and listed. */
import type { Resource } from '../../resources/resource.ts';
import { maskSecrets, restoreSecrets, collectUrls } from '../http/mask-secrets.ts';
import { maskPatchBase } from '../http/secret-members.ts';
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
  patchBase: maskPatchBase,
  reconcile: (body, current) =>
    restoreSecrets(body, current, ({ options }) => collectUrls(options)),
  toPublic: maskSecrets,
  columns: [
    { title: 'IDENTIFIER', member: 'identifier', form: 'identifier' },
    { title: 'ACTION', member: 'actionType', isWhole: true },
    { title: 'OPTIONS', member: 'options' },
  ],
};
