/** Builds the examples of one incoming webhook: its sender's, if it has a `verification`. */
import { findPreset } from '../senders/presets/preset-table.ts';
import { isPublicKey } from '../senders/scheme/scheme.ts';
import { findShellObstacle, formatShellExample } from '../senders/signing/shell-example.ts';
import { chooseExampleMethod, formatPhp, formatUnsignedCurl } from '../incoming/call-examples.ts';
import type { ReadyIncomingWebhook } from '../incoming/receiving/incoming-webhook-index.ts';
import { createSenderVerifier, type SenderVerifier } from '../incoming/verification-member.ts';
import { makeCustomSample } from './custom-sample.ts';
import type { IncomingWebhookExamples } from './diagnostic-schema.ts';
import { withEventId } from './sample-body.ts';

type WebhookExamples = Omit<IncomingWebhookExamples, 'identifier' | 'pathSegment' | 'hasSecret'>;
type SenderSetup = WebhookExamples['setup'];

export function buildWebhookExamples(
  { sender, methods, hasSecret, eventIdSources }: ReadyIncomingWebhook, url: string,
): WebhookExamples {
  const method = chooseExampleMethod(methods);
  if (sender === null) {
    const curl = hasSecret ? formatCall(createSenderVerifier({}), method, eventIdSources, url)
      : formatUnsignedCurl(url, method);
    return { url, curl, php: formatPhp(url, method, hasSecret), setup: null, curlObstacle: null };
  }
  if (findPreset(sender.preset.name) === undefined) {
    const curlObstacle = 'this version does not know the preset';
    return { url, curl: null, php: null, setup: null, curlObstacle };
  }
  const curlObstacle = findCallObstacle(sender, method);
  return {
    url, curl: curlObstacle === null ? formatCall(sender, method, eventIdSources, url) : null,
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

function formatCall(
  { preset, verifier }: SenderVerifier, method: string,
  eventId: ReadyIncomingWebhook['eventIdSources'], url: string,
): string {
  const { scheme, settings } = verifier;
  const sample = preset.scheme === null ? makeCustomSample(scheme) : preset.sample;
  const { body, contentType, headers = {} } = withEventId(sample, eventId, '{id}');
  return formatShellExample({ scheme, settings, method, body, contentType, headers, url });
}

// The secret decides, as a scheme may also take public keys (`whpk_`).
function hasPublicKey({ scheme, keys }: SenderVerifier['verifier']): boolean {
  return isPublicKey(keys[0]?.algorithm ?? scheme.algorithm);
}
