import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { SYSTEM_EVENTS } from '../../../src/webhooks/actions/event-name.ts';
import { answer, closedPort, startServer, type ScriptedServer } from '../../support/servers.ts';
import { startRelay, type Answer, type Relay } from '../relay.ts';

let relay: Relay;
let target: ScriptedServer;
let deadUrl = '';
before(async () => {
  target = await startServer({ onRequest: ({ socket }) => void socket.write(answer()) });
  relay = await startRelay({ outgoing: { retrySchedule: [3600] } });
  relay.webhooks.start();
  deadUrl = `http://127.0.0.1:${await closedPort()}/`;
  for (const [triggerEvent, targetUrl] of [['up', target.url()], ['down', deadUrl]]) {
    const made = await relay.ask('POST', '/api/outgoing-webhooks', { targetUrl, triggerEvent });
    assert.equal(made.status, 201, made.text);
  }
});
after(async () => {
  await relay.close();
  await target.close();
});

async function emit(name: string, payload: unknown = {}): Promise<string> {
  const { status, json } = await relay.ask('POST', '/api/events', { name, payload });
  assert.equal(status, 202);
  const [id] = json['deliveries'] as string[];
  return id ?? '';
}

type Shown = Answer['json'];

// Thirty seconds and more.
const LOOKS_MAX = 3000;

async function until(id: string, isMet: (shown: Shown) => boolean): Promise<Shown> {
  for (let looks = 0; ; looks += 1) {
    const { json } = await relay.ask('GET', `/api/deliveries/${id}`);
    if (isMet(json)) return json;
    assert.ok(looks < LOOKS_MAX, `not met: ${JSON.stringify(json)}`);
    await wait(10);
  }
}

function list(query: string): Promise<Answer> {
  return relay.ask('GET', `/api/deliveries${query}`);
}

function idsOf({ text }: Answer): string[] {
  return (JSON.parse(text) as { identifier: string }[]).map(({ identifier }) => identifier);
}

test('an event is accepted, delivered and shown', async () => {
  const id = await emit('up', { n: 1 });
  const shown = await until(id, ({ status }) => status === 'delivered');
  assert.deepEqual(Object.keys(shown), [
    'identifier', 'kind', 'hook', 'hookName', 'target', 'event', 'eventId', 'key', 'request',
    'route', 'status', 'createdAt', 'nextAttemptAt', 'waitsFor', 'resendOf', 'attempts', 'sent',
  ]);
  const { headers, ...sent } = shown['sent'] as { headers: [string, string][] };
  assert.deepEqual(sent, { method: 'POST', url: target.url(), bodyBytes: 7 });
  assert.deepEqual(headers, [['content-type', 'application/json'], ['x-hookshelf-chain', '1']]);
  const [attempt] = shown['attempts'] as Record<string, unknown>[];
  assert.deepEqual(Object.keys(attempt ?? {}), ['at', 'durationMs', 'statusCode', 'error',
    'response']);
  assert.equal(attempt?.['response'], 'ok');
  assert.equal(target.received.at(-1)?.body.toString(), '{"n":1}');
});

const BAD_EVENTS: readonly [unknown, number][] = [
  [{}, 422], [{ name: '' }, 422], [{ name: ' a b' }, 422], [{ name: 'a.*' }, 422],
  [{ name: 1 }, 422], [{ name: 'a', nam: 1 }, 422], ['{', 400], [[], 422],
  ...SYSTEM_EVENTS.map((name) => [{ name }, 422] as [unknown, number]),
];
for (const [body, status] of BAD_EVENTS) {
  test(`the event ${JSON.stringify(body)} is refused with ${status}`, async () => {
    assert.equal((await relay.ask('POST', '/api/events', body)).status, status);
  });
}

