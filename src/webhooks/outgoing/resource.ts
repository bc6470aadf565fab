/** Outgoing webhooks as a resource: where they are served and kept, masked, and listed. */
import type { JsonObject, JsonValue } from '../../base/schema.ts';
import type { Resource } from '../../resources/resource.ts';
import { keepOwnMembers } from '../health/disabled.ts';
import { healthColumns } from '../health/shown.ts';
import { mask, unmask, urlsIn } from '../http/mask.ts';
import { keepPrevious, showPrevious } from '../http/rotation.ts';
import { hideSecret, keepSecret, maskedBase } from '../http/secret.ts';
import { outgoingCollection, outgoingSchema } from './webhook.ts';

export const outgoingResource: Resource = {
  path: '/api/outgoing-webhooks',
  noun: 'outgoing webhook',
  plural: 'outgoing webhooks',
  schema: outgoingSchema,
  collection: outgoingCollection,
  // They decide where data goes: more than whoever keeps the catalog may change.
  access: { read: 'read', write: 'admin' },
  patchBase: maskedBase,
  reconcile(body, current, cause, nowMs) {
    const given = keepPrevious(keepOwnMembers(body, current, nowMs), null);
    return keepPrevious(
      unmask(keepSecret(given, current, cause), current, ({ targetUrl }) => urlsIn(targetUrl)),
      current);
  },
  columns: [
    { title: 'NAME', member: 'name', widthMin: 12 },
    { title: 'IDENTIFIER', member: 'identifier', form: 'identifier' },
    { title: 'METHOD', member: 'httpMethod', importance: 2 },
    { title: 'TARGET', member: 'targetUrl', widthMin: 24 },
    ...healthColumns,
    { title: 'SECRET', member: 'hasSecret', importance: 1 },
    { title: 'EVENT', member: 'triggerEvent', show: showTriggers, widthMin: 12 },
  ],
};

function showTriggers(one: JsonValue | undefined, { triggerEvents }: JsonObject): string | null {
  if (typeof one === 'string') return one;
  return Array.isArray(triggerEvents) ? triggerEvents.join(', ') : null;
}

/** Without secrets; the previous one is mentioned while it counts. */
export function showOutgoing(record: JsonObject, nowMs: number): JsonObject {
  const { previousSecret: _, ...rest } = record;
  return showPrevious(mask(hideSecret(rest)), record, nowMs);
}
