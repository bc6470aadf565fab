/**
 * Builds the examples of one outgoing webhook for its receiver: code that verifies its requests,
 * and a call that is signed as they are. The secret is in none of them.
 */
import { loadCrypto } from '../../base/node-modules.ts';
import { FORM_TYPE, parseMediaType } from '../../base/text/parse-form.ts';
import { hideUrlSecrets } from '../members/url-credentials.ts';
import type { StoredOutgoingWebhook } from '../outgoing/outgoing-webhook.ts';
import { getDialect } from '../outgoing/signing-member.ts';
import { findPreset, getPreset } from '../senders/presets/preset-table.ts';
import { findShellObstacle, formatShellExample } from '../senders/signing/shell-example.ts';
import type { Scheme } from '../senders/scheme/scheme.ts';
import { createSigningKey } from '../senders/signing/signing-key.ts';
import {
  findVerificationObstacle, formatVerificationExample,
} from '../senders/signing/verification-example.ts';
import { makeCustomSample } from './custom-sample.ts';
import type { OutgoingWebhookExamples } from './diagnostic-schema.ts';

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
  const privateKey = typeof signingKey === 'string' ? null : signingKey.privateKey;
  const publicKey = privateKey === null ? null : loadCrypto().createPublicKey(privateKey);
  const input = { scheme, publicKey, url };
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
    curl: curlObstacle === null ? formatCall(scheme, signing.preset ?? null, url, httpMethod)
      : null,
  };
}

/** The call sends the sample of the sender, or one made of the scheme. */
function formatCall(scheme: Scheme, preset: string | null, url: string, method: string): string {
  const sample = preset === null ? makeCustomSample(scheme) : getPreset(preset).sample;
  const { body, contentType, headers = {} } = sample;
  return formatShellExample({
    scheme, settings: { url }, method, body, contentType, headers, url,
  });
}
