import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readPayload, resolveBodyKind } from '../../../src/webhooks/incoming/body-format.ts';

test('the format auto reads a body by its media type, the others whatever it is', () => {
  for (const [contentType, kind] of [
    ['application/json', 'json'], ['Application/JSON; charset=utf-8', 'json'],
    ['application/cloudevents+json', 'json'], ['application/x-www-form-urlencoded', 'form'],
    ['text/plain', 'text'], ['application/octet-stream', null], [undefined, null],
  ] as const) {
    assert.equal(resolveBodyKind('auto', contentType), kind, contentType);
    assert.equal(resolveBodyKind('json', contentType), 'json', contentType);
  }
});

test('a field of a form is a member of the payload, whatever its name', () => {
  const payload = readPayload(Buffer.from('__proto__=a&b=1&b=2&c='), 'form', null);
  assert.deepEqual(Object.entries(payload ?? {}), [
    ['__proto__', 'a'], ['b', ['1', '2']], ['c', ''],
  ]);
  assert.equal(Object.getPrototypeOf(payload), Object.prototype);
});
