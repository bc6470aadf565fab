/** Calls of actions as an incoming webhook makes them. */
import { silentLogger, type Logger } from '../../../../src/base/log.ts';
import type { ActionCall } from '../../../../src/webhooks/actions/action-registry.ts';
import type { Payload } from '../../../../src/webhooks/actions/action.ts';

/** `body`: what was received, where that is not the payload. */
export function createCall(
  payload: Payload, log: Logger = silentLogger, body: Buffer = Buffer.alloc(0),
): ActionCall {
  return {
    payload: () => payload, payloadJson: () => Buffer.from(JSON.stringify(payload)),
    plainBody: () => body,
    context: {
      headers: {}, query: '', body, contentType: null, method: 'POST', path: '/',
      receivedAt: '2026-01-01T00:00:00.000Z', event: null, eventId: null, verified: null,
      request: null, attempt: 1, replay: false,
    },
    options: {}, hops: 0, trace: null, log, requestOrigin: null, storedRequestId: null,
    secretSources: [], isChainRefused: false, webhookId: 'w', timeoutMs: null,
    configurationId: 'c', wait: null,
  };
}
