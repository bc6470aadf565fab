/** Kept requests as bytes: what is written comes back, and is found without parsing. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, test } from 'node:test';
import {
  getRequestBody, encodeBodyRecord,
} from '../../../src/webhooks/inbox/request-body.ts';
import {
  countWrittenDeliveries, decodeRequest, encodeRequest, readIsPinned, listDeliveryRecords,
  estimateStoredBytes, readRequestStatus, readRequestUpdatedMs,
} from '../../../src/webhooks/inbox/request-codec.ts';
import type { FindRecord } from '../../../src/store/store-port.ts';
import { encodeDelivery } from '../../../src/webhooks/deliveries/delivery-codec.ts';
import type { Delivery } from '../../../src/webhooks/deliveries/delivery.ts';
import { toPublicRequest } from '../../../src/webhooks/inbox/request-schema.ts';
import type { StoredRequest } from '../../../src/webhooks/incoming/stored-request.ts';
import { makeRoute, makeStoredRequest } from './sample-request.ts';

const BODIES: Readonly<Record<string, Buffer>> = {
  'no body': Buffer.alloc(0),
  'JSON': Buffer.from('{"a":"b"}'),
  'what reads like a body': Buffer.from('","bodyText":"x","body":null}'),
  'line breaks and other letters': Buffer.from('a\r\nß\u2028\u{1f600}'),
  'control characters': Buffer.alloc(300),
  'what is no UTF-8': Buffer.from([0xff, 0xfe, 0, 1]),
  'just what fits beside it': Buffer.alloc(16 * 1024, 'x'),
};

/** The records of a request: its own, and a finder of its deliveries. */
function encodeRecords(
  request: StoredRequest,
): { readonly bytes: Buffer; readonly find: FindRecord } {
  const records = new Map(request.deliveries.map((delivery) =>
    [delivery.identifier, Buffer.from(encodeDelivery(delivery))]));
  return {
    bytes: Buffer.from(encodeRequest(request)),
    find: (collection, id) => collection === 'deliveries' ? records.get(id) : undefined,
  };
}

function decodeAgain(request: StoredRequest): StoredRequest {
  const { bytes, find } = encodeRecords(request);
  return decodeRequest(bytes, find);
}

const AT = '2026-01-01T00:00:00.000Z';

