import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { assertRefused, startRelay, type Relay } from '../relay.ts';

const PATH = '/api/outgoing-webhooks';
const targetUrl = 'http://127.0.0.1:1/';
let relay: Relay;
before(async () => {
  relay = await startRelay();
});
after(() => relay.close());

const REFUSED: readonly [object, string][] = [
  [{ triggerEvent: '*.*' }, '/triggerEvent'],
  [{ triggerEvent: '*.a' }, '/triggerEvent'],
  [{ triggerEvents: 'a' }, '/triggerEvents'],
  [{ triggerEvents: ['a', 'b*'] }, '/triggerEvents/1'],
  [{ triggerEvents: ['a', 'b', 'a'] }, '/triggerEvents/2'],
  [{ triggerEvents: namesOf(51) }, '/triggerEvents'],
  [{ triggerEvent: 'a', triggerEvents: ['b'] }, '/triggerEvents'],
  [{ retrySchedule: '5,60' }, '/retrySchedule'],
  [{ retrySchedule: [5, -1] }, '/retrySchedule/1'],
  [{ retrySchedule: [2_000_001] }, '/retrySchedule/0'],
  [{ retrySchedule: new Array(101).fill(1) }, '/retrySchedule'],
  [{ retryOn: '5xx' }, '/retryOn'],
  [{ successWhen: { path: 'payload.ok', op: 'exists' } }, '/successWhen/path'],
  [{ successWhen: { path: 'status.code', op: 'exists' } }, '/successWhen/path'],
  [{ retryOn: [500, '6xx'] }, '/retryOn/1'],
  [{ retryOn: ['2xx'] }, '/retryOn/0'],
  [{ retryOn: ['5XX'] }, '/retryOn/0'],
  [{ retryOn: [200] }, '/retryOn/0'],
  [{ retryOn: [500.5] }, '/retryOn/0'],
  [{ retryOn: [null] }, '/retryOn/0'],
  [{ retryOn: new Array(101).fill(500) }, '/retryOn'],
  [{ timeout: 0 }, '/timeout'],
  [{ timeout: '5' }, '/timeout'],
  [{ maxInFlight: 0 }, '/maxInFlight'],
  [{ maxInFlight: 1.5 }, '/maxInFlight'],
  [{ rate: 5 }, '/rate'],
  [{ rate: { limit: 5 } }, '/rate/seconds'],
  [{ rate: { limit: 0, seconds: 1 } }, '/rate/limit'],
  [{ rate: { limit: 10_001, seconds: 1 } }, '/rate/limit'],
  [{ rate: { limit: 1, seconds: 3601 } }, '/rate/seconds'],
  [{ rate: { limit: 1, seconds: 0.5 } }, '/rate/seconds'],
  [{ rate: { limit: 1, seconds: 1, burst: 2 } }, '/rate/burst'],
  [{ order: 'fifo' }, '/order'],
  [{ order: 1 }, '/order'],
  [{ order: {} }, '/order'],
  [{ order: { key: 'payload.a', also: 1 } }, '/order'],
  [{ order: { key: 1 } }, '/order/key'],
  [{ order: { key: '' } }, '/order/key'],
  [{ order: { key: 'payload..a' } }, '/order/key'],
  [{ order: { key: 'payload[0]' } }, '/order/key'],
  [{ order: { key: 'data.id' } }, '/order/key'],
  [{ order: { key: 'key.id' } }, '/order/key'],
  [{ order: { key: 'headers.x-id' } }, '/order/key'],
  [{ disableAfterHours: -1 }, '/disableAfterHours'],
  [{ disableAfterHours: 8761 }, '/disableAfterHours'],
  [{ probe: 'hourly', disableAfterHours: 1 }, '/probe'],
  [{ probe: true }, '/probe'],
  [{ probe: true, disableAfterHours: 0 }, '/probe'],
];

for (const [members, pointer] of REFUSED) {
  test(`refuses ${JSON.stringify(members).slice(0, 80)} at ${pointer}`, async () => {
    assertRefused(await relay.ask('POST', PATH, { targetUrl, ...members }), pointer);
  });
}

test('listens for one name, several or every one, by one member', async () => {
  const several = { targetUrl, triggerEvents: ['order.*', 'a .*', 'paid', '*', ...namesOf(46)] };
  const made = await relay.ask('POST', PATH, several);
  assert.equal(made.status, 201, made.text);
  assert.deepEqual(made.json['triggerEvents'], several.triggerEvents);
  const path = `${PATH}/${String(made.json['identifier'])}`;
  const patch = (body: object): ReturnType<typeof relay.ask> =>
    relay.ask('PATCH', path, body, { 'Content-Type': 'application/merge-patch+json' });
  for (const [members, triggerEvent, triggerEvents] of [
    [{ triggerEvent: '*' }, '*'],
    [{ description: 'other members leave it' }, '*'],
    [{ triggerEvents: ['a', 'b'] }, undefined, ['a', 'b']],
    [{ triggerEvent: 'c', triggerEvents: null }, 'c'],
    [{ triggerEvent: null, triggerEvents: [] }, undefined, []],
    [{ triggerEvent: 'd' }, 'd'],
  ] as const) {
    const { status, json, text } = await patch(members);
    assert.equal(status, 200, text);
    assert.deepEqual([json['triggerEvent'], json['triggerEvents']], [triggerEvent, triggerEvents]);
  }
  const both = { targetUrl, triggerEvent: 'e', triggerEvents: ['f'] };
  for (const refused of [await patch(both), await relay.ask('PUT', path, both)]) {
    assert.equal(refused.status, 422);
    assert.match(refused.text, /must not stand beside triggerEvent: give one of the two/);
  }
  assert.equal((await relay.ask('DELETE', path)).status, 204);
});

test('rules of its own are kept as they were given, and can be taken away', async () => {
  const rules = {
    retrySchedule: [0, 0.5, 2_000_000], retryOn: ['5xx', 408, 425, 429], timeout: 0.001,
    maxInFlight: 65_535, rate: { limit: 10_000, seconds: 3600 }, disableAfterHours: 0.5,
    probe: true,
  };
  const made = await relay.ask('POST', PATH, { targetUrl, ...rules });
  assert.equal(made.status, 201, made.text);
  for (const [name, value] of Object.entries(rules)) assert.deepEqual(made.json[name], value);
  const path = `${PATH}/${String(made.json['identifier'])}`;
  const { json } = await relay.ask('PUT', path, { targetUrl });
  for (const name of Object.keys(rules)) assert.equal(json[name], undefined);
});

function namesOf(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `name.${index}`);
}
