import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  explainUnparsed, readPayload, resolveBodyKind,
} from '../../../src/webhooks/incoming/body-format.ts';

test('the format auto reads a body by its media type, the others whatever it is', () => {
  for (const [contentType, kind] of [
    ['application/json', 'json'], ['Application/JSON; charset=utf-8', 'json'],
    ['application/cloudevents+json', 'json'], ['application/x-www-form-urlencoded', 'form'],
    ['text/plain', 'text'], ['text/json', 'json'],
    ['Multipart/Form-Data; boundary=x', 'multipart'], ['multipart/mixed; boundary=x', null],
    ['application/octet-stream', null], [undefined, null],
  ] as const) {
    assert.equal(resolveBodyKind('auto', contentType), kind, contentType);
    assert.equal(resolveBodyKind('json', contentType), 'json', contentType);
  }
});

test('a field of a form is a member of the payload, whatever its name', () => {
  const payload = readPayload(
    Buffer.from('__proto__=a&b=1&b=2&c='), undefined, 'form', { formField: null, jsonFields: [] });
  assert.deepEqual(Object.entries(payload ?? {}), [
    ['__proto__', 'a'], ['b', ['1', '2']], ['c', ''],
  ]);
  assert.equal(Object.getPrototypeOf(payload), Object.prototype);
});

const FORM_BODY = Buffer.from('payload={"a":[1]}&payload=b&n=42&x={');
const MULTIPART_TYPE = 'multipart/form-data; boundary=b';
const MULTIPART_BODY = Buffer.from(`--b
Content-Disposition: form-data; name="payload"

{"a":[1]}
--b
Content-Disposition: form-data; name="payload"

b
--b
Content-Disposition: form-data; name="n"

42
--b
Content-Disposition: form-data; name="x"

{
--b
Content-Disposition: form-data; name="f"; filename="f.json"
Content-Type: application/json

{}
--b--
`.replaceAll('\n', '\r\n'));

test('fields that are said to hold JSON become it in their place, unless they hold none', () => {
  const jsonFields = ['payload', 'x', 'f'];
  const reading = { formField: null, jsonFields };
  const fields = { payload: [{ a: [1] }, 'b'], n: '42', x: '{' };
  assert.deepEqual(readPayload(FORM_BODY, undefined, 'form', reading), fields);
  assert.deepEqual(readPayload(MULTIPART_BODY, MULTIPART_TYPE, 'multipart', reading), {
    ...fields, f: { filename: 'f.json', contentType: 'application/json', base64: 'e30=' },
  });
});

test('JSON of any kind may stand in a field', () => {
  const body = Buffer.from('a=1&b=null&c="t"&d=true&e=[]');
  const reading = { formField: null, jsonFields: ['a', 'b', 'c', 'd', 'e'] };
  assert.deepEqual(readPayload(body, undefined, 'form', reading),
    { a: 1, b: null, c: 't', d: true, e: [] });
});

test('a field that should hold the payload, and holds no JSON, is named', () => {
  const reading =
    { format: 'auto', formField: 'payload', jsonFields: [], secretSources: [] } as const;
  const formType = 'application/x-www-form-urlencoded';
  assert.match(explainUnparsed(reading, Buffer.from('payload=hello'), formType) ?? '',
    /^the field "payload" of the form holds no JSON object or array,/);
  assert.match(explainUnparsed(reading, Buffer.from('a'), MULTIPART_TYPE) ?? '',
    /^the body is no whole multipart form/);
});
