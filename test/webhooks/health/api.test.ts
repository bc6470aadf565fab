/** The health of webhooks as callers of the API see it. */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test, type TestContext } from 'node:test';
import { healthColumns } from '../../../src/webhooks/health/public-health.ts';
import { until } from '../../support/until.ts';
import { createActionClass } from '../context.ts';
import { startRelayFor, type Answer, type Relay } from '../relay.ts';
import { DOWN, Simulation, UP } from '../deliveries/sending/simulation.ts';

const INCOMING = '/api/incoming-webhooks';
const OUTGOING = '/api/outgoing-webhooks';
const MINUTE_MS = 60_000;

let mood: { readonly success: boolean; readonly message?: string } = { success: true };
const Moody = createActionClass('moody', () => ({ data: {}, message: '', ...mood }));

function start(context: TestContext): Promise<Relay> {
  mood = { success: true };
  return startRelayFor(context, { actions: [Moody], incoming: { retrySchedule: [0.01] } });
}

type Shown = {
  readonly state: string; readonly since: string; readonly lastTryFailed: boolean;
  readonly lastSuccessAt: string | null;
  readonly lastFailure: { readonly at: string; readonly reason: string } | null;
};

async function healthAt(relay: Relay, path: string): Promise<Shown> {
  return (await relay.ask('GET', path)).json['health'] as Shown;
}