describe('a stored request', () => {
  test('says how many deliveries it has, without them', () => {
    const named = makeRoute({ route: 'a' });
    const unparsed = { reason: 'is no JSON: "],["', fittingFormat: null };
    for (const deliveries of [[makeRoute()], [named], [makeRoute(), named, named]]) {
      for (const members of [{}, { unparsed }, { answered: { status: 200, afterMs: 1 } }]) {
        const request = makeStoredRequest({ given: { ...members, deliveries } });
        assert.equal(countWrittenDeliveries(encodeRequest(request)), deliveries.length);
      }
    }
    const filtered = makeStoredRequest({ given: { status: 'filtered', unparsed } });
    assert.equal(countWrittenDeliveries(encodeRequest(filtered)), 0);
  });

  for (const [name, body] of Object.entries(BODIES)) {
    test(`keeps ${name} byte for byte`, () => {
      const request = makeStoredRequest({ body, given: { status: 'done' } });
      const { bytes, find } = encodeRecords(request);
      const decoded = decodeRequest(bytes, find);
      const { inlineBody, ...rest } = decoded;
      assert.equal(inlineBody?.isEncoded, true);
      assert.deepEqual(getRequestBody(decoded, () => undefined), body);
      assert.deepEqual({ ...rest, inlineBody: request.inlineBody }, request);
      // What carries the bytes on writes the same record.
      assert.deepEqual(encodeRequest(decoded), bytes);
    });
  }

  test('reads as text in the journal where the body is text', () => {
    const request = makeStoredRequest({ body: Buffer.from('needle') });
    assert.match(encodeRequest(request).toString(), /"bodyText":"needle"/);
  });

  test('is not misled by what an action gave', () => {
    const attempt = {
      at: '2026-01-01T00:00:00.000Z', durationMs: 1, success: true, message: '","body":null}',
      data: { bodyText: 'x', body: null },
    };
    const route = makeRoute({
      status: 'delivered', attempts: [attempt], nextAttemptAt: null, attemptCount: 1,
    });
    for (const body of [Buffer.from('real'), Buffer.alloc(20_000, 'y')]) {
      const request = makeStoredRequest({ body, given: { deliveries: [route], status: 'done' } });
      const decoded = decodeAgain(request);
      assert.deepEqual(decoded.deliveries, [route]);
      const apart = Buffer.from(encodeBodyRecord(request.id, body));
      assert.deepEqual(
        getRequestBody(decoded, () => body.length > 10_000 ? apart : undefined), body);
    }
  });

  test('tells status, pin and time without being parsed', () => {
    for (const status of ['pending', 'filtered', 'duplicate'] as const) {
      for (const pinned of [true, false]) {
        const updatedAt = '2026-03-04T05:06:07.089Z';
        const request = makeStoredRequest({ given: { status, pinned, updatedAt } });
        const { bytes, find } = encodeRecords(request);
        const updatedMs = readRequestUpdatedMs(bytes, listDeliveryRecords(request.id, find));
        assert.deepEqual([readRequestStatus(bytes, find), readIsPinned(bytes), updatedMs],
          [status, pinned, Date.parse(updatedAt)]);
      }
    }
  });

  test('keeps a larger body in a record of its own', () => {
    const body = Buffer.alloc(16 * 1024 + 1, 'z');
    const request = makeStoredRequest({ body });
    const decoded = decodeAgain(request);
    assert.equal(decoded.inlineBody, null);
    const record = Buffer.from(encodeBodyRecord(request.id, body));
    assert.deepEqual(getRequestBody(decoded, () => record), body);
    assert.throws(() => getRequestBody(decoded, () => undefined), { code: 'damaged' });
  });

  test('tells what it takes with its body', () => {
    const body = Buffer.alloc(18_000, 'x');
    const headers = [['X-"', ',"bodyBytes":7,'], ['Accept', '*/*']] as const;
    const apart = makeStoredRequest({ body, given: { headers } });
    assert.equal(estimateStoredBytes(apart), encodeRequest(apart).length + 24_000);
    assert.deepEqual(decodeAgain(apart).headers, headers);
    const inline = makeStoredRequest({ body: Buffer.from('y') });
    assert.equal(estimateStoredBytes(inline), encodeRequest(inline).length);
  });

  test('is as its deliveries say, and as new as the newest of them', () => {
    const later = '2026-02-01T00:00:00.000Z';
    const route = (status: Delivery['status'], updatedAt = AT): Delivery =>
      makeRoute({ status, updatedAt, nextAttemptAt: status === 'pending' ? AT : null });
    for (const [deliveries, status] of [
      [[route('delivered'), route('pending', later)], 'pending'],
      [[route('failed', later), route('delivered')], 'failed'],
      [[route('delivered', later), route('coalesced')], 'done'],
    ] as const) {
      const { bytes, find } = encodeRecords(makeStoredRequest({ given: { deliveries } }));
      const { id, status: actual, updatedAt } = decodeRequest(bytes, find);
      const updatedMs = readRequestUpdatedMs(bytes, listDeliveryRecords(id, find));
      assert.deepEqual([actual, updatedAt, readRequestStatus(bytes, find), updatedMs],
        [status, later, status, Date.parse(later)]);
    }
  });

  test('has the same status parsed and unparsed, also if its deliveries are lost', () => {
    const { bytes } = encodeRecords(makeStoredRequest({}));
    const none = (): undefined => undefined;
    assert.deepEqual([decodeRequest(bytes, none).status, readRequestStatus(bytes, none)],
      ['filtered', 'filtered']);
  });

  test('says of routes and verdict only what is not as usual', () => {
    const attempt = {
      at: '2026-01-01T00:00:00.000Z', durationMs: 1, success: false, message: null, data: {},
    };
    const failing = makeRoute({
      attempts: [attempt, { ...attempt, message: 'm', data: null }],
      nextAttemptAt: '2026-01-02T00:00:00.000Z', failures: 2, attemptCount: 25, queuedAt: AT,
    });
    const done = makeRoute({
      route: 'b', status: 'delivered', attempts: [{ ...attempt, success: true, data: { a: 1 } }],
      nextAttemptAt: null, attemptCount: 1,
    });
    const verdict = {
      preset: 'github', accepted: true, failedCheck: null, secret: 'previous', signedAt: null,
    } as const;
    const request = makeStoredRequest({ given: { deliveries: [failing, done], verdict } });
    const json = encodeRequest(request).toString();
    const decoded = decodeAgain(request);
    assert.deepEqual([decoded.deliveries, decoded.verdict], [request.deliveries, verdict]);
    assert.deepEqual(Object.keys(decoded.deliveries[1]?.attempts[0] ?? {}),
      ['at', 'durationMs', 'success', 'message', 'data']);
    assert.match(json, /"verdict":\{"accepted":true,"preset":"github","secret":"previous"\},/);
  });

  test('is refused when it lacks what is always there', () => {
    const bytes = encodeRequest(makeStoredRequest({})).toString();
    for (const [from, to] of [['"status":"accepted"', '"status":"lost"'], ['"bodyBytes"', '"none"'],
      ['"bodyText"', '"none"'], ['"updatedAt"', '"none-none"'], ['"pinned"', '"none"'],
      ['"method"', '"none"'], ['"path"', '"none"'], ['"bodySha256"', '"none"'],
      ['"client"', '"none"'], ['"accepted":true', '"accepted":null']] as const) {
      assert.ok(bytes.includes(from));
      assert.throws(() => decodeRequest(
        Buffer.from(bytes.replace(from, to)), () => undefined), { code: 'damaged' }, from);
    }
  });

  test('every body is one line', () => {
    for (const body of Object.values(BODIES)) {
      const request = makeStoredRequest({ body, given: { status: 'done' } });
      assert.doesNotMatch(encodeRequest(request).toString(), /\n/);
    }
  });
});

