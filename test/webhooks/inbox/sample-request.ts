/** Kept requests made up for tests. */
import { createHash } from 'node:crypto';
import { createInlineBody } from '../../../src/webhooks/inbox/request-body.ts';
import {
  afterAttempt, createRouteDelivery, type Delivery, type RunAttempt,
} from '../../../src/webhooks/deliveries/delivery.ts';
import { createRouteDeliveryId } from '../../../src/webhooks/deliveries/route-delivery-id.ts';
import {
  changeDeliveries, type StoredRequest,
} from '../../../src/webhooks/incoming/stored-request.ts';

const AT = '2026-01-01T00:00:00.000Z';
const ID = '01890000-0000-7000-8000-000000000001';
const HOOK = '01890000-0000-7000-8000-00000000000a';

export function makeStoredRequest(
  { body = Buffer.from('{}'), given = {} }: {
    readonly body?: Buffer; readonly given?: Partial<StoredRequest>;
  },
): StoredRequest {
  const { id = ID, hook = HOOK, deliveries = makeDeliveries(given) } = given;
  return {
    id, receivedAt: AT, updatedAt: AT, status: 'pending', pinned: false, hook,
    method: 'POST', path: '/webhook/in/hook', query: '',
    headers: [['Content-Type', 'application/json']],
    signatures: [], bodyBytes: body.length,
    bodySha256: createHash('sha256').update(body).digest('hex'),
    client: '127.0.0.1', host: 'localhost', protocol: 'http', event: null, eventId: null,
    eventIdReused: false,
    verdict: { preset: null, accepted: true, failedCheck: null, secret: null, signedAt: null },
    answered: null, duplicateOf: null, replayOf: null,
    isReplay: false, unparsed: null,
    inlineBody: createInlineBody(body), ...given,
    // One delivery may be given for many requests.
    deliveries: deliveries.map((delivery, index) =>
      ({ ...delivery, identifier: createRouteDeliveryId(id, index), request: id, hook })),
  };
}

/** A delivery to a route, of the request that is made without other members. */
export function makeRoute(changes: Partial<Delivery> = {}, at = AT): Delivery {
  return { ...createRouteDelivery({ id: ID, hook: HOOK }, 0, 'default', at), ...changes };
}

/** The request after a run of each of its routes that has succeeded. */
export function runAll(
  request: StoredRequest, nowMs: number, more: Partial<RunAttempt> = {},
): StoredRequest {
  const attempt = { at: AT, durationMs: 1, success: true, message: null, data: null, ...more };
  return changeDeliveries(request, nowMs, (deliveries, updatedAt) => deliveries.map((delivery) =>
    afterAttempt(delivery, { end: 'delivered', attempt }, { schedule: [] }, nowMs, 0, updatedAt)));
}

/** The one delivery of a request with that status. */
function makeDeliveries(
  { status = 'pending', receivedAt = AT }: Partial<StoredRequest>,
): readonly Delivery[] {
  if (status === 'pending') return [makeRoute({}, receivedAt)];
  if (status !== 'done' && status !== 'failed') return [];
  const routeStatus = status === 'done' ? 'delivered' : status;
  return [makeRoute({ status: routeStatus, nextAttemptAt: null }, receivedAt)];
}
