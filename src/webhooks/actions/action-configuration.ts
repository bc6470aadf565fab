/** Action configurations: the record, and its resource, with path, masks and columns of lists. */
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
      label: 'Name',
      description: 'What webhooks call it: 1-64 of a-z, 0-9, `.`, `_` and `-`; without it one is '
        + 'made, a UUIDv7',
      isAlwaysPresent: true,
      option: { placeholder: '<slug>', isForNew: true },
    },
    ...timestampMembers,
    description: descriptionMember,
    actionType: {
      schema: { kind: 'string', minLength: 1, maxLength: 128 }, isRequired: true,
      form: { group: 'none' },
      description: 'The action that it runs, as actionconfig:actions and GET /api/actions list '
        + 'them',
      option: { name: 'action', placeholder: '<type>', completes: 'actions' },
    },
    options: {
      schema: { kind: 'json', isObject: true, bytesMax: OPTIONS_BYTES_MAX, depthMax: 16 },
      default: {}, form: { field: 'action-options' },
      description: 'The options of the action as JSON. Header values, secret-like members and '
        + 'credentials in URLs are shown as `***`, and stay while `***` is sent back',
    },
  },
});

/** Without the times, which are only shown. */
export type ActionConfiguration =
  Omit<RecordOf<typeof configurationSchema>, 'createdAt' | 'updatedAt'>;

const toPublic = (record: JsonObject): JsonObject => maskSecrets(configurationSchema, record);

export const configurationResource: Resource = {
  path: '/api/action-configurations',
  noun: 'action configuration',
  plural: 'action configurations',
  schema: configurationSchema,
  collection: configurationCollection,
  // A configuration decides where data goes, which takes more rights than the catalog.
  access: { read: 'read', write: 'admin' },
  isKeyGiven: true,
  // Secrets that a patch does not name follow the rule for `***`: they go to no other target.
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
