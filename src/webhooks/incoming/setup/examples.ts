/** `GET /api/incoming-webhooks/{identifier}/examples`: calls to copy, and what to paste where. */
import {
  objectOf, pathParameter, shown, text,
} from '../../../resources/route-parts.ts';
import { problemAnswers } from '../../../server/problem.ts';
import type { Route } from '../../../server/route.ts';
import { findPreset } from '../../senders/presets/table.ts';
import { isPublicKey } from '../../senders/scheme/scheme.ts';
import { shellCall } from '../../senders/signing/shell.ts';
import { exampleMethod, makeExamples, type Examples } from '../examples.ts';
import type { HookIndex, ReadyHook } from '../receiving/hook-index.ts';
import type { SenderCheck } from '../verification.ts';
import { getHook } from './hook.ts';
import { withEventId } from './sample-body.ts';

/** How the webhook is set up at its sender. */
export type SenderSetup = {
  readonly preset: string;
  readonly sender: string;
  /** The URL to register there. */
  readonly url: string;
  readonly pasteUrl: string;
  readonly pasteSecret: string;
  readonly documentation: string;
  /** What nothing but memory or a third party says. */
  readonly unconfirmed: string | null;
  /** false: the secret is a public key, so that only the sender can sign. */
  readonly canSign: boolean;
};

type Shown = { readonly [Name in keyof Examples]: Examples[Name] | null }
  & { readonly setup: SenderSetup | null };

export function examplesRoute(hooks: HookIndex, baseUri: () => string): Route {
  return {
    method: 'GET', path: '/api/incoming-webhooks/{identifier}/examples', access: 'read',
    operationId: 'getIncomingWebhookExamples',
    summary: 'Ready-to-run calls of one incoming webhook, and how to set up its sender',
    parameters: [pathParameter('identifier', 'Of the webhook, or its path segment')],
    answers: [
      shown('The examples', objectOf('IncomingWebhookExamples', {
        identifier: text(), pathSegment: text(), hasSecret: { kind: 'boolean' }, url: text(),
        curl: text(), php: text(),
        setup: objectOf('SenderSetup', {
          preset: text(), sender: text(), url: text(), pasteUrl: text(), pasteSecret: text(),
          documentation: text(), unconfirmed: text(), canSign: { kind: 'boolean' },
        }, { nullable: ['unconfirmed'] }),
      }, { nullable: ['curl', 'php', 'setup'] })),
      ...problemAnswers(404),
    ],
    handle(exchange) {
      const hook = getHook(hooks, exchange.params[0] ?? '');
      const { identifier, pathSegment, hasSecret } = hook;
      const url = `${baseUri()}/webhook/in/${pathSegment}`;
      exchange.sendJson(200, { identifier, pathSegment, hasSecret, ...examplesFor(hook, url) });
    },
  };
}

function examplesFor(
  { sender, methods, hasSecret, eventId }: ReadyHook, url: string,
): Shown {
  return sender === null
    ? { ...makeExamples({ url, method: exampleMethod(methods), hasSecret }), setup: null }
    : { url, curl: callOf(sender, eventId, url), php: null, setup: setupOf(sender, url) };
}

function setupOf({ preset, verifier }: SenderCheck, url: string): SenderSetup | null {
  const row = findPreset(preset);
  if (row === undefined) return null;
  const { sender, setup, documentation, unconfirmed = null } = row;
  return {
    preset, sender, url: verifier.settings.url ?? url,
    pasteUrl: setup.url, pasteSecret: setup.secret, documentation, unconfirmed,
    canSign: !hasPublicKey(verifier),
  };
}

function callOf(
  { preset, verifier }: SenderCheck, eventId: ReadyHook['eventId'], url: string,
): string | null {
  const row = findPreset(preset);
  if (row === undefined || hasPublicKey(verifier)) return null;
  const { body, contentType, headers = {} } = withEventId(row.sample, eventId, '{id}');
  const { scheme, settings } = verifier;
  return shellCall({ scheme, settings, body, contentType, headers, url });
}

// A secret may be a public key where the scheme takes both, as whpk_ is.
function hasPublicKey({ scheme, keys }: SenderCheck['verifier']): boolean {
  return isPublicKey(keys[0]?.algorithm ?? scheme.algorithm);
}
