import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test, type TestContext } from 'node:test';
import { systemClock } from '../../../src/base/clock.ts';
import { createTurns, type Turns, type Steps } from '../../../src/base/turns.ts';
import { ActionResult } from '../../../src/webhooks/actions/action.ts';
import { until } from '../../support/until.ts';
import { createActionClass } from '../context.ts';
import { startRelayFor, type Answer, type Relay } from '../relay.ts';

const ran: string[] = [];
let release = (): void => {};

/** Does what its options say, and tells that it ran. */
const Told = createActionClass('told', async (
  payload: { seen?: number }, { headers }: { readonly headers: Record<string, unknown> },
  { as, fail, data, wait }: Record<string, unknown>,
) => {
  ran.push(String(as));
  if (wait === true) await new Promise<void>((resolve) => { release = resolve; });
  if (wait === false) release();
  payload.seen = (payload.seen ?? 0) + 1;
  if (fail === 'throw') throw new Error('planted');
  if (typeof fail === 'string') return ActionResult.fail(fail);
  const { kind } = headers;
  headers['kind'] = as;
  return ActionResult.ok(data === 'cycle' ? cycle() : { as, seen: payload.seen, kind });
});

function cycle(): object {
  const data: Record<string, unknown> = {};
  data['self'] = data;
  return data;
}

type RouteCase = readonly [name: string, when: unknown, options?: object];

async function start(
  context: TestContext, routes: readonly RouteCase[], hook: object = {}, maxConcurrent = 100,
): Promise<Relay> {
  const relay = await startRelayFor(context, {
    actions: [Told], incoming: { actionTimeoutMs: 20_000, maxConcurrent },
  });
  const listed = [];
  for (const [name, when, options = {}] of routes) {
    const identifier = `c-${name}`;
    const made = await relay.ask('POST', '/api/action-configurations',
      { identifier, actionType: 'told', options: { as: name, ...options } });
    assert.equal(made.status, 201, made.text);
    listed.push({ name, actionConfiguration: identifier, ...when === null ? {} : { when } });
  }
  const made = await relay.ask('POST', '/api/incoming-webhooks',
    { pathSegment: 'hook', routes: listed, ...hook });
  assert.equal(made.status, 201, made.text);
  ran.length = 0;
  return relay;
}

const call = (relay: Relay, body: unknown, headers = {}, query = ''): Promise<Answer> =>
  relay.ask('POST', `/webhook/in/hook${query}`, body, headers);
const is = (path: string, value: unknown): object => ({ path, op: 'eq', value });

test('all routes that match run, and the answer has the data of each', async (context) => {
  const relay = await start(context, [
    ['one', is('payload.a', 1)], ['two', is('payload.a', 2)], ['rest', null],
    ['headed', is('headers.X-Kind', 'k')], ['queried', is('query.q', '1')],
    ['posted', is('method', 'POST')],
  ]);
  const { status, json } = await call(relay, { a: 1 }, { 'x-kind': 'k', kind: 'none' }, '?q=1');
  assert.equal(status, 200);
  const names = ['one', 'rest', 'headed', 'queried', 'posted'];
  // None sees what another did to the payload and the headers.
  const routes = Object.fromEntries(names.map((as) => [as, { as, seen: 1, kind: 'none' }]));
  assert.deepEqual(json, { success: true, message: '', data: { routes } });
  assert.deepEqual(ran, names);
});

test('a request that no route matches is answered as filtered', async (context) => {
  const relay = await start(context, [['one', is('payload.a', 1)]]);
  const { status, json } = await call(relay, { a: 2 });
  assert.equal(status, 200);
  assert.deepEqual(json, { success: true, message: 'Filtered', data: {} });
  assert.deepEqual(ran, []);
});

test('the first route that failed gives the message, and the others ran', async (context) => {
  const relay = await start(context, [
    ['good', null], ['bad', null, { fail: 'no luck' }], ['worse', null, { fail: 'throw' }],
    ['last', null],
  ]);
  const { status, json } = await call(relay, {});
  assert.equal(status, 400);
  assert.deepEqual(json, { success: false, message: 'no luck', data: {} });
  assert.deepEqual(ran, ['good', 'bad', 'worse', 'last']);
});

