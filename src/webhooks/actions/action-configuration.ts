/**
 * The record of an action configuration: an action's identifier and the options that it runs with.
 */
import { timestampMembers, type NamedSchema } from '../../resources/resource.ts';
import type { CollectionSpec } from '../../store/store-port.ts';
import { descriptionMember, slugSchema } from '../naming/members.ts';

export type ActionConfiguration = {
  readonly identifier: string;
  readonly description?: string;
  readonly actionType: string;
  readonly options: Readonly<Record<string, unknown>>;
};

export const configurationCollection: CollectionSpec = {
  name: 'action-configurations', key: 'identifier',
};

const OPTIONS_BYTES_MAX = 64 * 1024;

export const configurationSchema: NamedSchema = {
  kind: 'object',
  name: 'WebhookActionConfiguration',
  members: {
    identifier: {
      schema: slugSchema,
      description: 'Given by the caller, else a UUIDv7',
      isAlwaysShown: true,
    },
    ...timestampMembers,
    description: descriptionMember,
    actionType: {
      schema: { kind: 'string', minLength: 1, maxLength: 128 }, isRequired: true,
      description: 'The identifier of an action: GET /api/actions lists them',
    },
    options: {
      schema: { kind: 'json', isObject: true, bytesMax: OPTIONS_BYTES_MAX, depthMax: 16 },
      default: {},
      description: "Checked by the action. Header values, secret-like members and credentials in "
        + 'URLs are shown as ***; *** sent back keeps them',
    },
  },
};
