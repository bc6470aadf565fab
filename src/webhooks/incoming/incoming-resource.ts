/**
 * The resource of incoming webhooks: its path, what a write keeps of the stored record, and the
 * columns of its list. `createWebhookResources` adds `toPublic` and `observe`, which need the clock
 * and the health.
 */
import { isJsonObject } from '../../base/fields.ts';
import type { JsonObject, JsonValue } from '../../base/schema.ts';
import type { Resource } from '../../resources/resource.ts';
import { keepEnabled, keepServiceMembers } from '../health/disabled-members.ts';
import { healthColumns } from '../health/public-health.ts';
import { keepSecrets } from '../members/mask-secrets.ts';
import { keepPreviousSecret, showWebhook } from '../members/rotate-secret.ts';
import { incomingCollection, incomingSchema } from './incoming-webhook.ts';
import { isSecretAwaited, keepAwaitedSecret } from './sender-secret.ts';

export const incomingResource: Resource = {
  path: '/api/incoming-webhooks',
  noun: 'incoming webhook',
  plural: 'incoming webhooks',
  schema: incomingSchema,
  collection: incomingCollection,
  // A webhook decides who may send to us: that takes more rights than the catalog.
  access: { read: 'read', write: 'admin' },
  reconcile(body, current, cause, nowMs) {
    // In this order: `disabledAt` depends on `enabled`, and what follows on the restored secret.
    const withEnabled = cause === 'apply' ? keepEnabled(body, current) : body;
    const withServiceMembers = keepServiceMembers(withEnabled, current, nowMs);
    const withSecrets = keepSecrets(incomingSchema, withServiceMembers, current, cause);
    const withAwaitedSecret = keepAwaitedSecret(withSecrets, current, cause);
    return keepPreviousSecret(withAwaitedSecret, current);
  },
  columns: [
    { title: 'NAME', member: 'name', widthMin: 12 },
    { title: 'IDENTIFIER', member: 'identifier', form: 'identifier', importance: 3 },
    { title: 'PATH SEGMENT', member: 'pathSegment', fit: 'whole' },
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

function listConfigurationNames(routes: JsonValue | undefined): string | null {
  const list: readonly JsonValue[] = Array.isArray(routes) ? routes : [];
  const names = list.map((route) => isJsonObject(route) ? route['actionConfiguration'] : null);
  return [...new Set(names)].join(', ') || null;
}

/**
 * The record without secrets. `secretAwaitedUntil` is shown while no secret is stored and that time
 * has not passed.
 */
export function toPublicIncomingWebhook(record: JsonObject, nowMs: number): JsonObject {
  const { secretAwaitedUntil, ...rest } = record;
  const isAwaited = typeof secretAwaitedUntil === 'string' && record['secret'] === undefined
    && isSecretAwaited({ secretAwaitedUntil }, nowMs);
  return showWebhook(incomingSchema, rest, nowMs, isAwaited ? { secretAwaitedUntil } : {});
}
