/** Incoming webhooks as a resource: where they are served and kept, masked, and listed. */
import { isJsonObject } from '../../base/fields.ts';
import type { JsonObject, JsonValue } from '../../base/schema.ts';
import type { Resource } from '../../resources/resource.ts';
import { keepOwnMembers } from '../health/disabled.ts';
import { healthColumns } from '../health/shown.ts';
import { mask, unmask } from '../http/mask.ts';
import { keepPrevious, showPrevious } from '../http/rotation.ts';
import { hideSecret, keepSecret } from '../http/secret.ts';
import { withInboxDefaults } from './inbox-members.ts';
import { incomingCollection, incomingSchema } from './incoming-webhook.ts';
import { restoreScheme } from './verification-member.ts';

export const incomingResource: Resource = {
  path: '/api/incoming-webhooks',
  noun: 'incoming webhook',
  plural: 'incoming webhooks',
  schema: incomingSchema,
  collection: incomingCollection,
  // They decide what may come in: more than whoever keeps the catalog may change.
  access: { read: 'read', write: 'admin' },
  reconcile(body, current, cause, nowMs) {
    const input = keepOwnMembers(body, current, nowMs);
    return keepPrevious(unmask(keepSecret(input, current, cause), current), current);
  },
  columns: [
    { title: 'NAME', member: 'name', widthMin: 12 },
    { title: 'IDENTIFIER', member: 'identifier', form: 'identifier', importance: 3 },
    { title: 'PATH SEGMENT', member: 'pathSegment', isWhole: true },
    ...healthColumns,
    { title: 'SECRET', member: 'hasSecret', importance: 2 },
    { title: 'METHODS', member: 'allowedMethods', importance: 1 },
    {
      title: 'ACTION CONFIGURATION', member: 'actionConfiguration', form: 'identifier',
      show: (value, { routes }) => typeof value === 'string' ? value
        : listConfigurationNames(routes),
    },
  ],
};

/** Of the configurations that routes name, each once. */
function listConfigurationNames(routes: JsonValue | undefined): string | null {
  const list: readonly JsonValue[] = Array.isArray(routes) ? routes : [];
  const names = list.map((route) => isJsonObject(route) ? route['actionConfiguration'] : null);
  return [...new Set(names)].join(', ') || null;
}

/** Without secrets; the previous one is mentioned while it counts. */
export function toPublicIncomingWebhook(record: JsonObject, nowMs: number): JsonObject {
  const { previousSecret: _, ...rest } = record;
  return showPrevious(restoreScheme(mask(hideSecret(withInboxDefaults(rest))), record), record,
    nowMs);
}