function call(relay: Relay, body = '{}', secret: string | null = null): Promise<Answer> {
  const signature = secret === null ? {}
    : { 'X-Signature': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}` };
  return relay.ask('POST', '/webhook/in/hook', body, signature);
}

test('what was never tried is healthy since its making, or off since then', async (context) => {
  const relay = await start(context);
  const incoming = await relay.hook({ actionType: 'log' });
  const outgoing = await relay.ask('POST', OUTGOING, { targetUrl: 'http://a.example/' });
  for (const [path, { json }] of [[INCOMING, incoming], [OUTGOING, outgoing]] as const) {
    const waits = path === OUTGOING ? { waitsFor: null } : {};
    const untried =
      { lastTryFailed: false, lastSuccessAt: null, lastFailure: null, ...waits };
    assert.deepEqual(json['health'], { state: 'healthy', since: json['createdAt'], ...untried });
    const one = `${path}/${String(json['identifier'])}`;
    const off = (await relay.ask('PATCH', one, { enabled: false })).json;
    assert.deepEqual(off['health'], {
      state: 'off', since: off['disabledAt'], reason: 'switched off by hand, or by a file',
      ...untried,
    });
    const on = (await relay.ask('PATCH', one, { enabled: true })).json;
    await until('it is healthy since then', async () =>
      (await healthAt(relay, one)).since === on['updatedAt']);
  }
});

test('many strangers make it rejecting, not failing, until its sender calls', async (context) => {
  const relay = await start(context);
  const made = await relay.hook({ actionType: 'moody' }, { secret: 'hush' });
  const path = `${INCOMING}/${String(made.json['identifier'])}`;
  const state = async (): Promise<string> => (await healthAt(relay, path)).state;
  assert.equal((await call(relay)).status, 401);
  const stranger = await healthAt(relay, path);
  assert.deepEqual([stranger.state, stranger.lastFailure], ['healthy', null]);
  for (let count = 0; count < 3; count += 1) await call(relay);
  assert.equal(await state(), 'healthy');
  assert.equal((await call(relay)).status, 401);
  const rejecting = await healthAt(relay, path);
  assert.deepEqual([rejecting.state, rejecting.lastFailure?.reason],
    ['rejecting', 'signature_missing']);
  for (const expected of ['rejecting', 'rejecting', 'healthy']) {
    assert.equal((await call(relay, '{}', 'hush')).status, 200);
    assert.equal(await state(), expected);
  }
  assert.deepEqual((await healthAt(relay, path)).lastFailure, null);
  await relay.ask('PATCH', path, { enabled: false });
  for (let count = 0; count < 10; count += 1) await call(relay);
  assert.equal(await state(), 'off');
});

test('an outgoing webhook is never rejecting, and nobody can ask for those', async (context) => {
  const relay = await start(context);
  const { status, text } = await relay.ask('GET', `${OUTGOING}?state=rejecting`);
  assert.equal(status, 400);
  assert.match(text, /healthy, failing.* off/);
  assert.equal((await relay.ask('GET', `${INCOMING}?state=rejecting`)).status, 200);
});

test('a chain that any caller can end by a header makes no webhook failing', async (context) => {
  const relay = await start(context);
  const made = await relay.hook(
    { actionType: 'http-forward', options: { url: 'http://127.0.0.1:1/' } });
  for (let count = 0; count < 5; count += 1) {
    const { status } = await relay.ask('POST', '/webhook/in/hook', '{}',
      { 'X-Hookshelf-Chain': '8' });
    assert.equal(status, 400);
  }
  const { state } = await healthAt(relay, `${INCOMING}/${String(made.json['identifier'])}`);
  assert.equal(state, 'healthy');
});

for (const inbox of ['off', 'failed', 'all']) {
  test(`three failed runs make it failing, a success ends it: inbox ${inbox}`, async (context) => {
    const relay = await start(context);
    const made = await relay.hook({ actionType: 'moody' }, { inbox });
    const identifier = String(made.json['identifier']);
    const path = `${INCOMING}/${identifier}`;
    const inStore = (): string =>
      relay.store.collection('webhook-health').find(identifier)?.bytes.toString() ?? '';
    mood = { success: false, message: 'the shop is closed' };
    assert.equal((await call(relay)).status, 400);
    assert.equal((await call(relay)).status, 400);
    const shaken = await healthAt(relay, path);
    assert.deepEqual([shaken.state, shaken.lastTryFailed], ['healthy', true]);
    assert.equal((await call(relay)).status, 400);
    const failing = await healthAt(relay, path);
    assert.deepEqual([failing.state, failing.lastTryFailed, failing.lastFailure?.reason],
      ['failing', false, 'the shop is closed']);
    if (inbox !== 'off') assert.ok(inStore().includes('"isFailing":true'));
    await until('it is on disk', () => inStore().includes('"isFailing":true'));
    mood = { success: true };
    assert.equal((await call(relay)).status, 200);
    const healthy = await healthAt(relay, path);
    assert.deepEqual(
      [healthy.state, healthy.lastTryFailed, healthy.since, healthy.lastFailure?.reason],
      ['healthy', false, healthy.lastSuccessAt, 'the shop is closed']);
    await until('that is on disk', () => inStore().includes('"isFailing":false'));
    const told = relay.logLines.filter((line) => /"a webhook (fails|works again)"/.test(line))
      .map((line) => JSON.parse(line));
    assert.deepEqual(told.map(({ level, webhook }) => [level, webhook]),
      [['warning', 'hook'], ['info', 'hook']]);
    assert.equal((await relay.ask('DELETE', path)).status, 204);
    assert.equal(relay.store.collection('webhook-health').size, 0);
  });
}

test('an accepted request that fails for good makes it failing at once', async (context) => {
  const relay = await start(context);
  relay.webhooks.start();
  const made = await relay.hook({ actionType: 'moody' }, { answer: 'accepted', inbox: 'all' });
  const identifier = String(made.json['identifier']);
  const path = `${INCOMING}/${identifier}`;
  mood = { success: false, message: 'down' };
  assert.equal((await call(relay)).status, 200);
  await until('it fails', async () => (await healthAt(relay, path)).state === 'failing');
  const { since } = await healthAt(relay, path);
  const [kept] = JSON.parse((await relay.ask('GET', '/api/requests')).text) as
    { id: string; status: string }[];
  await until('the result is on disk', async () =>
    (await relay.ask('GET', `/api/requests/${kept?.id}`)).json['status'] === 'failed');
  const request = await relay.ask('GET', `/api/requests/${kept?.id}`);
  const [route] = request.json['routes'] as { attempts: { at: string }[] }[];
  assert.equal(since, route?.attempts[0]?.at);
  const record = relay.store.collection('webhook-health').find(identifier)?.bytes.toString();
  assert.ok(record?.includes('"isFailing":true'));
  mood = { success: true };
  await call(relay);
  await until('it works', async () => (await healthAt(relay, path)).state === 'healthy');
});

test('lists show those in a state, with their number, over pages', async (context) => {
  const relay = await start(context);
  const ids: string[] = [];
  for (let count = 0; count < 5; count += 1) {
    const { json } = await relay.ask('POST', OUTGOING,
      { targetUrl: 'http://a.example/', enabled: count % 2 === 1 });
    ids.push(String(json['identifier']));
  }
  const off = [ids[0], ids[2], ids[4]];
  const listed = ({ text }: Answer): string[] =>
    (JSON.parse(text) as { identifier: string }[]).map(({ identifier }) => identifier);
  const all = await relay.ask('GET', `${OUTGOING}?state=off`);
  assert.deepEqual([listed(all), all.headers['x-total-count']], [off, '3']);
  const page = await relay.ask('GET', `${OUTGOING}?limit=2&state=off`);
  assert.deepEqual([listed(page), page.headers['x-total-count']], [off.slice(0, 2), '3']);
  const [, next = ''] = /<[^>]*(\/api[^>]*)>; rel="next"/.exec(String(page.headers.link)) ?? [];
  const last = await relay.ask('GET', next);
  assert.deepEqual([listed(last), last.headers.link], [[off[2]], undefined]);
  assert.deepEqual(listed(await relay.ask('GET', `${OUTGOING}?state=healthy`)), [ids[1], ids[3]]);
  assert.deepEqual(listed(await relay.ask('GET', `${OUTGOING}?state=failing`)), []);
  const wrong = await relay.ask('GET', `${INCOMING}?state=bad`);
  assert.equal(wrong.status, 400);
  assert.match(String(wrong.json['detail']), /healthy, failing, rejecting, off/);
});

test('a change of health changes the second part of the tag, and refuses no edit', async (c) => {
  const relay = await start(c);
  const made = await relay.hook({ actionType: 'moody' });
  const path = `${INCOMING}/${String(made.json['identifier'])}`;
  const before = (await relay.ask('GET', path)).headers;
  const etag = String(before.etag);
  assert.match(etag, /^"[^"-]+-[^"-]+"$/);
  const noneMatch = { 'If-None-Match': etag };
  assert.equal((await relay.ask('GET', path, undefined, noneMatch)).status, 304);
  mood = { success: false, message: 'https://user:***@example.com/?token=***' };
  assert.equal((await call(relay)).status, 400);
  const after = await relay.ask('GET', path, undefined, noneMatch);
  assert.equal(after.status, 200);
  const [first, second] = String(after.headers.etag).split('-');
  assert.deepEqual([first, second === etag.split('-')[1]], [etag.split('-')[0], false]);
  const date = String(before['last-modified']);
  const edit = await relay.ask('PUT', path, after.json, { 'If-Match': etag });
  assert.equal(edit.status, 200);
  assert.deepEqual((edit.json['health'] as Shown).lastFailure?.reason, mood.message);
  assert.notEqual(String(edit.headers.etag).split('-')[0], first);
  for (const [headers, status] of [
    [{ 'If-Match': etag }, 412], [{ 'If-Match': '"other-1"' }, 412],
    [{ 'If-Match': `"other-1", ${edit.headers.etag}` }, 200], [{ 'If-Match': '*' }, 200],
    [{ 'If-Unmodified-Since': new Date(Date.parse(date) + 60_000).toUTCString() }, 200],
  ] as const) {
    const answer = await relay.ask('PATCH', path, { bodyFormat: 'json' }, headers);
    assert.equal(answer.status, status, JSON.stringify(headers));
  }
});

test('a target is failing from its first failure, through crashes, until it is up', async () => {
  const simulation = new Simulation();
  const hook = await simulation.addHook('target', {}, DOWN);
  const read = (): Shown => JSON.parse(
    simulation.webhooks.resources.outgoing.find(hook)?.bytes.toString() ?? '').health;
  const [id = ''] = await simulation.emit();
  await simulation.clock.advance(4 * MINUTE_MS);
  assert.equal(read().state, 'healthy');
  await simulation.clock.advance(40 * MINUTE_MS);
  const attempts = simulation.delivery(id)?.attempts ?? [];
  assert.equal(attempts.length, 4);
  const failing = read();
  assert.deepEqual([failing.state, failing.since, failing.lastSuccessAt, failing.lastFailure],
    ['failing', attempts[0]?.at, null, { at: attempts.at(-1)?.at, reason: 'ECONNREFUSED' }]);
  await simulation.crash();
  assert.deepEqual(read(), failing);
  assert.deepEqual(simulation.webhooks.health.outgoing.countStates(),
    { healthy: 0, failing: 1, rejecting: 0, off: 0 });
  simulation.targets.set('target', UP);
  await simulation.clock.advance(3 * 60 * MINUTE_MS);
  assert.equal(simulation.delivery(id)?.status, 'delivered');
  assert.equal(read().state, 'healthy');
  assert.equal(read().since, simulation.delivery(id)?.attempts.at(-1)?.at);
  const told = simulation.logLines.filter((line) => /"a webhook (fails|works)/.test(line));
  assert.equal(told.length, 2);
  assert.equal(JSON.parse(told[0] ?? '').target, 'target/');
});

test('a crash right after any attempt leaves the state that its result has made', async () => {
  for (let attempts = 1; attempts <= 4; attempts += 1) {
    const simulation = new Simulation();
    const hook = await simulation.addHook('target', { retrySchedule: [1, 1, 1, 1, 1, 1] }, DOWN);
    const [id = ''] = await simulation.emit();
    for (let count = 0; count < 1000; count += 1) {
      if ((simulation.delivery(id)?.attempts.length ?? 0) >= attempts) break;
      await simulation.clock.advance(10);
    }
    await simulation.crash();
    assert.equal(simulation.delivery(id)?.attempts.length, attempts);
    assert.ok(simulation.webhooks.health.outgoing.isListedAs(hook,
      attempts < 3 ? 'healthy' : 'failing'));
  }
});

test('a delivery that fails for good makes it failing, a proxy that fails does not', async () => {
  const simulation = new Simulation();
  const hook = await simulation.addHook('target', { retrySchedule: [] }, { kind: 'proxy' });
  const isIn = (state: 'healthy' | 'failing'): boolean =>
    simulation.webhooks.health.outgoing.isListedAs(hook, state);
  await simulation.emit();
  await simulation.clock.advance(60 * MINUTE_MS);
  assert.ok(isIn('healthy'));
  simulation.targets.set('target', { kind: 'answer', status: 500 });
  await simulation.clock.advance(10 * MINUTE_MS);
  assert.ok(isIn('failing'));
  assert.equal(simulation.webhooks.health.outgoing.find(hook).lastFailure?.reason, 'HTTP 500');
});

test('the list of a command says beside healthy that nothing was sent, or that the last try failed',
  () => {
    const at = '2026-11-01T00:00:00.000Z';
    const failure = { at, reason: 'HTTP 500' };
    const show = healthColumns[0]?.show;
    for (const [lastSuccessAt, lastFailure, lastTryFailed, expected] of [
      [null, null, false, 'healthy (unused)'], [at, null, false, 'healthy'],
      [at, failure, false, 'healthy'], [at, failure, true, 'healthy (last try failed)'],
      [null, failure, true, 'healthy (last try failed)'],
    ] as const) {
      assert.equal(show?.({ state: 'healthy', lastSuccessAt, lastFailure, lastTryFailed },
        { targetUrl: 'http://127.0.0.1/' }), expected);
    }
  });
