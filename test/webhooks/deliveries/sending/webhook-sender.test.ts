/** What a send and an attempt make of what happens, with a scripted client and body. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonValue } from '../../../../src/base/schema.ts';
import { CHAIN_HEADER, CHAIN_REFUSED } from '../../../../src/base/webhook-chain.ts';
import { NetworkError } from '../../../../src/client/network-error.ts';
import type { TargetResponse } from '../../../../src/webhooks/members/http-sender.ts';
import type {
  ReadyOutgoingWebhook,
} from '../../../../src/webhooks/outgoing/outgoing-webhook-index.ts';
import type { BodyOrigin } from '../../../../src/webhooks/deliveries/sending/body-maker.ts';
import type {
  OutgoingRequest,
} from '../../../../src/webhooks/deliveries/sending/outgoing-request.ts';
import {
  createWebhookSender, type WebhookSender,
} from '../../../../src/webhooks/deliveries/sending/webhook-sender.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { createContext } from '../../context.ts';

const REFUSED = { [CHAIN_HEADER]: CHAIN_REFUSED };
const WEBHOOK = {
  identifier: 'w', targetUrl: 'http://there/', httpMethod: 'POST', enabled: true,
  getSigner: null, createHeaders: () => ({}),
  labels: { hook: 'w', hookName: null, webhook: 'w', target: 'there' },
} as unknown as ReadyOutgoingWebhook;
const REQUEST: OutgoingRequest = {
  id: 'd', url: 'http://there/', method: 'POST', headers: {}, secret: null, previousSecret: null,
  dialect: null, body: null,
};

function open(
  request: () => Promise<TargetResponse>, makeBody: (origin: BodyOrigin) => void = () => {},
): { readonly sender: WebhookSender; readonly levels: () => unknown[] } {
  const logLines: string[] = [];
  const bodies = {
    async make(_: unknown, payloadJson: Buffer, __: unknown, origin: BodyOrigin) {
      makeBody(origin);
      return payloadJson;
    },
  };
  const context = createContext({
    clock: new ManualClock(), writeLog: (line) => logLines.push(line),
  });
  return {
    sender: createWebhookSender(context, { request }, bodies),
    levels: () => logLines.map((line) => JSON.parse(line).level),
  };
}

function respond(statusCode: number, headers = {}): () => Promise<TargetResponse> {
  return async () => ({ statusCode, headers, body: Buffer.from('') });
}

const CASES = [
  ['a failure of the target is a warning', 500, {}, false, 'warning'],
  ["it is one though the action's own request was refused", 500, {}, true, 'warning'],
  ['a refusal of the chain by the target is none', 508, REFUSED, false, 'debug'],
] as const;
for (const [title, status, headers, isActionRefused, level] of CASES) {
  test(title, async () => {
    const { sender, levels } = open(respond(status, headers), ({ onChainRefused }) => {
      if (isActionRefused) onChainRefused?.();
    });
    const { success } = await sender.send(WEBHOOK, {}, {});
    assert.deepEqual([success, levels()], [false, [level]]);
  });
}

test('a bug is no failure of the target', async () => {
  const { sender } = open(async () => {
    throw new TypeError('planted');
  });
  await assert.rejects(sender.send(WEBHOOK, {}, {}), TypeError);
  await assert.rejects(sender.attempt(REQUEST, new AbortController().signal), TypeError);
});

test('a failure before the target was asked names what failed, not the target', async () => {
  const cases = [
    [new NetworkError('busy', 'EBUSY', 'too many requests wait'),
      'too many requests wait (EBUSY)'],
    [new NetworkError('proxy', 'EPROXY', 'the proxy failed', { isProxyFailure: true }),
      'the proxy failed (EPROXY)'],
  ] as const;
  for (const [error, reason] of cases) {
    const { sender } = open(async () => {
      throw error;
    });
    const { message } = await sender.send(WEBHOOK, {}, {});
    assert.equal(message, `The request could not be sent: ${reason}`);
  }
});

test('a payload that JSON cannot hold is not sent', async () => {
  let requestCount = 0;
  const { sender } = open(async () => {
    requestCount += 1;
    return { statusCode: 200, headers: {}, body: Buffer.from('') };
  });
  for (const payload of [undefined, 1n]) {
    const { message } = await sender.send(WEBHOOK, payload as unknown as JsonValue, {});
    assert.equal(message, 'Nothing was sent: the payload must be JSON');
  }
  assert.equal(requestCount, 0);
});
