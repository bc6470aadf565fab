import assert from 'node:assert/strict';
import { test } from 'node:test';
import { resolveBodyKind } from '../../../src/webhooks/incoming/body-format.ts';

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
