/** The resource of action configurations: its path, its masks and its list columns. */
import type { Resource } from '../../resources/resource.ts';
import { maskSecrets, restoreSecrets, collectUrls } from '../http/mask-secrets.ts';
import { configurationCollection, configurationSchema } from './action-configuration.ts';

export const configurationResource: Resource = {
  path: '/api/action-configurations',
  noun: 'action configuration',
  plural: 'action configurations',
  schema: configurationSchema,
  collection: configurationCollection,
  // A configuration decides where data goes: that takes more rights than the catalog.
  access: { read: 'read', write: 'admin' },
  isKeyGiven: true,
  // Secrets that a patch does not name follow the rule for `***`: none goes to another target.
  patchBase: maskSecrets,
  reconcile: (body, current, cause) =>
    restoreSecrets(body, cause === 'apply' ? null : current, ({ options }) => collectUrls(options)),
  toPublic: maskSecrets,
  columns: [
    { title: 'IDENTIFIER', member: 'identifier', form: 'identifier' },
    { title: 'ACTION', member: 'actionType', fit: 'whole' },
    { title: 'OPTIONS', member: 'options' },
  ],
};
