/**
 * The secret that an incoming webhook needs by its `verification`: the shape of a new one, and
 * whether the sender brings it with its handshake, for which the webhook waits.
 */
import { isJsonObject } from '../../base/fields.ts';
import type { JsonObject, JsonValue } from '../../base/schema.ts';
import type { WriteCause } from '../../resources/resource.ts';
import type { SecretShape, SecretShapeChoice } from '../members/secret-members.ts';
import { findPreset, readScheme } from '../senders/presets/preset-table.ts';

/** The member of a stored webhook that says until when the secret of a handshake is taken. */
export type AwaitedSecret = { readonly secretAwaitedUntil?: string };

/** The shape of a new secret for a webhook; some secrets can only be made by the sender. */
export function chooseSecretShape({ verification }: JsonObject): SecretShapeChoice {
  if (!isJsonObject(verification)) return { shape: 'hex' };
  const { preset: name, scheme } = verification;
  const preset = findPreset(String(name));
  // Saving refuses such a preset by its name, whatever the secret.
  if (preset === undefined) return { shape: 'hex' };
  const shape = preset.scheme === null ? findKeyShape(scheme) : preset.newSecret ?? null;
  if (shape !== null) return { shape };
  return {
    problem: `is needed: only the sender (${preset.sender}) can make it, and shows it here: `
      + preset.setup.secret,
  };
}

/** null: the key is a public key. */
function findKeyShape(scheme: JsonValue | undefined): SecretShape | null {
  const { key, algorithm } = isJsonObject(scheme) ? scheme : {};
  if (algorithm !== 'token' && !String(algorithm).startsWith('hmac-')) return null;
  return key === 'whsec' || key === 'base64' ? key : 'hex';
}

/** Whether the sender of a webhook brings its secret with its handshake. */
export function bringsSecret({ verification }: JsonObject): boolean {
  const { challenge } = readScheme(verification);
  return Array.isArray(challenge)
    && challenge.some((row) => isJsonObject(row) && row['secret'] !== undefined);
}

/** Whether a webhook without a secret takes that of its sender's next handshake. */
export function isSecretAwaited(webhook: AwaitedSecret, nowMs: number): boolean {
  return nowMs < readAwaitedUntil(webhook);
}

/** Milliseconds since the epoch; 0: no secret is awaited. */
export function readAwaitedUntil({ secretAwaitedUntil }: AwaitedSecret): number {
  return secretAwaitedUntil === undefined ? 0 : Date.parse(secretAwaitedUntil);
}

/**
 * The webhook with the stored `secretAwaitedUntil` in the place of that of the body. A file that is
 * applied cannot know the secret that a handshake brought: it keeps the stored one.
 */
export function keepAwaitedSecret(
  body: JsonObject, current: JsonObject | null, cause: WriteCause,
): JsonObject {
  const { secretAwaitedUntil: _, ...webhook } = body;
  const { secret, secretAwaitedUntil } = current ?? {};
  if (webhook['secret'] !== undefined || !bringsSecret(webhook)) return webhook;
  if (secret !== undefined) return cause === 'apply' ? { ...webhook, secret } : webhook;
  return secretAwaitedUntil === undefined ? webhook : { ...webhook, secretAwaitedUntil };
}

/** A sentence for each webhook, as callers see it, that has no secret and so refuses requests. */
export function findWebhooksWithoutSecret(webhooks: readonly JsonObject[]): string[] {
  return webhooks.flatMap((webhook) => {
    const { name, pathSegment, verification, hasSecret } = webhook;
    if (!isJsonObject(verification) || hasSecret !== false) return [];
    const label = String(name ?? pathSegment);
    return [`the incoming webhook ${label} has no secret, which the preset `
      + `${String(verification['preset'])} needs: it refuses every request. `
      + describeSecretRemedy(webhook, label)];
  });
}

function describeSecretRemedy(webhook: JsonObject, label: string): string {
  if (bringsSecret(webhook)) {
    return `Its sender brings it: hookshelf incomingwebhook:await-secret ${label}`;
  }
  const update = `hookshelf incomingwebhook:update ${label}`;
  return chooseSecretShape(webhook).problem === undefined
    ? `To give it one: ${update} --generate-secret`
    : `Its sender makes it: ${update} --secret-file <path>`;
}
