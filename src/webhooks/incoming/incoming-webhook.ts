/** What an incoming webhook is: a public address, who may call it, and the action it runs. */
import { stampMembers, type NamedSchema } from '../../resources/resource.ts';
import type { CollectionSpec } from '../../store/port.ts';
import { secretMembers } from '../http/secret.ts';

export type IncomingWebhook = {
  readonly identifier: string;
  readonly pathSegment: string;
  readonly enabled: boolean;
  readonly secret?: string;
  readonly allowedMethods?: readonly string[];
  readonly staticHeaders?: Readonly<Record<string, unknown>>;
  readonly actionConfiguration: string;
};

export const incomingCollection: CollectionSpec = {
  name: 'incoming-webhooks', key: 'identifier', unique: 'pathSegment',
};

export const incomingSchema: NamedSchema = {
  kind: 'object',
  name: 'IncomingWebhook',
  members: {
    identifier: { schema: { kind: 'string', format: 'uuid' }, readOnly: 'echo' },
    ...stampMembers,
    pathSegment: {
      schema: {
        kind: 'string', maxLength: 128,
        description: '1-128 of A-Z, a-z, 0-9, ".", "_", "~" and "-", and neither "." nor ".."',
        canonical: (value) => isPathSegment(value) ? value : null,
      },
      isRequired: true,
      description: 'The last segment of the public address /webhook/in/{pathSegment}; unique',
    },
    enabled: { schema: { kind: 'boolean' }, default: true },
    ...secretMembers,
    allowedMethods: {
      schema: {
        kind: 'array', maxItems: 40, isUnique: true,
        items: {
          kind: 'string', maxLength: 32, pattern: /^[A-Z][A-Z-]*$/,
          description: 'an HTTP method in upper case',
        },
      },
      description: 'Absent or empty: the setting incoming.defaultAllowedMethods',
    },
    staticHeaders: {
      schema: { kind: 'json', isObject: true, bytesMax: 16 * 1024, depthMax: 8 },
      description: 'Reserved; has no effect. Values are shown as ***; *** sent back keeps the '
        + 'stored one',
    },
    actionConfiguration: {
      schema: { kind: 'string', minLength: 1, maxLength: 128 }, isRequired: true,
      description: 'The identifier of an existing action configuration',
    },
  },
};

function isPathSegment(value: string): boolean {
  return /^[A-Za-z0-9._~-]{1,128}$/.test(value) && value !== '.' && value !== '..';
}
