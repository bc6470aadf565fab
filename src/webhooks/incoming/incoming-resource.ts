/**
 * The resource of incoming webhooks: its path, its masks and its list columns.
 * `createWebhookResources` adds `toPublic` and `observe`, which need the clock and the health.
 */
import { isJsonObject } from '../../base/fields.ts';
import type { JsonObject, JsonValue } from '../../base/schema.ts';
import type { Resource } from '../../resources/resource.ts';
import { keepEnabled, keepServiceMembers } from '../health/disabled-members.ts';
import { healthColumns } from '../health/public-health.ts';
import { maskSecrets, restoreSecrets } from '../members/mask-secrets.ts';
import { keepPreviousSecret, addPublicPreviousSecret } from '../members/rotate-secret.ts';
import { hideSecret, keepSecret } from '../members/secret-members.ts';
import { incomingCollection, incomingSchema } from './incoming-webhook.ts';
import { isSecretAwaited, keepAwaitedSecret } from './verification-member.ts';

export const incomingResource: Resource = {
  path: '/api/incoming-webhooks',
  noun: 'incoming webhook',
  plural: 'incoming webhooks',
  schema: incomingSchema,
  collection: incomingCollection,
  // A webhook decides who may send to us: that takes more rights than the catalog.
  access: { read: 'read', write: 'admin' },
  reconcile(body, current, cause, nowMs) {
    const isApply = cause === 'apply';
    const whole = isApply ? keepEnabled(body, current) : body;
    const input = keepServiceMembers(whole, current, nowMs);
    // For a new webhook `current` is null: then nothing is kept, a `***` is refused, and a
    // `previousSecret` in the body is dropped.
    const withSecret = keepSecret(input, current, cause);
    const restored = restoreSecrets(withSecret, isApply ? null : current);
    return keepPreviousSecret(keepAwaitedSecret(restored, current, cause), current);
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

/** The names of the configurations that the routes run, each once. */
function listConfigurationNames(routes: JsonValue | undefined): string | null {
  const list: readonly JsonValue[] = Array.isArray(routes) ? routes : [];
  const names = list.map((route) => isJsonObject(route) ? route['actionConfiguration'] : null);
  return [...new Set(names)].join(', ') || null;
}

/** The record without secrets; the previous secret is mentioned while it is valid. */
export function toPublicIncomingWebhook(record: JsonObject, nowMs: number): JsonObject {
  const { previousSecret: _, secretAwaitedUntil, ...rest } = record;
  const shownRecord = maskSecrets(hideSecret(rest));
  const isAwaited = typeof secretAwaitedUntil === 'string' && record['secret'] === undefined
    && isSecretAwaited({ secretAwaitedUntil }, nowMs);
  return addPublicPreviousSecret(
    isAwaited ? { ...shownRecord, secretAwaitedUntil } : shownRecord, record, nowMs);
}