test('data that cannot be JSON is the failure of its route alone', async (context) => {
  const relay = await start(context, [['odd', null, { data: 'cycle' }], ['good', null]]);
  const { status, json } = await call(relay, {});
  assert.deepEqual([status, json['message']], [400, 'Action failed']);
  assert.deepEqual(ran, ['odd', 'good']);
});

test('routes run side by side', async (context) => {
  // The first ends only once the second has run.
  const relay = await start(context, [['waits', null, { wait: true }],
    ['frees', null, { wait: false }]]);
  const { status } = await call(relay, {});
  assert.equal(status, 200);
});

test('each route that runs counts among the actions under way', async (context) => {
  const relay = await start(context, [
    ['waits', null, { wait: true }], ['beside', is('payload.a', 1)],
    ['frees', is('payload.a', 2), { wait: false }],
  ], {}, 2);
  const first = call(relay, { a: 1 });
  await until('both run', () => ran.includes('beside'));
  const second = await call(relay, { a: 2 });
  assert.deepEqual([second.status, second.json['message']], [503, 'Too many requests in progress']);
  release();
  assert.equal((await first).status, 200);
  assert.equal((await call(relay, { a: 2 })).status, 200);
});

test('match takes a kept request', async (context) => {
  const relay = await start(context,
    [['one', is('headers.x-kind', 'k')], ['two', is('payload.a', 2)]], { inbox: 'all' });
  await call(relay, { a: 1 }, { 'X-Kind': 'k' });
  const { text } = await relay.ask('GET', '/api/requests');
  const [{ id = '' } = {}] = JSON.parse(text) as { id?: string }[];
  const { status, json } = await relay.ask('POST', MATCH, { request: id });
  assert.equal(status, 200);
  assert.deepEqual(json, { event: null, routes: [
    { name: 'one', matches: true, failed: [] },
    { name: 'two', matches: false, failed: [
      { pointer: '/routes/1/when', detail: 'payload.a is 1, wanted: eq 2' },
    ] },
  ] });
});

test('a diagnosis and the log at debug say why no route takes a request', async (context) => {
  const relay = await start(context, [
    ['one', is('payload.ref', 'main')], ['two', { not: is('payload.ref', 'dev') }],
  ], { inbox: 'all' });
  const why = 'one: payload.ref is "dev", wanted: eq "main"; '
    + 'two: payload.ref is "dev", wanted: not eq "dev"';
  await call(relay, { ref: 'main' });
  assert.equal(relay.logLines.some((line) => line.includes('no route takes a request')), false);
  await call(relay, { ref: 'dev' });
  const lines = relay.logLines.filter((line) => line.includes('no route takes a request'));
  assert.deepEqual(lines.map((line) => JSON.parse(line))
    .map(({ level, reason }) => [level, reason]), [['debug', why]]);
  const { text } = await relay.ask('GET', '/api/requests?status=filtered');
  const [{ id = '' } = {}] = JSON.parse(text) as { id?: string }[];
  const described = (payload: object): object =>
    ({ headers: {}, body: Buffer.from(JSON.stringify(payload)).toString('base64') });
  for (const [body, status, finding] of [
    [{ request: id }, 'hint', `no route takes it: ${why}`],
    [described({ ref: 'dev' }), 'hint', `no route takes it: ${why}`],
    [described({ ref: 'main' }), 'ok', 'taken by one, two'],
  ] as const) {
    const { json } = await relay.ask('POST', '/api/incoming-webhooks/hook/diagnose', body);
    assert.equal(json['accepted'], true);
    const checks = json['checks'] as { check: string; status: string; finding: string }[];
    assert.deepEqual(checks.at(-1), { check: 'routes', status, finding });
  }
});

