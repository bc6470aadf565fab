/**
 * What a release before 1.1 may have left: deliveries with their events and bodies in them, events
 * that several share, one whose deliveries were still being written, and requests with their
 * routes, each in every status. Each has a number, which stands in what it sends.
 */
import { createIdSource, deriveIds } from '../../src/base/uuid.ts';
import type { Store, Transaction } from '../../src/store/store-port.ts';
import { deliveryQueue } from '../../src/webhooks/deliveries/delivery-changes.ts';
import type { DeliveryStatus } from '../../src/webhooks/deliveries/delivery.ts';
import type { RouteDelivery } from '../../src/webhooks/deliveries/route-delivery.ts';
import { createPendingRoute } from '../../src/webhooks/deliveries/route-delivery.ts';
import { encodeBodyRecord } from '../../src/webhooks/inbox/request-body.ts';
import { encodeRequest } from '../../src/webhooks/inbox/request-codec.ts';
import { changeRequests } from '../../src/webhooks/inbox/request-changes.ts';
import {
  encodeFormerDelivery, encodeFormerEvent, encodeFormerMark, encodeFormerShare,
} from './deliveries/former-records.ts';
import { makeStoredRequest } from './inbox/sample-request.ts';

const AT = '2026-01-01T00:00:00.000Z';
const STATUSES: readonly DeliveryStatus[] = [
  'pending', 'delivered', 'pending', 'failed', 'pending', 'cancelled',
];
const SENT = ',"sent":["POST","http://one/"],"attempts":[{"at":"2026-01-01T00:00:00.000Z",'
  + '"durationMs":1,"statusCode":500,"error":null,"response":""}]';
/** Every so many requests the body has a record of its own. */
const LARGE_EVERY = 4;
const LARGE_BYTES = 20_000;

/** Where what is old goes: two webhooks, a forward's URL, and an incoming webhook's two routes. */
export type OldPlaces = {
  readonly hooks: readonly [string, string];
  readonly forwardUrl: string;
  readonly incoming: string;
  readonly routes: readonly [string, string];
};

export type OldDelivery = {
  readonly id: string;
  readonly n: number;
  readonly status: DeliveryStatus;
  /** What it sends. */
  readonly body: string;
  readonly isForward: boolean;
};

export type OldRequest = {
  readonly id: string;
  readonly n: number;
  /** The names of the routes that are still to run. */
  readonly pending: readonly string[];
};

export type OldWork = {
  readonly deliveries: readonly OldDelivery[];
  readonly requests: readonly OldRequest[];
};

/** Puts `count` of each kind, a transaction for each, and says what they are. */
export async function putOldRecords(
  store: Store, places: OldPlaces, count: number,
): Promise<OldWork> {
  const makeId = createIdSource({ now: () => Date.parse(AT) });
  const deliveries: OldDelivery[] = [];
  const requests: OldRequest[] = [];
  for (let n = 0; n < count; n += 1) {
    await store.transact((transaction) => {
      const made = putDeliveries(transaction, places, { makeId, n });
      deliveries.push(...made);
      addToTotals(transaction, made);
    });
    await store.transact((transaction) =>
      void requests.push(putRequest(transaction, places, makeId(), n)));
  }
  return { deliveries, requests };
}

type Numbered = { readonly makeId: () => string; readonly n: number };

/** One of each form: alone, with a body made of it, a forward, and shared by two. */
function putDeliveries(
  transaction: Transaction, { hooks, forwardUrl }: OldPlaces, { makeId, n }: Numbered,
): OldDelivery[] {
  const [one, two] = hooks;
  const status = STATUSES[n % STATUSES.length] ?? 'pending';
  const put = (
    body: string, encode: (id: string) => string, isForward = false,
  ): OldDelivery => {
    const id = makeId();
    transaction.put('deliveries', id, encode(id));
    return { id, n, status, body, isForward };
  };
  const payload = `{"n":${n}}`;
  const eventMembers = `"depth":1,"deliveries":[],"payload":${payload}`;
  const made = `{"n":${n},"made":true}`;
  const forward = `"depth":0,"deliveries":[],"forward":{"url":"${forwardUrl}","method":"POST",`
    + `"headers":{}},"text":${JSON.stringify(payload)}`;
  return [
    put(payload, (id) => encodeFormerDelivery(id, one, { status, eventMembers })),
    put(made, (id) => encodeFormerDelivery(id, one, {
      status, eventMembers, more: `${SENT},"body":${JSON.stringify(made)}`,
    })),
    put(payload, (id) => encodeFormerDelivery(id, null, {
      status, event: null, eventMembers: forward,
    }), true),
    ...putSharedEvent(transaction, [one, two], { makeId, n }, status),
  ];
}

/** The first delivery of a shared event is delivered already, and has the event's own id. */
function putSharedEvent(
  transaction: Transaction, [one, two]: readonly [string, string], { makeId, n }: Numbered,
  status: DeliveryStatus,
): OldDelivery[] {
  const seed = makeId();
  const nextId = deriveIds(seed);
  const [eventId, second] = [nextId(), nextId()];
  const body = `{"n":${n}}`;
  const event = encodeFormerEvent(eventId, [eventId, second], body);
  transaction.put('events', eventId, event);
  transaction.put('deliveries', eventId, encodeFormerShare(eventId, one, eventId, 'delivered'));
  const isBeingWritten = n % STATUSES.length === 2;
  if (isBeingWritten) {
    transaction.put('fan-outs', eventId, JSON.stringify({
      identifier: eventId, seed, createdAt: AT, event: 'thing.happened', hooks: [one, two],
    }));
    transaction.put('fan-outs', `${eventId}~`,
      JSON.stringify({ identifier: `${eventId}~`, written: 1 }));
  } else {
    transaction.put('deliveries', second, encodeFormerShare(second, two, eventId, status));
  }
  if (status === 'delivered' || status === 'cancelled') {
    transaction.put('events', `${eventId}~`, encodeFormerMark(eventId, event.length));
  }
  const share = { n, body, isForward: false };
  return [{ ...share, id: eventId, status: 'delivered' }, { ...share, id: second, status }];
}

function addToTotals(transaction: Transaction, made: readonly OldDelivery[]): void {
  const { totals } = deliveryQueue;
  const before = totals.read(transaction);
  const counts = { ...before, accepted: before.accepted + made.length };
  for (const { status } of made) counts[status] += 1;
  totals.write(transaction, counts);
}

function putRequest(
  transaction: Transaction, { incoming, routes }: OldPlaces, id: string, n: number,
): OldRequest {
  const text = n % LARGE_EVERY === 0 ? 'x'.repeat(LARGE_BYTES) : '';
  const body = Buffer.from(JSON.stringify({ n, text }));
  const pending = routes.filter((_, index) => n % 3 === 0 || n % 3 === index);
  const states = routes.map((name): RouteDelivery => {
    const route = createPendingRoute(name, AT);
    if (pending.includes(name)) return route;
    const attempt = { at: AT, durationMs: 1, success: true, message: null, data: {} };
    return { ...route, status: 'done', nextAttemptAt: null, attempts: [attempt], attemptCount: 1 };
  });
  const status = pending.length === 0 ? 'done' : 'pending';
  const given = { id, hook: incoming, routes: states, status } as const;
  const request = makeStoredRequest({ body, given });
  if (request.inlineBody === null) {
    transaction.put('request-bodies', id, encodeBodyRecord(id, body));
  }
  transaction.put('requests', id, encodeRequest(request, true));
  changeRequests(transaction, (unit) => unit.count(status, 1));
  return { id, n, pending };
}
