/** Kept requests made up for tests. */
import { createHash } from 'node:crypto';
import { createInlineBody } from '../../../src/webhooks/inbox/request-body.ts';
import {
  createPendingRoute, type RouteDelivery,
} from '../../../src/webhooks/deliveries/route-delivery.ts';
import type { StoredRequest } from '../../../src/webhooks/inbox/stored-request.ts';

const AT = '2026-01-01T00:00:00.000Z';

export function makeStoredRequest(
  { body = Buffer.from('{}'), given = {} }: {
    readonly body?: Buffer; readonly given?: Partial<StoredRequest>;
  },
): StoredRequest {
  return {
    id: '01890000-0000-7000-8000-000000000001', receivedAt: AT, updatedAt: AT, status: 'pending',
    pinned: false, hook: '01890000-0000-7000-8000-00000000000a', method: 'POST',
    path: '/webhook/in/hook', query: '', headers: [['Content-Type', 'application/json']],
    signatures: [], bodyBytes: body.length,
    bodySha256: createHash('sha256').update(body).digest('hex'),
    client: '127.0.0.1', host: 'localhost', protocol: 'http', event: null, eventId: null,
    eventIdReused: false,
    verdict: { preset: null, accepted: true, failedCheck: null, secret: null, signedAt: null },
    routes: makeRoutes(given), answered: null, duplicateOf: null, replayOf: null,
    isReplay: false, unparsed: null,
    inlineBody: createInlineBody(body), ...given,
  };
}

/** The one route of a request with that status. */
function makeRoutes(
  { status = 'pending', receivedAt = AT }: Partial<StoredRequest>,
): readonly RouteDelivery[] {
  const route = createPendingRoute('default', receivedAt);
  if (status === 'pending') return [route];
  if (status !== 'done' && status !== 'failed') return [];
  return [{ ...route, status, nextAttemptAt: null }];
}