test('the event is what the preset reads', async (context) => {
  const relay = await start(context,
    [['pushes', is('event', 'push')], ['pings', is('event', 'ping')], ['never', is('event', 'no')],
      ['too', is('event', 'push')]], { secret: 's', verification: { preset: 'github' } });
  const body = '{"a":1}';
  const sign = createHmac('sha256', 's').update(body).digest('hex');
  const headers = { 'X-Hub-Signature-256': `sha256=${sign}`, 'X-GitHub-Event': 'push' };
  const pushed = await call(relay, body, headers);
  assert.deepEqual(pushed.json['data'],
    { routes: { pushes: { as: 'pushes', seen: 1 }, too: { as: 'too', seen: 1 } } });
  const starred = await call(relay, body, { ...headers, 'X-GitHub-Event': 'star' });
  assert.equal(starred.json['message'], 'Filtered');
});

const MATCH = '/api/incoming-webhooks/hook/match';

test('match tells the routes, and the conditions that are false', async (context) => {
  const relay = await start(context, [
    ['pushes', { all: [is('event', 'push'), is('payload.ref', 'main')] }], ['rest', null],
  ], { secret: 's', verification: { preset: 'github' } });
  const { status, json, text } = await relay.ask('POST', MATCH,
    { payload: { ref: 'dev' }, headers: { 'X-GitHub-Event': 'push' } });
  assert.equal(status, 200, text);
  assert.deepEqual(json, { event: 'push', routes: [
    { name: 'pushes', matches: false, failed: [{
      pointer: '/routes/0/when/all/1', detail: 'payload.ref is "dev", wanted: eq "main"',
    }] },
    { name: 'rest', matches: true, failed: [] },
  ] });
  const named = await relay.ask('POST', MATCH, { payload: { ref: 'main' }, event: 'push' });
  assert.deepEqual(named.json['routes'], ['pushes', 'rest'].map((name) =>
    ({ name, matches: true, failed: [] })));
  // A request that arrives has no event either, where the sender's name is that long.
  const long = await relay.ask('POST', MATCH,
    { payload: {}, headers: { 'X-GitHub-Event': 'a'.repeat(1001) } });
  assert.equal(long.json['event'], null);
  assert.deepEqual(ran, []);
});

test('a webhook with one action has the route default, which every request matches', async (
  context,
) => {
  const relay = await startRelayFor(context);
  await relay.hook({ actionType: 'log' });
  const { json } = await relay.ask('POST', MATCH, { payload: null });
  assert.deepEqual(json, { event: null, routes: [{ name: 'default', matches: true, failed: [] }] });
});

test('match tries routes that are not saved, in place of those that are', async (context) => {
  const relay = await start(context, [['saved', null]]);
  const routes = [
    { name: 'even', when: is('payload.n', 2), actionConfiguration: 'none-yet' },
    { name: 'rest', actionConfiguration: 'none-yet' },
  ];
  const { json, text } = await relay.ask('POST', MATCH, { payload: { n: 1 }, routes });
  assert.deepEqual(json['routes'], [
    { name: 'even', matches: false, failed: [{
      pointer: '/routes/0/when', detail: 'payload.n is 1, wanted: eq 2',
    }] },
    { name: 'rest', matches: true, failed: [] },
  ], text);
  const saved = await relay.ask('POST', MATCH, { payload: { n: 1 } });
  assert.deepEqual(saved.json['routes'], [{ name: 'saved', matches: true, failed: [] }]);
});

test('match refuses what it cannot look at', async (context) => {
  const relay = await start(context, [['rest', null]]);
  const cases: readonly (readonly [object, number, string])[] = [
    [{}, 422, '/payload'], [{ request: 'x', payload: {} }, 422, '/payload'],
    [{ request: 'x', method: 'GET' }, 422, '/method'], [{ payload: {}, method: 'get' }, 422,
      '/method'], [{ payload: {}, headers: { a: 1 } }, 422, '/headers/a'],
    [{ request: 'none' }, 404, ''],
    [{ payload: {}, routes: [{ name: 'a', when: {}, actionConfiguration: 'b' }] }, 422,
      '/routes/0/when'],
  ];
  for (const [body, status, pointer] of cases) {
    const answer = await relay.ask('POST', MATCH, body);
    assert.equal(answer.status, status, answer.text);
    const errors = answer.json['errors'] as { pointer: string }[] | undefined;
    assert.equal(errors?.[0]?.pointer ?? '', pointer, answer.text);
  }
});