test('a pending delivery says that it waits for its webhook while that is off', async () => {
  const hook = await relay.ask('POST', '/api/outgoing-webhooks',
    { targetUrl: deadUrl, triggerEvent: 'off' });
  const path = `/api/outgoing-webhooks/${String(hook.json['identifier'])}`;
  const id = await emit('off');
  const before = await until(id, ({ attempts }) => (attempts as unknown[]).length === 1);
  assert.equal(before['waitsFor'], null);
  await relay.ask('PATCH', path, { enabled: false });
  const [listed] = JSON.parse((await list(`?hook=${String(hook.json['identifier'])}`)).text);
  const retried = await relay.ask('POST', `/api/deliveries/${id}/retry`);
  const { json } = await relay.ask('GET', `/api/deliveries/${id}`);
  assert.deepEqual([listed.waitsFor, retried.json['waitsFor'], json['waitsFor'], json['status']],
    ['webhook', 'webhook', 'webhook', 'pending']);
  await relay.ask('PATCH', path, { enabled: true });
  assert.equal((await until(id, ({ waitsFor }) => waitsFor === null))['status'], 'pending');
  await relay.ask('PATCH', path, { enabled: false });
  const cancelled = await relay.ask('POST', `/api/deliveries/${id}/cancel`);
  assert.equal(cancelled.json['waitsFor'], null);
});

test('an event of hookshelf\'s own is refused with its name', async () => {
  const { json } = await relay.ask('POST', '/api/events', { name: 'delivery.failed' });
  assert.deepEqual(json['errors'], [{
    pointer: '/name', detail: 'must not be delivery.failed, which hookshelf alone emits, about '
      + 'itself: choose another name',
  }]);
});

test('an event that nobody hears is accepted without deliveries', async () => {
  const { status, json } = await relay.ask('POST', '/api/events', { name: 'quiet' });
  assert.equal(status, 202);
  assert.deepEqual(json, { event: null, deliveries: [] });
});

test('deliveries are listed by status, by hook and page by page', async () => {
  const down = [await emit('down'), await emit('down'), await emit('down')];
  const shown = await until(down[2] ?? '', ({ attempts }) => (attempts as unknown[]).length === 1);
  assert.deepEqual(idsOf(await list('?status=pending')), down);
  assert.deepEqual(idsOf(await list(`?hook=${String(shown['hook'])}`)), down);
  assert.ok(!idsOf(await list('?status=delivered')).some((id) => down.includes(id)));
  const first = await list('?status=pending&limit=2');
  assert.deepEqual(idsOf(first), down.slice(0, 2));
  const next = /<([^>]+)>; rel="next"/.exec(String(first.headers['link']))?.[1] ?? '';
  const second = await relay.ask('GET', next);
  assert.deepEqual(idsOf(second), down.slice(2));
  assert.equal(second.headers['link'], undefined);
  assert.deepEqual(idsOf(await list('?hook=nobody')), []);
  for (const query of ['?status=odd', '?limit=0', '?cursor=%20', '?nope=1']) {
    assert.equal((await list(query)).status, 400, query);
  }
});

test('a list says how many match, on all its pages, to HEAD as well', async () => {
  const down = await emit('down');
  await until(down, ({ attempts }) => (attempts as unknown[]).length === 1);
  const { json: { hook } } = await relay.ask('GET', `/api/deliveries/${down}`);
  const filters = ['', 'status=pending', 'status=delivered', 'status=failed', `hook=${hook}`,
    `hook=${hook}&status=pending`, `hook=${hook}&status=delivered`, 'hook=nobody', 'hook=%22'];
  for (const filter of filters) {
    const whole = await list(`?${filter}`);
    const count = String(idsOf(whole).length);
    const page = await list(`?${filter}&limit=1`);
    const cursor = /cursor=([\w-]+)/.exec(String(page.headers['link']))?.[1];
    const later = cursor === undefined ? page
      : await list(`?${filter}&limit=1&cursor=${cursor}`);
    const head = await relay.ask('HEAD', `/api/deliveries?${filter}&limit=1`);
    assert.deepEqual([whole, page, later, head].map(({ headers }) => headers['x-total-count']),
      [count, count, count, count], filter);
  }
});

