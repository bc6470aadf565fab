/** Kept requests as bytes: what is written comes back, and is found without parsing. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, test } from 'node:test';
import {
  getRequestBody, encodeBodyRecord,
} from '../../../src/webhooks/inbox/request-body.ts';
import {
  decodeRequest, encodeRequest, readWebhookId, isPinned, readStatus, estimateStoredBytes,
  readUpdatedMs,
} from '../../../src/webhooks/inbox/request-codec.ts';
import {
  REQUEST_STATUSES, toPublicRequest, type StoredRequest,
} from '../../../src/webhooks/inbox/stored-request.ts';
import { makeStoredRequest } from './sample-request.ts';

const BODIES: Readonly<Record<string, Buffer>> = {
  'no body': Buffer.alloc(0),
  'JSON': Buffer.from('{"a":"b"}'),
  'what reads like a body': Buffer.from('","bodyText":"x","body":null}'),
  'line breaks and other letters': Buffer.from('a\r\nß\u2028\u{1f600}'),
  'control characters': Buffer.alloc(300),
  'what is no UTF-8': Buffer.from([0xff, 0xfe, 0, 1]),
  'just what fits beside it': Buffer.alloc(16 * 1024, 'x'),
};

describe('a stored request', () => {
  for (const [name, body] of Object.entries(BODIES)) {
    test(`keeps ${name} byte for byte`, () => {
      const request = makeStoredRequest({ body, given: { status: 'done' } });
      const bytes = Buffer.from(encodeRequest(request));
      const decoded = decodeRequest(bytes);
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
    const route = {
      name: 'default', status: 'done', attempts: [attempt], nextAttemptAt: null, failures: 0,
      attemptCount: 1,
    } as const;
    for (const body of [Buffer.from('real'), Buffer.alloc(20_000, 'y')]) {
      const request = makeStoredRequest({ body, given: { routes: [route], status: 'done' } });
      const decoded = decodeRequest(Buffer.from(encodeRequest(request)));
      assert.deepEqual(decoded.routes, [route]);
      const apart = Buffer.from(encodeBodyRecord(request.id, body));
      assert.deepEqual(getRequestBody(decoded, () => body.length > 10_000 ? apart : undefined),
        body);
    }
  });

  test('tells status, pin and time without being parsed', () => {
    for (const status of REQUEST_STATUSES) {
      for (const pinned of [true, false]) {
        const updatedAt = '2026-03-04T05:06:07.089Z';
        const request = makeStoredRequest({ given: { status, pinned, updatedAt } });
        const bytes = Buffer.from(encodeRequest(request));
        assert.deepEqual([readStatus(bytes), isPinned(bytes), readUpdatedMs(bytes)],
          [status, pinned, Date.parse(updatedAt)]);
      }
    }
  });

  test('keeps a larger body in a record of its own', () => {
    const body = Buffer.alloc(16 * 1024 + 1, 'z');
    const request = makeStoredRequest({ body });
    const decoded = decodeRequest(Buffer.from(encodeRequest(request)));
    assert.equal(decoded.inlineBody, null);
    const record = Buffer.from(encodeBodyRecord(request.id, body));
    assert.deepEqual(getRequestBody(decoded, () => record), body);
    assert.throws(() => getRequestBody(decoded, () => undefined), { code: 'damaged' });
  });

  test('tells what it takes with its body, also as older records have it', () => {
    const body = Buffer.alloc(3000, 'x');
    const headers = [['X-"', ',"bodyBytes":7,'], ['Accept', '*/*']] as const;
    const bytes = Buffer.from(encodeRequest(makeStoredRequest({ body, given: { headers } })));
    const member = ',"bodyBytes":3000';
    const json = bytes.toString();
    assert.ok(json.includes(`"${member},"method"`), json);
    const older = Buffer.from(json.replace(member, '').replace(',"client"', `${member},"client"`));
    assert.equal(older.length, bytes.length);
    assert.deepEqual(decodeRequest(older), decodeRequest(bytes));
    for (const stored of [bytes, older]) {
      assert.equal(estimateStoredBytes(stored), bytes.length + 4000);
      assert.equal(readWebhookId(stored), decodeRequest(bytes).hook);
    }
    const inline = Buffer.from(encodeRequest(makeStoredRequest({ body: Buffer.from('y') })));
    assert.equal(estimateStoredBytes(inline), inline.length);
  });

  test('keeps the body of one that is to be run apart, where that is worth a record', () => {
    const hasInlineBody = (bytes: number, status: StoredRequest['status']): boolean =>
      makeStoredRequest({ body: Buffer.alloc(bytes, 'x'), given: { status } }).inlineBody !== null;
    assert.deepEqual([hasInlineBody(256, 'pending'), hasInlineBody(257, 'pending'),
      hasInlineBody(257, 'done')],
      [true, false, true]);
  });

  test('says of routes and verdict only what is not as usual', () => {
    const attempt = {
      at: '2026-01-01T00:00:00.000Z', durationMs: 1, success: false, message: null, data: {},
    };
    const failing = {
      name: 'a', status: 'pending', attempts: [attempt, { ...attempt, message: 'm', data: null }],
      nextAttemptAt: '2026-01-02T00:00:00.000Z', failures: 2, attemptCount: 25,
    } as const;
    const done = {
      name: 'b', status: 'done', attempts: [{ ...attempt, success: true, data: { a: 1 } }],
      nextAttemptAt: null, failures: 0, attemptCount: 1,
    } as const;
    const verdict = {
      preset: 'github', accepted: true, failedCheck: null, secret: 'previous', signedAt: null,
    } as const;
    const request = makeStoredRequest({ given: { routes: [failing, done], verdict } });
    const json = encodeRequest(request).toString();
    const decoded = decodeRequest(Buffer.from(json));
    assert.deepEqual([decoded.routes, decoded.verdict], [[failing, done], verdict]);
    assert.deepEqual(Object.keys(decoded.routes[1]?.attempts[0] ?? {}),
      ['at', 'durationMs', 'success', 'message', 'data']);
    assert.match(json, /"verdict":\{"accepted":true,"preset":"github","secret":"previous"\},/);
    assert.match(json, /\{"name":"b","status":"done","attempts":\[\{"at":"[^"]+","durationMs":1,/);
  });

  test('is the same written anew and over an earlier version of it', () => {
    const given: Partial<StoredRequest> = {
      query: 'a=1', signatures: ['x-sig'], event: 'a.b","routes":[', eventId: 'e', host: 'h',
      headers: [['X-"', '\\","verdict":{},"routes":[],"bodyBytes":1'], ['X-Sig', 'ß']],
    };
    for (const status of REQUEST_STATUSES) {
      for (const body of Object.values(BODIES)) {
        const pinned = status === 'done';
        const request = makeStoredRequest({ body, given: { ...given, status, pinned } });
        const before = Buffer.from(encodeRequest(request));
        const after: StoredRequest = {
          ...request, status: 'failed', pinned: true, answered: { status: 200, afterMs: 3 },
          updatedAt: '2027-01-01T00:00:00.000Z',
          routes: request.routes.map((route) => ({ ...route, status: 'failed', failures: 1 })),
        };
        const whole = Buffer.from(encodeRequest(after));
        assert.deepEqual(encodeRequest(after, before), whole);
        assert.deepEqual(decodeRequest(whole).headers, given.headers);
      }
    }
  });

  test('is refused when it lacks what is always there', () => {
    const bytes = encodeRequest(makeStoredRequest({})).toString();
    for (const [from, to] of [['"status":"pending"', '"status":"lost"'], ['"bodyBytes"', '"none"'],
      ['"bodyText"', '"none"']] as const) {
      assert.throws(() => decodeRequest(Buffer.from(bytes.replace(from, to))), TypeError);
    }
  });

  test('every body is one line', () => {
    for (const body of Object.values(BODIES)) {
      const request = makeStoredRequest({ body, given: { status: 'done' } });
      assert.doesNotMatch(encodeRequest(request).toString(), /\n/);
    }
  });
});

test('says of a body that no payload could be made of it, and what would fit', () => {
  for (const fittingFormat of ['form', null] as const) {
    const request = makeStoredRequest({ given: { unparsed: { fittingFormat }, isReplay: true } });
    const decoded = decodeRequest(Buffer.from(encodeRequest(request)));
    assert.deepEqual([decoded.unparsed, decoded.isReplay], [{ fittingFormat }, true]);
    const shown = { ...toPublicRequest(decoded, null), fittingBodyFormat: fittingFormat };
    assert.deepEqual(toPublicRequest(decoded, null), { ...shown, unparsed: true });
  }
});

test('shows the members of the contract and hides signatures', () => {
  const given: Partial<StoredRequest> = {
    headers: [['X-Sig', 'abc'], ['Accept', '*/*']], signatures: ['x-sig', 's'], query: 'a=1&s=2',
  };
  const body = Buffer.from('x');
  const shown = toPublicRequest(makeStoredRequest({ body, given }), null);
  assert.deepEqual(Object.keys(shown), [
    'id', 'hook', 'hookName', 'receivedAt', 'method', 'path', 'query', 'headers', 'bodyBytes',
    'bodySha256', 'client', 'event', 'eventId', 'eventIdReused', 'verdict', 'status', 'routes',
    'answered', 'duplicateOf', 'replayOf', 'pinned',
  ]);
  assert.deepEqual({ ...shown }, {
    ...shown, headers: [['X-Sig', '***'], ['Accept', '*/*']], query: 'a=1&s=***', bodyBytes: 1,
    bodySha256: createHash('sha256').update(body).digest('hex'),
  });
});
