/** The attributes of CloudEvents, as requests have them in each mode. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readCloudEvent } from '../../../src/webhooks/senders/request/cloud-event.ts';

const BINARY = { 'ce-specversion': '1.0', 'ce-id': 'a1', 'ce-source': '/s', 'ce-type': 'com.a' };
const EVENT = { specversion: '1.0', id: 'a1', source: '/s', type: 'com.a', data: { b: 1 } };
const STRUCTURED = { 'content-type': 'Application/CloudEvents+JSON; charset=UTF-8' };
const BATCH = { 'content-type': 'application/cloudevents-batch+json' };
const WHOLE = { type: 'com.a', id: '["/s","a1"]', problem: null };
const NO_JSON = (): never => assert.fail('the body is not read');

function problemOf(headers: Readonly<Record<string, string>>, document?: unknown): string | null {
  const { type, id, problem } = readCloudEvent(headers, () => document);
  if (problem !== null) assert.deepEqual([type, id], [null, null]);
  return problem;
}

test('an event is read from its headers, and the body left alone', () => {
  assert.deepEqual(readCloudEvent(BINARY, NO_JSON), WHOLE);
  assert.deepEqual(
    readCloudEvent({ ...BINARY, 'content-type': 'application/json' }, NO_JSON), WHOLE);
});

test('a structured event is read from its JSON, whatever the headers say', () => {
  assert.deepEqual(readCloudEvent({ ...STRUCTURED, 'ce-id': 'b' }, () => EVENT), WHOLE);
});

test('a batch has neither type nor id, and may be empty', () => {
  for (const document of [[], [EVENT], [EVENT, { ...EVENT, id: 'a2' }]]) {
    assert.deepEqual(
      readCloudEvent(BATCH, () => document), { type: null, id: null, problem: null });
  }
});

test('a missing or empty attribute is named', () => {
  for (const name of ['specversion', 'id', 'source', 'type']) {
    const { [`ce-${name}`]: _, ...headers } = BINARY as Readonly<Record<string, string>>;
    assert.match(problemOf(headers) ?? '', new RegExp(`lacks the header \`ce-${name}\``));
    assert.match(problemOf({ ...BINARY, [`ce-${name}`]: '' }) ?? '', new RegExp(`ce-${name}`));
    for (const value of [undefined, '', 1, null, ['a']]) {
      const event = { ...EVENT, [name]: value };
      const wanted = new RegExp(`lacks the attribute \`${name}\``);
      assert.match(problemOf(STRUCTURED, event) ?? '', wanted);
      assert.match(problemOf(BATCH, [EVENT, event]) ?? '', /^event 2 of the batch lacks/);
    }
  }
});

test('what is no event of a known format is refused', () => {
  for (const [headers, document, wanted] of [
    [{}, undefined, /lacks the header/], [STRUCTURED, undefined, /lacks the attribute/],
    [STRUCTURED, [EVENT], /lacks the attribute/], [BATCH, EVENT, /no JSON array/],
    [BATCH, undefined, /no JSON array/], [BATCH, [null], /event 1 of the batch/],
    [{ ...BINARY, 'content-type': 'application/cloudevents+xml' }, EVENT, /cannot be read/],
    [{ ...BINARY, 'content-type': 'application/cloudevents' }, EVENT, /cannot be read/],
  ] as const) {
    assert.match(problemOf(headers, document) ?? '', wanted);
  }
});

test('headers are unquoted, and then decoded once', () => {
  for (const [value, type] of [
    ['Euro%20%E2%82%AC%20%F0%9F%98%80', 'Euro € \u{1f600}'], ['"a \\"b\\" %25"', 'a "b" %'],
    ['%2541', '%41'], ['100%', '100%'], ['%zz', '%zz'], ['"a', '"a'],
    ['"\\\\"', '\\'],
  ] as const) {
    assert.equal(readCloudEvent({ ...BINARY, 'ce-type': value }, NO_JSON).type, type, value);
    assert.equal(readCloudEvent({ ...BINARY, 'ce-id': value }, NO_JSON).id,
      JSON.stringify(['/s', type]), value);
  }
});

test('escapes that are no UTF-8 are refused: two ids must not become one', () => {
  for (const value of ['a%fe', 'a%ff', '%C0%A0', '"%e2%82"']) {
    assert.match(problemOf({ ...BINARY, 'ce-id': value }) ?? '',
      /the header `ce-id` has escapes that are no UTF-8/, value);
  }
});
