import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deliveryHead } from '../../../src/webhooks/deliveries/delivery-codec.ts';
import { getListedStatus } from '../../../src/webhooks/deliveries/delivery-list.ts';
import { addAttempt, createPendingRoute } from '../../../src/webhooks/deliveries/route-delivery.ts';
import {
  decodeListedRoute, decodeRoute, encodeRoute,
} from '../../../src/webhooks/deliveries/route-record.ts';

const REQUEST = '01a21995-ecc6-7183-907d-90ca39773a8a';
const AT = '2026-11-26T20:39:45.605Z';
const LATER = '2026-11-26T20:39:50.605Z';
const ATTEMPT = { at: AT, durationMs: 1, success: false, message: 'no', data: {} };

const listedStatusOf = (bytes: Buffer): string =>
  getListedStatus(decodeListedRoute(bytes));
const encode = (route: Parameters<typeof encodeRoute>[3]): string =>
  encodeRoute(REQUEST, 0, 'hook', route);

test('a route that is coalesced is read as it was written, and counts as delivered', () => {
  const attempt = { ...ATTEMPT, success: true, message: 'Coalesced', data: { coalesced: true } };
  const route = addAttempt(createPendingRoute('default', AT), attempt, { isCoalesced: true });
  assert.equal(route.status, 'coalesced');
  const bytes = Buffer.from(encode(route));
  assert.deepEqual(decodeRoute(bytes), route);
  assert.equal(JSON.parse(bytes.toString()).status, 'delivered');
  assert.equal(deliveryHead.readStatus(bytes), 'delivered');
  assert.deepEqual([listedStatusOf(bytes), decodeListedRoute(bytes).hook], ['coalesced', 'hook']);
});

test('a route that only says that it was coalesced is listed as done', () => {
  const attempt = { ...ATTEMPT, success: true, data: { coalesced: true } };
  const route = addAttempt(createPendingRoute('delivered","coalesced":true', AT), attempt);
  assert.equal(listedStatusOf(Buffer.from(encode(route))), 'delivered');
});

test('a route due since its creation is written without that time, and read with it', () => {
  const route = createPendingRoute('default', AT);
  assert.doesNotMatch(encode(route), /nextAttemptAt/);
  assert.deepEqual(decodeRoute(Buffer.from(encode(route))), route);
});

test('a route that waits for a retry, is done or has failed is read as it was written', () => {
  const route = createPendingRoute('default', AT);
  for (const written of [
    addAttempt(route, ATTEMPT, { nextAttemptAt: LATER }),
    addAttempt(route, ATTEMPT, { nextAttemptAt: AT }), addAttempt(route, ATTEMPT),
    addAttempt(route, { ...ATTEMPT, success: true, message: null }),
  ]) assert.deepEqual(decodeRoute(Buffer.from(encode(written))), written);
});