/** Turns that count what is done in them. */
function countingTurns(): {
  readonly turns: Turns; readonly counts: { runs: number; steps: number };
} {
  const inner = createTurns(systemClock);
  const counts = { runs: 0, steps: 0 };
  function* counted<T>(work: Steps<T>): Steps<T> {
    for (;;) {
      const step = work.next();
      if (step.done === true) return step.value;
      counts.steps += 1;
      yield;
    }
  }
  const turns: Turns = {
    run(work, isWanted) {
      counts.runs += 1;
      return inner.run(counted(work), isWanted);
    },
    runLater: (work, isWanted) => inner.runLater(work, isWanted),
  };
  return { turns, counts };
}

for (const answer of ['result', 'accepted']) {
  test(`long searches of many routes leave others their turns: ${answer}`, async (context) => {
    const { turns, counts } = countingTurns();
    const relay = await startRelayFor(context, { actions: [Told], turns });
    await relay.ask('POST', '/api/action-configurations', {
      identifier: 'told', actionType: 'told', options: { as: 'told' },
    });
    const has = (value: string): object => ({ path: 'payload.text', op: 'contains', value });
    const part = (letter: string): string => `${'a'.repeat(4000)}${letter}${'a'.repeat(100)}`;
    const routes = Array.from({ length: 20 }, (_, index) => ({
      name: `r${index}`, actionConfiguration: 'told',
      when: { any: [has(part(`b${index}`)), has(part(index === 7 ? 'c' : 'd'))] },
    }));
    const made = await relay.ask('POST', '/api/incoming-webhooks',
      { pathSegment: 'hook', routes, answer, inbox: 'all' });
    assert.equal(made.status, 201, made.text);
    ran.length = 0;
    relay.webhooks.start();
    assert.equal((await call(relay, { text: `short ${part('c')}` })).status, 200);
    assert.deepEqual(counts, { runs: 0, steps: 0 }, 'what is short is searched at once');
    const { status, json } = await call(relay, { text: `${'a'.repeat(900_000)}${part('c')}` });
    assert.equal(status, 200);
    assert.equal(counts.runs, 1);
    assert(counts.steps > 50, `${counts.steps} steps`);
    if (answer === 'result') {
      assert.deepEqual(Object.keys(Object(json['data']).routes), ['r7']);
    }
    await until('both have run', () => ran.length === 2);
  });
}

test('events that cannot all wait are refused by name before one of them is emitted', async (
  context,
) => {
  const relay = await startRelayFor(context, { outgoing: { maxPendingBytes: 100_000 } });
  await relay.ask('POST', '/api/outgoing-webhooks',
    { targetUrl: 'http://127.0.0.1:1/', triggerEvent: 'thing.sent' });
  await relay.ask('POST', '/api/action-configurations',
    { identifier: 'emit', actionType: 'emit-event', options: { name: 'thing.sent' } });
  const routes = ['a', 'b', 'c'].map((name) => ({ name, actionConfiguration: 'emit' }));
  const hooks = [
    { pathSegment: 'result', routes },
    { pathSegment: 'accepted', routes, answer: 'accepted', inbox: 'all' },
  ];
  for (const hook of hooks) {
    assert.equal((await relay.ask('POST', '/api/incoming-webhooks', hook)).status, 201);
  }
  const send = (path: string, bytes: number): Promise<Answer> =>
    relay.ask('POST', `/webhook/in/${path}`, [`${'x'.repeat(bytes)}`]);
  for (const [path, bytes] of [['result', 40_000], ['accepted', 120_000]] as const) {
    const { status, text, headers } = await send(path, bytes);
    assert.equal(status, 503, path);
    assert.match(text, /Never fits.* outgoing\.maxPendingBytes .*: raise that/);
    assert.equal(headers['retry-after'], '10');
    const { headers: { 'x-total-count': count } } = await relay.ask('GET', '/api/events?limit=1');
    assert.equal(count, '0', `${path} emitted a part`);
  }
  assert.equal((await send('result', 30_000)).status, 200, 'three fit');
  assert.equal((await send('accepted', 40_000)).status, 200, 'its events wait');
  const later = await send('result', 30_000);
  assert.equal(later.status, 503);
  assert.doesNotMatch(later.text, /Never fits/);
});
