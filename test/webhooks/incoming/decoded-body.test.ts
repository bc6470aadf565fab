import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Payload } from '../../../src/webhooks/actions/action-payload.ts';
import { DecodedBody, weighRun } from '../../../src/webhooks/incoming/receiving/decoded-body.ts';

test('a body is decoded once for all routes, and encoded once', () => {
  const decoded = new DecodedBody();
  const counts = { read: 0, encoded: 0 };
  const read = (): Payload => {
    counts.read += 1;
    return { a: 1 };
  };
  const encode = (): Buffer => {
    counts.encoded += 1;
    return Buffer.from(JSON.stringify(decoded.readPayload(read)));
  };
  for (let route = 0; route < 20; route += 1) {
    assert.deepEqual(decoded.readPayload(read), { a: 1 });
    assert.equal(String(decoded.readBytes(encode)), '{"a":1}');
  }
  assert.deepEqual(counts, { read: 1, encoded: 1 });
  decoded.forget();
  assert.equal(String(decoded.readBytes(encode)), '{"a":1}');
  assert.deepEqual(counts, { read: 1, encoded: 1 }, 'the bytes need no payload');
});

test('a run weighs its payload once, and for each route what that copies of the body', () => {
  const body = Buffer.from(JSON.stringify(['x'.repeat(10_000)]));
  assert.equal(weighRun(body, 0), 2 * body.length + 40);
  assert.equal(weighRun(body, 20), weighRun(body, 0) + 40 * body.length);
});
