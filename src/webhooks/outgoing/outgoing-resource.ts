/** Outgoing webhooks as a resource: where they are served and kept, masked, and listed. */
import type { JsonObject, JsonValue } from '../../base/schema.ts';
import type { Resource } from '../../resources/resource.ts';
import { keepServiceMembers } from '../health/disabled-members.ts';
import { healthColumns } from '../health/public-health.ts';
import { maskSecrets, restoreSecrets, collectUrls } from '../http/mask-secrets.ts';
import { keepPreviousSecret, addPublicPreviousSecret } from '../http/rotate-secret.ts';
import { hideSecret, keepSecret, maskPatchBase } from '../http/secret-members.ts';
import { outgoingCollection, outgoingSchema } from './outgoing-webhook.ts';

export const outgoingResource: Resource = {
  path: '/api/outgoing-webhooks',
  noun: 'outgoing webhook',
  plural: 'outgoing webhooks',
  schema: outgoingSchema,
  collection: outgoingCollection,
  // They decide where data goes: more than whoever keeps the catalog may change.
  access: { read: 'read', write: 'admin' },
  patchBase: maskPatchBase,
  reconcile(body, current, cause, nowMs) {
    const given = keepPreviousSecret(keepServiceMembers(body, current, nowMs), null);
    return keepPreviousSecret(
      restoreSecrets(
        keepSecret(given, current, cause), current, ({ targetUrl }) => collectUrls(targetUrl)),
      current);
  },
  columns: [
    { title: 'NAME', member: 'name', widthMin: 12 },
    { title: 'IDENTIFIER', member: 'identifier', form: 'identifier' },
    { title: 'METHOD', member: 'httpMethod', importance: 2 },
    { title: 'TARGET', member: 'targetUrl', widthMin: 24 },
    ...healthColumns,
    { title: 'SECRET', member: 'hasSecret', importance: 1 },
    { title: 'EVENT', member: 'triggerEvent', show: formatTriggers, widthMin: 12 },
  ],
};

function formatTriggers(one: JsonValue | undefined, { triggerEvents }: JsonObject): string | null {
  if (typeof one === 'string') return one;
  return Array.isArray(triggerEvents) ? triggerEvents.join(', ') : null;
}

/** Without secrets; the previous one is mentioned while it counts. */
export function toPublicOutgoingWebhook(record: JsonObject, nowMs: number): JsonObject {
  const { previousSecret: _, ...rest } = record;
  return addPublicPreviousSecret(maskSecrets(hideSecret(rest)), record, nowMs);
}
