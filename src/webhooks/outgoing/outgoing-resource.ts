/**
 * The resource of outgoing webhooks: its path, its rules for secrets, and its list columns.
 * `createWebhookResources` adds `toPublic` and `observe`, which need the clock and the health.
 */
import { MASK } from '../../base/log.ts';
import { invalid } from '../../base/fields.ts';
import type { JsonObject, JsonValue } from '../../base/schema.ts';
import type { Resource, WriteCause } from '../../resources/resource.ts';
import { keepEnabled, keepServiceMembers, markDisabled } from '../health/disabled-members.ts';
import { dropProbedState, isProbed, isProbeEcho, isProbeEnded } from '../health/probe.ts';
import { healthColumns } from '../health/public-health.ts';
import { maskSecrets, restoreSecrets, collectUrls } from '../members/mask-secrets.ts';
import { keepPreviousSecret, addPublicPreviousSecret } from '../members/rotate-secret.ts';
import { hideSecret } from '../members/secret-members.ts';
import {
  keepClientCertificate, toPublicClientCertificate,
} from './client-certificate-member.ts';
import { hideClientSecret, keepClientSecret } from './oauth2-member.ts';
import { outgoingCollection, outgoingSchema } from './outgoing-webhook.ts';
import { dropUnusedPrevious, findPublicKey, sendsSecret } from './signing-member.ts';

export const outgoingResource: Resource = {
  path: '/api/outgoing-webhooks',
  noun: 'outgoing webhook',
  plural: 'outgoing webhooks',
  schema: outgoingSchema,
  collection: outgoingCollection,
  // A webhook decides where data goes: that takes more rights than the catalog.
  access: { read: 'read', write: 'admin' },
  patchBase: (stored) => dropProbedState(createPatchBase(stored)),
  reconcile(body, current, cause, nowMs) {
    // A patched body has `previousSecret` with `***` in it. It is dropped here and kept from
    // `current` at the end, so that a new target does not ask for it anew.
    const isApply = cause === 'apply';
    const input = keepPreviousSecret(reconcileEnabled(body, current, cause, nowMs), null);
    const stored = isApply ? null : current;
    const withSecret = isApply ? input : keepUnsentSecret(input, current, cause);
    // The rule for the client secret is another: the token URL counts as well.
    const { oauth2, ...rest } = keepClientCertificate(withSecret, stored);
    const webhook = restoreSecrets(rest, stored, ({ targetUrl }) => collectUrls(targetUrl));
    const restored = oauth2 === undefined ? webhook
      : keepClientSecret({ ...webhook, oauth2 }, stored, cause);
    return dropUnusedPrevious(keepPreviousSecret(restored, current));
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

/** Sets `enabled` and the members that the service alone writes: see `keepServiceMembers`. */
function reconcileEnabled(
  body: JsonObject, current: JsonObject | null, cause: WriteCause, nowMs: number,
): JsonObject {
  const isPatchOfProbed = cause === 'patch' && current !== null && isProbed(current);
  const mustKeep = cause === 'apply' || isPatchOfProbed;
  if (cause !== 'apply' && isProbeEcho(body, current)) {
    return keepServiceMembers({ ...body, enabled: true }, current, nowMs);
  }
  const webhook = keepServiceMembers(mustKeep ? keepEnabled(body, current) : body, current, nowMs);
  return cause !== 'apply' && isProbeEnded(body, current)
    ? markDisabled(webhook, 'manual', nowMs) : webhook;
}

function formatTriggers(
  triggerEvent: JsonValue | undefined, { triggerEvents }: JsonObject,
): string | null {
  if (typeof triggerEvent === 'string') return triggerEvent;
  return Array.isArray(triggerEvents) ? triggerEvents.join(', ') : null;
}

/**
 * A certificate and its key are not masked, as they go nowhere else when the target changes. The
 * secret is, as some dialects send it.
 */
function createPatchBase(stored: JsonObject): JsonObject {
  const { clientCertificate } = stored;
  const maskedWebhook = maskSecrets(stored);
  return clientCertificate === undefined ? maskedWebhook : { ...maskedWebhook, clientCertificate };
}

/**
 * The body with the stored secret if it is to be kept: as such where it is not sent, and else as
 * `***`, which keeps it only for the same target. Throws `invalid` where it begins to be sent: the
 * target may have moved while it was not.
 */
function keepUnsentSecret(
  body: JsonObject, current: JsonObject | null, cause: WriteCause,
): JsonObject {
  const storedSecret = current?.['secret'];
  const isKept = cause === 'patch' ? body['secret'] === MASK : !Object.hasOwn(body, 'secret');
  if (storedSecret === undefined || (!isKept && body['secret'] !== MASK)) return body;
  if (sendsSecret(body) && !sendsSecret(current ?? {})) {
    const detail = 'must be given anew: this signing sends it as it is, which was not so before';
    throw invalid([{ pointer: '/secret', detail }]);
  }
  return isKept ? { ...body, secret: sendsSecret(body) ? MASK : storedSecret } : body;
}

/** The record without secrets; a previous secret is mentioned while it is valid. */
export function toPublicOutgoingWebhook(record: JsonObject, nowMs: number): JsonObject {
  const { previousSecret: _, ...rest } = record;
  const publicWebhook =
    maskSecrets(toPublicClientCertificate(hideClientSecret(hideSecret(rest))));
  const publicKey = findPublicKey(record);
  return addPublicPreviousSecret(
    publicKey === undefined ? publicWebhook : { ...publicWebhook, publicKey }, record, nowMs);
}