test('a delivery is cancelled once, and never tried again by hand', async () => {
  const id = await emit('down');
  const cancelled = await relay.ask('POST', `/api/deliveries/${id}/cancel`);
  assert.equal(cancelled.status, 202);
  assert.equal(cancelled.json['status'], 'cancelled');
  assert.equal((await relay.ask('POST', `/api/deliveries/${id}/cancel`)).status, 202);
  assert.equal((await relay.ask('POST', `/api/deliveries/${id}/retry`)).status, 409);
});

test('a waiting delivery is tried at once when it is asked for', async () => {
  const id = await emit('down');
  await until(id, ({ attempts }) => (attempts as unknown[]).length === 1);
  assert.equal((await relay.ask('POST', `/api/deliveries/${id}/retry`)).status, 202);
  await until(id, ({ attempts }) => (attempts as unknown[]).length === 2);
});

test('what is delivered is neither cancelled nor tried again', async () => {
  const id = await emit('up');
  await until(id, ({ status }) => status === 'delivered');
  for (const verb of ['cancel', 'retry']) {
    assert.equal((await relay.ask('POST', `/api/deliveries/${id}/${verb}`)).status, 409);
  }
});

test('an unknown delivery is not found', async () => {
  assert.equal((await relay.ask('GET', '/api/deliveries/nope')).status, 404);
  for (const verb of ['cancel', 'retry']) {
    assert.equal((await relay.ask('POST', `/api/deliveries/nope/${verb}`)).status, 404);
  }
});

test('the books balance', async () => {
  const { json } = await relay.ask('GET', '/api/deliveries/reconcile');
  assert.deepEqual(json['problems'], []);
  assert.equal(json['isReconciled'], true);
});

test('the body that was sent is an attachment that no browser runs', async () => {
  const id = await emit('up', { html: '<script>' });
  await until(id, ({ status }) => status === 'delivered');
  const { status, headers, text } = await relay.ask('GET', `/api/deliveries/${id}/body`);
  assert.deepEqual([status, text], [200, '{"html":"<script>"}']);
  assert.deepEqual([headers['content-type'], headers['content-disposition'],
    headers['x-content-type-options'], headers['content-security-policy']],
  ['application/json', `attachment; filename="${id}"`, 'nosniff',
    "default-src 'none'; sandbox"]);
  assert.equal((await relay.ask('GET', '/api/deliveries/nope/body')).status, 404);
});

test('a delivery is sent again as it was, or as a new one', async () => {
  const id = await emit('up', { n: 2 });
  await until(id, ({ status }) => status === 'delivered');
  const again = await relay.ask('POST', `/api/deliveries/${id}/resend`);
  assert.deepEqual([again.status, again.json['identifier'], again.json['status']],
    [202, id, 'pending']);
  await until(id, ({ attempts }) => (attempts as unknown[]).length === 2);
  const anew = await relay.ask('POST', `/api/deliveries/${id}/resend`, { as: 'new' });
  assert.deepEqual([anew.status, anew.json['resendOf']], [202, id]);
  assert.notEqual(anew.json['identifier'], id);
  await until(String(anew.json['identifier']), ({ status }) => status === 'delivered');
  for (const [body, status] of [[{ as: 'old' }, 422], [{ at: 'new' }, 422], ['{', 400]] as const) {
    assert.equal((await relay.ask('POST', `/api/deliveries/${id}/resend`, body)).status, status);
  }
  assert.equal((await relay.ask('POST', '/api/deliveries/nope/resend')).status, 404);
});

