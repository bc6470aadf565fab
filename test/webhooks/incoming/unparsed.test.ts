/** Bodies that no payload can be made of: answered 200 with [], and seen by the webhook's owner. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Metrics } from '../../../src/server/metrics/metrics.ts';
import { incomingMetrics } from '../../../src/app/service-metrics.ts';
import { turnsUntil } from '../../support/turns.ts';
import { startPayloadTaker, type PayloadTaker } from './payload-taker.ts';

const LONG = { timeout: 120_000 };
const JSON_TYPE = 'application/json';
const TEXT_TYPE = 'text/plain';
const FORM_TYPE = 'application/x-www-form-urlencoded';

type Shown = Readonly<Record<string, unknown>>;

let taker: PayloadTaker;
before(async () => {
  taker = await startPayloadTaker();
});
after(() => taker.relay.close());

async function post(
  pathSegment: string, type: string, body: string | Buffer,
): Promise<void> {
  const { status } = await taker.relay.ask('POST', `/webhook/in/${pathSegment}`, Buffer.from(body),
    { 'Content-Type': type });
  assert.equal(status, 200);
}

async function waitUntilDone(pathSegment: string): Promise<Shown> {
  for (;;) {
    const request = await taker.readNewest(pathSegment);
    if (request['status'] === 'done') return request;
  }
}

function countOf(pathSegment: string): number {
  const metrics = new Metrics();
  metrics.add(...incomingMetrics(taker.relay.webhooks));
  const line = `hookshelf_incoming_unparsed_total{hook="${pathSegment}"} `;
  const found = metrics.render().split('\n').find((one) => one.startsWith(line));
  return Number(found?.slice(line.length) ?? 0);
}

async function hintOf(pathSegment: string, id: unknown): Promise<string | undefined> {
  const path = `/api/incoming-webhooks/${pathSegment}/diagnose`;
  const { json } = await taker.relay.ask('POST', path, { request: id });
  const checks = json['checks'] as { check: string; status: string; finding: string }[];
  const found = checks.find(({ check }) => check === 'body');
  if (found !== undefined) assert.equal(found.status, 'hint');
  return found?.finding;
}

test('a response with the payload counts an unparsed body only once', LONG, async () => {
  const pathSegment = await taker.makeHook({
    answer: 'accepted', response: { accepted: { status: 200, body: '{{ payload.a }}' } },
  });
  await post(pathSegment, JSON_TYPE, '{"a":');
  await waitUntilDone(pathSegment);
  assert.equal(countOf(pathSegment), 1);
});

const UNPARSED: readonly (readonly [
  title: string, hook: object, type: string, body: string | Buffer, fitting: string | null,
])[] = [
  ['text as JSON', {}, TEXT_TYPE, 'hello there', 'text'],
  ['a JSON number', {}, TEXT_TYPE, '42', 'text'],
  ['a form as JSON', {}, FORM_TYPE, 'a=1&b=%20', 'form'],
  ['a form without its type', {}, TEXT_TYPE, 'a=1&b=2', 'form'],
  ['JSON of another type', { bodyFormat: 'auto' }, 'application/x-other', '{"a":1}', 'json'],
  ['bytes that are no text', { bodyFormat: 'text' }, 'text/plain', Buffer.from([0xff, 0]), null],
];
for (const [title, hook, type, body, fitting] of UNPARSED) {
  test(`${title} is marked, counted, and told of by a diagnosis`, async () => {
    const pathSegment = await taker.makeHook(hook);
    await post(pathSegment, type, body);
    assert.deepEqual(taker.payloads.at(-1), []);
    const request = await taker.readNewest(pathSegment);
    assert.deepEqual([request['unparsed'], request['fittingBodyFormat']], [true, fitting]);
    assert.equal(countOf(pathSegment), 1);
    const hint = await hintOf(pathSegment, request['id']);
    assert.match(hint ?? '', fitting === null ? /no bodyFormat fits/
      : new RegExp(`actions get the payload \\[\\]: bodyFormat "${fitting}" would fit`));
  });
}

const WRONG_JSON: readonly (readonly [body: string, hook: object, reason: string])[] = [
  ['{"a":', {}, 'the body is not valid JSON at line 1, column 6: expected a value, '
    + 'found the end of the text'],
  ['hello', { bodyFormat: 'auto' },
    'the body is not valid JSON at line 1, column 1: expected a value, found "h"'],
  ['42', {}, 'the body is no JSON object or array'],
  ['['.repeat(100), {}, 'the body is not valid JSON'],
  [`["${'a'.repeat(65_536)}`, {}, 'the body is no JSON object or array'],
];
for (const [body, hook, reason] of WRONG_JSON) {
  test(`of ${body.slice(0, 10)}, which its type calls JSON, the fault is told, and no other format`,
    async () => {
      const pathSegment = await taker.makeHook(hook);
      await post(pathSegment, 'application/vnd.x+json; charset=utf-8', body);
      assert.deepEqual(taker.payloads.at(-1), []);
      const request = await taker.readNewest(pathSegment);
      assert.deepEqual([request['fittingBodyFormat'], request['unparsedReason']], [null, reason]);
      assert.equal(await hintOf(pathSegment, request['id']),
        `${reason}, so that actions get the payload []`);
    });
}

const PARSED: readonly (readonly [string, object, string, string])[] = [
  ['an empty array', {}, JSON_TYPE, '[]'], ['no body', {}, JSON_TYPE, ''],
  ['an object', {}, JSON_TYPE, '{"a":1}'], ['a form', { bodyFormat: 'form' }, FORM_TYPE, 'a=1'],
  ['text', { bodyFormat: 'text' }, 'text/plain', 'hello'],
];
for (const [title, hook, type, body] of PARSED) {
  test(`${title} is not marked`, async () => {
    const pathSegment = await taker.makeHook(hook);
    await post(pathSegment, type, body);
    const request = await taker.readNewest(pathSegment);
    assert.ok(!('unparsed' in request) && !('fittingBodyFormat' in request));
    assert.equal(countOf(pathSegment), 0);
    assert.equal(await hintOf(pathSegment, request['id']), undefined);
  });
}

test('a request that is answered before it runs is marked once it has run', LONG, async () => {
  const pathSegment = await taker.makeHook({ answer: 'accepted' });
  await post(pathSegment, TEXT_TYPE, 'hello');
  const done = (): Promise<Shown> => waitUntilDone(pathSegment);
  assert.deepEqual([(await done())['unparsed'], countOf(pathSegment)], [true, 1]);
  // As the hint says.
  const { status } = await taker.relay.ask('PATCH', `/api/incoming-webhooks/${pathSegment}`,
    { bodyFormat: 'text' });
  assert.equal(status, 200);
  const { id } = await taker.readNewest(pathSegment);
  const before = taker.payloads.length;
  await taker.relay.ask('POST', `/api/requests/${String(id)}/replay`, {});
  await turnsUntil(() => taker.payloads.length > before);
  assert.deepEqual(taker.payloads.at(-1), { text: 'hello' });
  assert.ok(!('unparsed' in await done()));
  assert.equal(countOf(pathSegment), 1);
});

test('a request that no route is for, as it has no payload, is marked', async () => {
  const pathSegment = 'routed';
  const made = await taker.relay.ask('POST', '/api/incoming-webhooks', {
    pathSegment, inbox: 'all', answer: 'accepted', routes: [{
      name: 'paid', actionConfiguration: await configuration(),
      when: { path: 'payload.paid', op: 'eq', value: true },
    }],
  });
  assert.equal(made.status, 201, made.text);
  await post(pathSegment, FORM_TYPE, 'paid=true');
  const request = await taker.readNewest(pathSegment);
  assert.deepEqual([request['status'], request['unparsed'], request['fittingBodyFormat']],
    ['filtered', true, 'form']);
  assert.equal(countOf(pathSegment), 1);
});

async function configuration(): Promise<unknown> {
  return (await taker.relay.ask('POST', '/api/action-configurations', { actionType: 'takes' }))
    .json['identifier'];
}