const UNKNOWN = { hookName: null, bodyStart: null };

test('says of a body that no payload could be made of it, and what would fit', () => {
  for (const fittingFormat of ['form', null] as const) {
    const request = makeStoredRequest({ given: { unparsed: { fittingFormat }, isReplay: true } });
    const decoded = decodeAgain(request);
    assert.deepEqual([decoded.unparsed, decoded.isReplay], [{ fittingFormat }, true]);
    const shown = { ...toPublicRequest(decoded, UNKNOWN), fittingBodyFormat: fittingFormat };
    assert.deepEqual(toPublicRequest(decoded, UNKNOWN), { ...shown, unparsed: true });
  }
});

test('shows the members of the contract and hides signatures', () => {
  const given: Partial<StoredRequest> = {
    headers: [['X-Sig', 'abc'], ['Accept', '*/*']], signatures: ['x-sig', 's'], query: 'a=1&s=2',
  };
  const body = Buffer.from('x');
  const shown = toPublicRequest(makeStoredRequest({ body, given }), UNKNOWN);
  assert.deepEqual(Object.keys(shown), [
    'id', 'hook', 'hookName', 'receivedAt', 'method', 'path', 'query', 'headers', 'bodyBytes',
    'bodyStart', 'bodySha256', 'client', 'event', 'eventId', 'eventIdReused', 'verdict', 'status',
    'routes', 'answered', 'duplicateOf', 'replayOf', 'pinned',
  ]);
  assert.deepEqual({ ...shown }, {
    ...shown, headers: [['X-Sig', '***'], ['Accept', '*/*']], query: 'a=1&s=***', bodyBytes: 1,
    bodySha256: createHash('sha256').update(body).digest('hex'),
  });
});