test('a list is of one event, or of a time', async () => {
  const first = await emit('up.one');
  assert.equal(first, '');
  const down = await emit('down');
  const { json } = await relay.ask('GET', `/api/deliveries/${down}`);
  const at = String(json['createdAt']);
  const later = new Date(Date.parse(at) + 1).toISOString();
  assert.ok(idsOf(await list('?event=down')).includes(down));
  assert.ok(!idsOf(await list('?event=up')).includes(down));
  assert.deepEqual(idsOf(await list('?event=dow')), []);
  assert.deepEqual(idsOf(await list(`?event=down&since=${at}&until=${later}`)), [down]);
  assert.ok(!idsOf(await list(`?until=${at}`)).includes(down));
  assert.ok(idsOf(await list(`?until=${later}&limit=1`)).length === 1);
  const page = await list('?event=down&limit=1');
  const next = /<([^>]+)>; rel="next"/.exec(String(page.headers['link']))?.[1] ?? '';
  assert.match(next, /event=down/);
  assert.equal(page.headers['x-total-count'], String(idsOf(await list('?event=down')).length));
  for (const query of ['?since=yesterday', '?until=2026']) {
    assert.equal((await list(query)).status, 400, query);
  }
});

test('a list begins with the newest where that is asked for, page by page', async () => {
  const all = idsOf(await list('?order=oldest'));
  assert.deepEqual(idsOf(await list('')), all);
  assert.deepEqual(idsOf(await list('?order=newest')), all.toReversed());
  const page = await list('?order=newest&limit=2');
  assert.deepEqual(idsOf(page), all.toReversed().slice(0, 2));
  const next = /<([^>]+)>; rel="next"/.exec(String(page.headers['link']))?.[1] ?? '';
  assert.deepEqual(idsOf(await list(next.slice(next.indexOf('?')))), all.toReversed().slice(2, 4));
  assert.equal((await list('?order=best')).status, 400);
});

test('every failed delivery is tried again at once', async () => {
  const quick = await startRelay({ outgoing: { retrySchedule: [] } });
  quick.webhooks.start();
  await quick.ask('POST', '/api/outgoing-webhooks', { targetUrl: deadUrl, triggerEvent: 'x' });
  for (let count = 0; count < 3; count += 1) await quick.ask('POST', '/api/events', { name: 'x' });
  const failed = async (): Promise<number> =>
    idsOf(await quick.ask('GET', '/api/deliveries?status=failed')).length;
  while (await failed() < 3) await new Promise((resolve) => void setImmediate(resolve));
  const { status, json } = await quick.ask('POST', '/api/deliveries/retry');
  assert.deepEqual([status, json['retried']], [202, 3]);
  while (await failed() < 3) await new Promise((resolve) => void setImmediate(resolve));
  const shown = await quick.ask('GET', '/api/deliveries');
  assert.ok((JSON.parse(shown.text) as { attempts: unknown[] }[]).every(({ attempts }) =>
    attempts.length === 2));
  await quick.close();
});

test('http-forward in queue mode answers at once with the delivery', async () => {
  const raw = '{ "raw" : true }';
  await relay.hook({ actionType: 'http-forward', options: { url: target.url(), mode: 'queue' } });
  const { status, json } = await relay.ask('POST', '/webhook/in/hook', raw);
  assert.equal(status, 200);
  const { deliveryId } = json['data'] as { deliveryId: string };
  const shown = await until(deliveryId, (delivery) => delivery['status'] === 'delivered');
  assert.deepEqual([shown['hook'], shown['event']], [null, null]);
  assert.equal(target.received.at(-1)?.body.toString(), raw);
});

test('a full queue is 503 with Retry-After, for events and for incoming webhooks', async () => {
  const full = await startRelay({ outgoing: { maxPending: 1 } });
  await full.ask('POST', '/api/outgoing-webhooks', { targetUrl: deadUrl, triggerEvent: 'x' });
  await full.hook({ actionType: 'emit-event', options: { name: 'x' } });
  assert.equal((await full.ask('POST', '/webhook/in/hook', { a: 1 })).status, 200);
  for (const path of ['/webhook/in/hook', '/api/events']) {
    const refused = await full.ask('POST', path, { name: 'x' });
    assert.equal(refused.status, 503, path);
    assert.ok(Number(refused.headers['retry-after']) > 0);
  }
  await full.close();
});
