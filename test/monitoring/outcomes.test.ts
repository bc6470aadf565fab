/** What a relay tells of requests and deliveries, for the statistics. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { until } from '../support/until.ts';
import { startRelay, type Relay } from '../webhooks/relay.ts';

type Told = readonly [kind: string, hook: string | null, outcome: string, isTimed: boolean];

class Fails {
  static identifier(): string { return 'fails'; }
  static label(): string { return 'Fails'; }
  execute(): object { return { success: false, message: 'no', data: {} }; }
}

class Breaks {
  static identifier(): string { return 'breaks'; }
  static label(): string { return 'Breaks'; }
  execute(): never { throw new Error('broken'); }
}

async function start(
  context: TestContext, options: Parameters<typeof startRelay>[0] = {},
): Promise<{ relay: Relay; told: Told[] }> {
  const told: Told[] = [];
  const relay = await startRelay({
    ...options,
    actions: [Fails, Breaks], incoming: { retrySchedule: [0.01] },
    outgoing: { retrySchedule: [0.01] },
    onOutcome(kind, hook, outcome, durationMs) {
      if (durationMs !== null) assert.ok(durationMs >= 0 && durationMs < 60_000);
      told.push([kind, hook, outcome, durationMs !== null]);
    },
  });
  context.after(() => relay.close());
  return { relay, told };
}

test('each request is told once, and each run of its action apart from it', async (context) => {
  const { relay, told } = await start(context);
  const made = async (actionType: string, pathSegment: string, more: object): Promise<string> =>
    String((await relay.hook({ actionType }, { pathSegment, ...more })).json['identifier']);
  const good = await made('log', 'good', { secret: 'hush' });
  const bad = await made('fails', 'bad', { inbox: 'off' });
  const broken = await made('breaks', 'broken', { inbox: 'off' });
  const signature = { 'X-Signature': 'sha256=00' };
  const failedRun = (hook: string): Told => ['runs', hook, 'failed', false];
  const wanted: [path: string, method: string, headers: Record<string, string>, ...Told[]][] = [
    ['good', 'POST', signature, ['requests', good, 'rejected', true]],
    ['good', 'PUT', {}, ['requests', good, 'rejected', true]],
    ['bad', 'POST', {}, failedRun(bad), ['requests', bad, 'failed', true]],
    ['broken', 'POST', {}, failedRun(broken), ['requests', broken, 'failed', true]],
    ['none', 'POST', {}, ['requests', null, 'rejected', true]],
  ];
  for (const [path, method, headers, ...expected] of wanted) {
    told.length = 0;
    await relay.ask(method, `/webhook/in/${path}`, '{}', headers);
    assert.deepEqual(told, expected);
  }
  await relay.ask('PATCH', `/api/incoming-webhooks/${good}`, { secret: null });
  told.length = 0;
  assert.equal((await relay.ask('POST', '/webhook/in/good', '{}')).status, 200);
  assert.deepEqual(told,
    [['runs', good, 'succeeded', false], ['requests', good, 'accepted', true]]);
});

test('each route that runs is a run, whatever becomes of the others', async (context) => {
  const { relay, told } = await start(context);
  const configure = async (actionType: string): Promise<string> => String((await relay.ask('POST',
    '/api/action-configurations', { actionType })).json['identifier']);
  const [good, bad] = [await configure('log'), await configure('fails')];
  const { json } = await relay.ask('POST', '/api/incoming-webhooks', {
    pathSegment: 'routed', routes: [
      { name: 'good', actionConfiguration: good }, { name: 'bad', actionConfiguration: bad },
    ],
  });
  const hook = String(json['identifier']);
  assert.equal((await relay.ask('POST', '/webhook/in/routed', '{}')).status, 400);
  assert.deepEqual(told, [['runs', hook, 'succeeded', false], ['runs', hook, 'failed', false],
    ['requests', hook, 'failed', true]]);
});

test('a run in the background that fails is told, though nobody waits for it', async (context) => {
  const { relay, told } = await start(context);
  const { json } = await relay.hook({ actionType: 'fails' }, { answer: 'accepted', inbox: 'all' });
  const hook = String(json['identifier']);
  relay.webhooks.start();
  assert.equal((await relay.ask('POST', '/webhook/in/hook', '{}')).status, 200);
  await until('both runs have failed', () => told.length === 3);
  assert.deepEqual(told, [['requests', hook, 'accepted', true],
    ['runs', hook, 'failed', false], ['runs', hook, 'failed', false]]);
});

test('each attempt of a delivery is told with how long it took', async (context) => {
  const { relay, told } = await start(context);
  const made = await relay.ask('POST', '/api/outgoing-webhooks', {
    triggerEvents: ['shop.opened'], targetUrl: 'http://127.0.0.1:1/', enabled: true,
  });
  relay.webhooks.start();
  await relay.ask('POST', '/api/events', { name: 'shop.opened', payload: {} });
  await until('both attempts have failed', () => told.length === 2);
  const attempt = ['deliveries', made.json['identifier'], 'failed', true];
  assert.deepEqual(told, [attempt, attempt]);
});

test('an attempt that a proxy did not let through is not told: its target has not failed',
  async (context) => {
    const { relay, told } = await start(context, { client: { proxy: 'http://127.0.0.1:1' } });
    await relay.ask('POST', '/api/outgoing-webhooks', {
      triggerEvents: ['shop.opened'], targetUrl: 'http://target.test/',
    });
    relay.webhooks.start();
    await relay.ask('POST', '/api/events', { name: 'shop.opened', payload: {} });
    await until('the attempt has failed', () =>
      relay.webhooks.statistics().figures.attempts.proxy > 0);
    assert.deepEqual(told, []);
  });
