/**
 * The record of an action configuration, an action's identifier and the options that it runs with,
 * and its resource: the path, the masks and the columns of lists.
 */
import type { JsonObject } from '../../base/schema.ts';
import { describeObject, type RecordOf } from '../../base/schema-types.ts';
import { timestampMembers, type Resource } from '../../resources/resource.ts';
import type { CollectionSpec } from '../../store/store-port.ts';
import { explainNewOrigin, keepSecrets, maskSecrets } from '../members/mask-secrets.ts';
import { descriptionMember, slugSchema } from '../members/members.ts';

export const configurationCollection: CollectionSpec = {
  name: 'action-configurations', key: 'identifier',
};

const OPTIONS_BYTES_MAX = 64 * 1024;

export const configurationSchema = describeObject({
  kind: 'object',
  name: 'WebhookActionConfiguration',
  members: {
    identifier: {
      schema: slugSchema,
      description: 'Given by the caller, else a UUIDv7',
      isAlwaysShown: true,
      option: {
        placeholder: '<slug>', help: 'a-z 0-9 . _ -, at most 64; made when not given',
        isForNew: true,
      },
    },
    ...timestampMembers,
    description: descriptionMember,
    actionType: {
      schema: { kind: 'string', minLength: 1, maxLength: 128 }, isRequired: true,
      description: 'The identifier of an action: GET /api/actions lists them',
      option: {
        name: 'action', placeholder: '<type>', completes: 'actions',
        help: 'identifier of the action; see actionconfig:actions',
      },
    },
    options: {
      schema: { kind: 'json', isObject: true, bytesMax: OPTIONS_BYTES_MAX, depthMax: 16 },
      default: {},
      description: "Checked by the action. Header values, secret-like members and credentials in "
        + 'URLs are shown as ***; *** sent back keeps them',
      option: { help: 'the action\'s options as JSON' },
    },
  },
});

/** Its times are shown, and nothing else asks for them. */
export type ActionConfiguration = Omit<RecordOf<typeof configurationSchema>,
  'createdAt' | 'updatedAt'> & { readonly identifier: string };

const toPublic = (record: JsonObject): JsonObject => maskSecrets(configurationSchema, record);

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
  patchBase: toPublic,
  reconcile(body, current, cause) {
    const movedDetail = explainNewOrigin(body['options'], current?.['options']);
    return keepSecrets(configurationSchema, body, current, cause, () => movedDetail);
  },
  toPublic,
  columns: [
    { title: 'IDENTIFIER', member: 'identifier', form: 'identifier' },
    { title: 'ACTION', member: 'actionType', fit: 'whole' },
    { title: 'OPTIONS', member: 'options' },
  ],
};
