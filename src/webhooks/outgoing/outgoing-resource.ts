/**
 * The resource of outgoing webhooks: its path, what a write keeps of the stored record, and the
 * columns of its list.
 * `createWebhookResources` adds `toPublic` and `observe`, which need the clock and the health.
 */
import { isJsonObject } from '../../base/fields.ts';
import { encodeJson } from '../../base/json/encode.ts';
import type { JsonObject, JsonValue } from '../../base/schema.ts';
import type { Resource, WriteCause } from '../../resources/resource.ts';
import { keepEnabled, keepServiceMembers, markDisabled } from '../health/disabled-members.ts';
import { dropProbedState, isProbed, isProbeEcho, isProbeEnded } from '../health/probe.ts';
import { healthColumns } from '../health/public-health.ts';
import {
  explainNewOrigin, keepSecrets, maskSecrets, type ExplainMove,
} from '../members/mask-secrets.ts';
import { keepPreviousSecret, showWebhook } from '../members/rotate-secret.ts';
import { describeCertificate } from './client-certificate-member.ts';
import { explainClientSecretMove } from './oauth2-member.ts';
import { outgoingCollection, outgoingSchema } from './outgoing-webhook.ts';
import { dropUnusedPrevious, findPublicKey, sendsSecret } from './signing-member.ts';

export const outgoingResource: Resource = {
  path: '/api/outgoing-webhooks',
  noun: 'outgoing webhook',
  plural: 'outgoing webhooks',
  schema: outgoingSchema,
  collection: outgoingCollection,
  // A webhook decides where data goes, which takes more rights than the catalog.
  access: { read: 'read', write: 'admin' },
  patchBase: (record) => dropProbedState(maskSecrets(outgoingSchema, record)),
  reconcile(body, current, cause, nowMs) {
    // A patched body has `previousSecret` with `***`. It is dropped here and kept from `current` at
    // the end, so that a new target does not ask for it anew.
    const { acknowledgedAt: _, ...rest } = dropReplacedTriggers(body, current, cause);
    const input = keepPreviousSecret(reconcileEnabled(rest, current, cause, nowMs), null);
    const restored = keepSecrets(outgoingSchema, input, current, cause,
      createMoveRule(input, current ?? {}, cause));
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

/** A patch of `triggerEvent` or `triggerEvents` replaces the other, which the body still has. */
function dropReplacedTriggers(
  body: JsonObject, current: JsonObject | null, cause: WriteCause,
): JsonObject {
  const { triggerEvent, triggerEvents, ...rest } = body;
  if (cause !== 'patch' || triggerEvent === undefined || triggerEvents === undefined) return body;
  const isStored = (name: string): boolean =>
    encodeJson(body[name]) === encodeJson(current?.[name]);
  if (isStored('triggerEvent')) return { ...rest, triggerEvents };
  return isStored('triggerEvents') ? { ...rest, triggerEvent } : body;
}

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

/** Its events and the condition, by which webhooks of one event are told apart. */
function formatTriggers(
  triggerEvent: JsonValue | undefined, { triggerEvents, when }: JsonObject,
): string | null {
  const names = Array.isArray(triggerEvents) ? triggerEvents.join(', ') : triggerEvent;
  if (typeof names !== 'string') return null;
  return isJsonObject(when) ? `${names} when ${formatCondition(when)}` : names;
}

/** In one line, with the words of its members: `payload.customer eq "acme"`. */
function formatCondition({ all, any, not, path, op = 'eq', value }: JsonObject): string {
  if (isJsonObject(not)) return `not (${formatCondition(not)})`;
  const list = all ?? any;
  if (!Array.isArray(list)) {
    return `${String(path)} ${String(op)}${value === undefined ? '' : ` ${encodeJson(value)}`}`;
  }
  const parts = list.map((part) => isJsonObject(part) ? formatCondition(part) : '');
  return parts.length === 1 ? parts.join('')
    : `(${parts.join(all === undefined ? ' or ' : ' and ')})`;
}

const BEGUN_DETAIL = 'must be given anew: this signing sends it as it is, which was not so before';

/** Says for which members a body keeps no secret, as their targets have moved. */
function createMoveRule(body: JsonObject, record: JsonObject, cause: WriteCause): ExplainMove {
  const targetDetail = explainNewOrigin(body['targetUrl'], record['targetUrl']);
  const clientSecretDetail = explainClientSecretMove(body, record);
  return (pointer) => {
    // A certificate and its key go to no other place when the target changes.
    if (pointer.startsWith('/clientCertificate/')) return null;
    if (pointer.startsWith('/oauth2/')) return clientSecretDetail;
    if (pointer !== '/secret' || record['secret'] === undefined) return targetDetail;
    // The target may have moved while the secret was not sent.
    if (sendsSecret(body)) return sendsSecret(record) ? targetDetail : BEGUN_DETAIL;
    const isUnsent = cause === 'patch' || !Object.hasOwn(body, 'secret');
    return isUnsent ? null : targetDetail;
  };
}

/** Leaves out secrets, describes a client certificate, and adds the public key. */
export function toPublicOutgoingWebhook(record: JsonObject, nowMs: number): JsonObject {
  const { oauth2, clientCertificate, ...rest } = record;
  const publicKey = findPublicKey(record);
  return showWebhook(outgoingSchema, rest, nowMs, {
    ...oauth2 === undefined ? {} : { oauth2 },
    ...!isJsonObject(clientCertificate) ? {} : {
      clientCertificate: describeCertificate(String(clientCertificate['certificate'])),
    },
    ...publicKey === undefined ? {} : { publicKey },
  });
}
