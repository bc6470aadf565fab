/**
 * Builds the examples of one webhook: of an incoming one the calls of its sender and the sender's
 * setup; of an outgoing one, for its receiver, code that verifies its requests and a call that is
 * signed as they are. The secret is in none of them.
 */
import { findPreset, getPreset } from '../senders/presets/preset-table.ts';
import { isPublicKey, type Scheme } from '../senders/scheme/scheme.ts';
import { findShellObstacle, formatShellExample } from '../senders/signing/shell-example.ts';
import { chooseExampleMethod, formatPhp, formatUnsignedCurl } from '../incoming/call-examples.ts';
import type { ReadyIncomingWebhook } from '../incoming/receiving/incoming-webhook-index.ts';
import { createSenderVerifier, type SenderVerifier } from '../incoming/verification-member.ts';
import { makeCustomSample, withEventId } from './sample-body.ts';
import type { IncomingWebhookExamples, OutgoingWebhookExamples } from './diagnostic-schema.ts';
import { loadCrypto } from '../../base/node-modules.ts';
import { FORM_TYPE, parseMediaType } from '../../base/text/parse-form.ts';
import { hideUrlSecrets } from '../members/url-credentials.ts';
import { isStandardSecret } from '../outgoing/outgoing-signature.ts';
import type { StoredOutgoingWebhook } from '../outgoing/outgoing-webhook.ts';
import { getDialect } from '../outgoing/signing-member.ts';
import { createSigningKey } from '../senders/signing/signing-key.ts';
import {
  findVerificationObstacle, formatVerificationExample,
} from '../senders/signing/verification-example.ts';

type WebhookExamples = Omit<IncomingWebhookExamples, 'identifier' | 'pathSegment' | 'hasSecret'>;
type SenderSetup = WebhookExamples['setup'];

export function buildWebhookExamples(
  { sender, methods, hasSecret, eventIdSources }: ReadyIncomingWebhook, url: string,
): WebhookExamples {
  const method = chooseExampleMethod(methods);
  if (sender === null) {
    const curl = hasSecret ? formatSenderCall(createSenderVerifier({}), method, eventIdSources, url)
      : formatUnsignedCurl(url, method);
    return { url, curl, php: formatPhp(url, method, hasSecret), setup: null, curlObstacle: null };
  }
  if (findPreset(sender.preset.name) === undefined) {
    const curlObstacle = 'this version does not know the preset';
    return { url, curl: null, php: null, setup: null, curlObstacle };
  }
  const curlObstacle = findCallObstacle(sender, method);
  return {
    url, curl: curlObstacle === null ? formatSenderCall(sender, method, eventIdSources, url) : null,
    php: null, setup: describeSetup(sender, url), curlObstacle,
  };
}

function findCallObstacle({ verifier }: SenderVerifier, method: string): string | null {
  return hasPublicKey(verifier) ? 'only the sender can sign such requests'
    : findShellObstacle(verifier.scheme, method);
}

function describeSetup({ preset, verifier }: SenderVerifier, url: string): SenderSetup {
  const { name, sender, setup, documentation, unconfirmed = null } = preset;
  return {
    preset: name, sender, url: verifier.settings.url ?? url,
    pasteUrl: setup.url, pasteSecret: setup.secret, documentation, unconfirmed,
    canSign: !hasPublicKey(verifier),
  };
}

function formatSenderCall(
  { preset, verifier: { scheme, settings } }: SenderVerifier, method: string,
  eventId: ReadyIncomingWebhook['eventIdSources'], url: string,
): string {
  const sample = preset.scheme === null ? makeCustomSample(scheme) : preset.sample;
  const { body, contentType, headers = {} } = withEventId(sample, eventId, '{id}');
  return formatShellExample({ scheme, settings, method, body, contentType, headers, url });
}

// The secret decides, as a scheme may also take public keys (`whpk_`).
function hasPublicKey({ scheme, keys }: SenderVerifier['verifier']): boolean {
  return isPublicKey(keys[0]?.algorithm ?? scheme.algorithm);
}

/** For a webhook without `signing`. */
const DEFAULT_SIGNING = { preset: 'standard' };

const NO_CODE = { node: null, php: null, python: null };

export function buildOutgoingExamples(webhook: StoredOutgoingWebhook): OutgoingWebhookExamples {
  const { identifier, secret, signing = DEFAULT_SIGNING } = webhook;
  const { preset = null } = signing;
  const withoutAny = (obstacle: string): OutgoingWebhookExamples =>
    ({ identifier, preset: null, obstacle, ...NO_CODE, curl: null, curlObstacle: obstacle });
  if (secret === undefined) return withoutAny('its requests are not signed: it has no secret');
  if (preset !== null && findPreset(preset) === undefined) {
    return withoutAny('this version does not know the preset');
  }
  return { identifier, preset, ...buildCode(webhook, signing, secret) };
}

function buildCode(
  { targetUrl, httpMethod, contentType }: StoredOutgoingWebhook,
  signing: Parameters<typeof getDialect>[0], secret: string,
): Omit<OutgoingWebhookExamples, 'identifier' | 'preset'> {
  const { scheme, quirk } = getDialect(signing);
  const url = hideUrlSecrets(targetUrl);
  const signingKey = createSigningKey(scheme, secret);
  const privateKey = 'problem' in signingKey ? null : signingKey.privateKey;
  const publicKey = privateKey === null ? null : loadCrypto().createPublicKey(privateKey);
  const library = publicKey === null && isStandardSecret(secret)
    ? findLibrary(signing.preset) : null;
  const input = { scheme, publicKey, url, library };
  const urlObstacle = scheme.content.includes('{url}') && url !== targetUrl
    ? 'the signature covers its address, which holds a secret' : null;
  // A quirk that picks the signed bytes picks them in a form.
  const isForm = parseMediaType(contentType ?? '') === FORM_TYPE;
  const obstacle = urlObstacle ?? (quirk.body !== undefined && isForm
    ? 'the signature covers a field of the form' : findVerificationObstacle(scheme));
  const curlObstacle = urlObstacle ?? (publicKey === null ? findShellObstacle(scheme, httpMethod)
    : 'the private key signs, which a receiver has not');
  return {
    obstacle, curlObstacle,
    ...obstacle !== null ? NO_CODE : {
      node: formatVerificationExample('node', input),
      php: formatVerificationExample('php', input),
      python: formatVerificationExample('python', input),
    },
    curl: curlObstacle === null ? formatReceiverCall(scheme, signing.preset, url, httpMethod)
      : null,
  };
}

function findLibrary(preset: string | undefined): 'standardwebhooks' | 'svix' | null {
  if (preset === 'svix') return 'svix';
  return preset === 'standard' ? 'standardwebhooks' : null;
}

function formatReceiverCall(
  scheme: Scheme, preset: string | undefined, url: string, method: string,
): string {
  const sample = preset === undefined ? makeCustomSample(scheme) : getPreset(preset).sample;
  const { body, contentType, headers = {} } = sample;
  return formatShellExample({ scheme, settings: { url }, method, body, contentType, headers, url });
}
