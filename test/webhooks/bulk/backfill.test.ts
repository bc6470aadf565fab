/** What a webhook that was off, or is new, gets of the events it has missed, and in which order. */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test, type TestContext } from 'node:test';
import { formatTimestamp } from '../../../src/base/clock.ts';
import { createIdSource } from '../../../src/base/uuid.ts';
import { encodeEvent } from '../../../src/webhooks/deliveries/event-record.ts';
import { startHttpTarget, type HttpTarget } from '../../support/http-target.ts';
import { until } from '../../support/until.ts';
import {
  startRelayFor, type Answer, type Relay, type RelayOptions,
} from '../relay.ts';
import { endedJob } from './ended-job.ts';

/** What does not come in this time is held back for ever. */
const WAIT_MS_MAX = 15_000;
const HOUR_MS = 3_600_000;
const EVER = '2026-01-01T00:00:00Z';

function soon(what: string, isSo: () => boolean | Promise<boolean>): Promise<void> {
  return until(what, isSo, { msMax: WAIT_MS_MAX });
}

type Place = {
  readonly relay: Relay;
  readonly target: HttpTarget;
  /** Adds a webhook of that target, and returns its identifier. */
  add(members?: object): Promise<string>;
  emit(name: string, payload?: object): Promise<void>;
  backfill(hook: string, body?: object): Promise<Answer>;
  count(hook: string, body?: object): Promise<unknown>;
  /** The job once it has ended. */
  backfilled(hook: string, body?: object): Promise<Answer['json']>;
  deliveries(query?: string): Promise<readonly Readonly<Record<string, unknown>>[]>;
  /** The numbers `n` of the payloads that came, in this order. */
  arrived(): readonly unknown[];
  isHeld(hook: string): boolean;
};

async function open(context: TestContext, options: RelayOptions = {}): Promise<Place> {
  const target = await startHttpTarget();
  context.after(() => target.close());
  const relay = await startRelayFor(context, { events: { keep: 'all' }, ...options });
  const path = (hook: string): string => `/api/outgoing-webhooks/${hook}/backfill`;
  const backfill: Place['backfill'] = (hook, body = {}) =>
    relay.ask('POST', path(hook), { since: EVER, ...body });
  const isHeld = (hook: string): boolean =>
    relay.store.collection('backfills').findBytes(hook) !== undefined;
  return {
    relay, target, backfill,
    async add(members = {}) {
      const made = await relay.ask('POST', '/api/outgoing-webhooks', {
        targetUrl: target.url, triggerEvent: 'order.*', ...members,
      });
      assert.equal(made.status, 201, made.text);
      return String(made.json['identifier']);
    },
    async emit(name, payload = {}) {
      const { status, text } = await relay.ask('POST', '/api/events', { name, payload });
      assert.equal(status, 202, text);
    },
    async count(hook, body = {}) {
      const { status, json, text } = await backfill(hook, { ...body, dryRun: true });
      assert.equal(status, 200, text);
      return json['count'];
    },
    async backfilled(hook, body = {}) {
      const job = await endedJob(relay, path(hook), { since: EVER, ...body });
      assert.equal(isHeld(hook), false);
      return job;
    },
    deliveries: async (query = '') =>
      JSON.parse((await relay.ask('GET', `/api/deliveries${query}`)).text),
    arrived: () => target.received.map(({ body }) => JSON.parse(String(body)).n),
    isHeld,
  };
}

test('makes deliveries of what the webhook would have heard, oldest first', async (context) => {
  const place = await open(context);
  for (let n = 0; n < 120; n += 1) {
    await place.emit(n % 2 === 0 ? 'order.paid' : 'book.read', { n });
  }
  const hook = await place.add({ maxInFlight: 1 });
  assert.equal(await place.count(hook), 60);
  place.relay.webhooks.start();
  const { kind, status, total, done, failed } = await place.backfilled(hook);
  assert.deepEqual({ kind, status, total, done, failed },
    { kind: 'backfill', status: 'done', total: 60, done: 60, failed: 0 });
  await soon('all have come', () => place.arrived().length === 60);
  assert.deepEqual(place.arrived(), Array.from({ length: 60 }, (_, index) => index * 2));
});

test('puts a delayed event where it began, not where it was made', async (context) => {
  const place = await open(context);
  const nowMs = Date.now();
  const putEvent = (n: number, madeHoursAgo: number, delayHours = 0): Promise<unknown> => {
    const madeMs = nowMs - madeHoursAgo * HOUR_MS;
    const event = {
      identifier: createIdSource({ now: () => madeMs })(), createdAt: formatTimestamp(madeMs),
      deliverAt: delayHours === 0 ? undefined : formatTimestamp(madeMs + delayHours * HOUR_MS),
      name: 'order.paid', source: 'api', hops: 1, webhookIds: [],
    } as const;
    return place.relay.store.transact((transaction) =>
      transaction.put('events', event.identifier, encodeEvent(event, `{"n":${n}}`)));
  };
  await putEvent(2, 5, 3);
  await putEvent(0, 4);
  await putEvent(1, 3);
  await putEvent(3, 1);
  const hook = await place.add({ maxInFlight: 1, enabled: false });
  place.relay.webhooks.start();
  await place.backfilled(hook);
  await place.relay.ask('PATCH', `/api/outgoing-webhooks/${hook}`, { enabled: true });
  await until('all have come', () => place.arrived().length === 4);
  assert.deepEqual(place.arrived(), [0, 1, 2, 3]);
});

test('does nothing the second time, whatever has become of the deliveries', async (context) => {
  const place = await open(context, { outgoing: { retrySchedule: [] } });
  for (let n = 0; n < 3; n += 1) await place.emit('order.paid', { n });
  const hook = await place.add({ enabled: false });
  place.relay.webhooks.start();
  await place.backfilled(hook);
  const [first] = await place.deliveries();
  await place.relay.ask('POST', `/api/deliveries/${String(first?.['identifier'])}/cancel`);
  assert.equal(await place.count(hook), 0);
  const { total, done } = await place.backfilled(hook);
  assert.deepEqual([total, done], [0, 0]);
  assert.equal((await place.deliveries()).length, 3);
});

test('passes over what the webhook had a delivery of at the time', async (context) => {
  const place = await open(context);
  const hook = await place.add();
  await place.emit('order.paid', { n: 1 });
  await place.relay.ask('PATCH', `/api/outgoing-webhooks/${hook}`, { enabled: false });
  await place.emit('order.paid', { n: 2 });
  await place.relay.ask('PATCH', `/api/outgoing-webhooks/${hook}`, { enabled: true });
  await place.emit('order.paid', { n: 3 });
  place.relay.webhooks.start();
  await place.backfilled(hook);
  await soon('all have come', () => place.arrived().length === 3);
  assert.deepEqual([...place.arrived()].sort(), [1, 2, 3]);
});

test('decides by triggers and condition as they are now', async (context) => {
  const place = await open(context);
  for (let n = 0; n < 10; n += 1) await place.emit('order.paid', { n });
  await place.emit('order.sent', { n: 9 });
  const CASES: readonly (readonly [object, number])[] = [
    [{ triggerEvent: 'order.*' }, 11], [{ triggerEvent: 'order.sent' }, 1],
    [{ triggerEvent: '*' }, 11], [{ triggerEvent: 'order' }, 0],
    [{ triggerEvents: ['order.paid', 'order.*', '*'], triggerEvent: undefined }, 11],
    [{ when: { path: 'payload.n', op: 'gt', value: 6 } }, 4],
    [{ triggerEvents: [], triggerEvent: undefined }, 0],
  ];
  for (const [members, count] of CASES) {
    assert.equal(await place.count(await place.add(members)), count, JSON.stringify(members));
  }
});

test('decides by what the webhook hears when the job comes to an event', async (context) => {
  const place = await open(context, { outgoing: { maxPending: 2 } });
  for (let n = 0; n < 6; n += 1) await place.emit('order.paid', { n });
  const hook = await place.add({ enabled: false });
  place.relay.webhooks.start();
  const { json: { id } } = await place.backfill(hook);
  const job = async (): Promise<Answer['json']> =>
    (await place.relay.ask('GET', `/api/jobs/${String(id)}`)).json;
  await soon('the queue is full', async () => (await job())['done'] === 2);
  await place.relay.ask('PATCH', `/api/outgoing-webhooks/${hook}`,
    { when: { path: 'payload.n', op: 'eq', value: 5 } });
  for (const { identifier } of await place.deliveries()) {
    await place.relay.ask('POST', `/api/deliveries/${String(identifier)}/cancel`);
  }
  await soon('the job has ended', () => !place.isHeld(hook));
  const { total, done } = await job();
  assert.deepEqual([total, done], [3, 3]);
});

test('each key keeps its order, from what it makes to what is new', async (context) => {
  const place = await open(context);
  for (let n = 0; n < 12; n += 1) await place.emit('order.paid', { n, key: n % 3 });
  const hook = await place.add({ order: { key: 'payload.key' }, maxInFlight: 8 });
  assert.equal((await place.backfill(hook)).status, 202);
  for (let n = 12; n < 18; n += 1) await place.emit('order.paid', { n, key: n % 3 });
  place.relay.webhooks.start();
  await soon('all have come', () => place.arrived().length === 18);
  for (const key of [0, 1, 2]) {
    assert.deepEqual(place.arrived().filter((n) => Number(n) % 3 === key),
      Array.from({ length: 6 }, (_, index) => index * 3 + key));
  }
});

test('what it makes of an event from a clock that is ahead is before new deliveries, too',
  async (context) => {
    const place = await open(context);
    const ahead = '0fffffff-0000-7000-8000-000000000000';
    const event = encodeEvent({
      identifier: ahead, createdAt: formatTimestamp(Date.now()), name: 'order.paid', source: 'api',
      hops: 1, webhookIds: [],
    }, '{"n":1}');
    await place.relay.store.transact((transaction) => transaction.put('events', ahead, event));
    const hook = await place.add({ maxInFlight: 1 });
    assert.equal((await place.backfill(hook)).status, 202);
    await place.emit('order.paid', { n: 2 });
    place.relay.webhooks.start();
    await soon('both have come', () => place.arrived().length === 2);
    assert.deepEqual(place.arrived(), [1, 2]);
  });

test('takes events by their time and name', async (context) => {
  const place = await open(context);
  await place.emit('order.paid');
  const events = place.relay.store.collection('events');
  const [bytes] = [events.bytesAt(events.walk().next())];
  const { createdAt } = JSON.parse(String(bytes)) as { createdAt: string };
  const later = formatTimestamp(Date.parse(createdAt) + 1);
  const hook = await place.add();
  const CASES: readonly (readonly [object, number])[] = [
    [{ since: createdAt }, 1], [{ since: later }, 0],
    [{ until: createdAt }, 0], [{ until: later }, 1],
    [{ name: 'order.paid' }, 1], [{ name: 'order.*' }, 1], [{ name: 'order' }, 0],
    [{ name: '*' }, 1],
    [{ name: 'order.p' }, 0], [{ since: createdAt, until: later, name: 'order.paid' }, 1],
  ];
  for (const [body, count] of CASES) {
    assert.equal(await place.count(hook, body), count, JSON.stringify(body));
  }
});

test('tells of system events only a webhook that names them', async (context) => {
  const place = await open(context, { outgoing: { retrySchedule: [] } });
  const failing = await place.add({ targetUrl: `${place.target.url}/410` });
  await place.add({ triggerEvents: ['webhook.*', 'delivery.failed'], triggerEvent: undefined });
  place.relay.webhooks.start();
  await place.emit('order.paid');
  await soon('both are told', async () =>
    (await place.deliveries('?status=delivered')).length === 2);
  const every = await place.add({ triggerEvent: '*' });
  const named = await place.add({ triggerEvent: 'webhook.disabled' });
  assert.deepEqual([await place.count(every, { name: 'webhook.*' }), await place.count(named)],
    [0, 1]);
  await place.relay.ask('PATCH', `/api/outgoing-webhooks/${failing}`,
    { triggerEvent: 'webhook.disabled' });
  assert.equal(await place.count(failing), 0, 'it is about that webhook');
});

test('keeps the length of a chain', async (context) => {
  const place = await open(context);
  await place.relay.ask('POST', '/api/events', { name: 'order.paid', payload: {} },
    { 'X-Hookshelf-Chain': '3' });
  const hook = await place.add();
  place.relay.webhooks.start();
  await place.backfilled(hook);
  await soon('it has come', () => place.target.received.length === 1);
  assert.equal(place.target.received[0]?.headers['x-hookshelf-chain'], '4');
});

test('events that only a webhook heard that is off are kept for it, and no others',
  async (context) => {
    const place = await open(context, { events: { keep: 'heard' } });
    const when = { path: 'payload.n', op: 'eq', value: 1 };
    const hook = await place.add({ enabled: false, when });
    const soonAt = formatTimestamp(Date.now() + 300);
    const emit = async (name: string, n: number, terms: object = {}): Promise<unknown> =>
      (await place.relay.ask('POST', '/api/events', { name, payload: { n }, ...terms })).json;
    const keptIds = (await Promise.all([emit('order.paid', 1), emit('order.late', 1)]))
      .map((answer) => Reflect.get(Object(answer), 'event'));
    assert.ok(keptIds.every((id) => typeof id === 'string'), JSON.stringify(keptIds));
    const unheard = { event: null, deliveries: [] };
    assert.deepEqual(await emit('order.paid', 2), unheard, 'its condition is false');
    assert.deepEqual(await emit('book.read', 1), unheard, 'no trigger of it');
    await emit('order.paid', 1, { deliverAt: soonAt });
    await emit('order.paid', 2, { deliverAt: soonAt });
    place.relay.webhooks.start();
    const delayed = (): boolean => place.relay.store.collection('delayed-events').size > 0;
    await soon('the delayed ones have begun', () => !delayed());
    assert.equal(await place.count(hook), 3);
    await place.relay.ask('PATCH', `/api/outgoing-webhooks/${hook}`, { enabled: true });
    assert.equal((await place.backfilled(hook))['done'], 3);
    await soon('they have come', () => place.arrived().length === 3);
    await place.relay.ask('DELETE', `/api/outgoing-webhooks/${hook}`);
    assert.deepEqual(await emit('order.paid', 1), unheard, 'its webhook is gone');
  });

test('a disabled webhook takes it, and its deliveries wait', async (context) => {
  const place = await open(context);
  await place.emit('order.paid', { n: 1 });
  const hook = await place.add({ enabled: false });
  place.relay.webhooks.start();
  assert.equal((await place.backfilled(hook))['done'], 1);
  const [delivery] = await place.deliveries();
  assert.deepEqual([delivery?.['status'], delivery?.['waitsFor']], ['pending', 'webhook']);
  await place.relay.ask('PATCH', `/api/outgoing-webhooks/${hook}`, { enabled: true });
  await soon('it has come', () => place.arrived().length === 1);
});

test('new deliveries begin after those it makes, and only those of that webhook wait',
  async (context) => {
    const place = await open(context, { outgoing: { maxPending: 5 } });
    for (let n = 0; n < 20; n += 1) await place.emit('order.paid', { n });
    const hook = await place.add({ maxInFlight: 1, enabled: false });
    const other = await place.add({ triggerEvent: 'order.other' });
    place.relay.webhooks.start();
    const asked = await place.backfill(hook);
    assert.equal(asked.status, 202, asked.text);
    await soon('the queue is full', async () =>
      (await place.deliveries(`?status=pending&hook=${hook}`)).length === 5);
    assert.equal(place.isHeld(hook), true);
    // The queue is full: one of them makes room for a new delivery.
    const [oldest] = await place.deliveries(`?status=pending&hook=${hook}`);
    assert.equal(typeof oldest?.['identifier'], 'string');
    await place.relay.ask('PATCH', `/api/outgoing-webhooks/${hook}`, { enabled: true });
    await soon('there is room for a new event', async () => (await place.relay.ask('POST',
      '/api/events', { name: 'order.paid', payload: { n: 100 } })).status === 202);
    await soon('all have come', () => place.arrived().length >= 21);
    assert.deepEqual(place.arrived(), [...Array.from({ length: 20 }, (_, n) => n), 100]);
    await place.emit('order.other', { n: 200 });
    await soon('another webhook is sent to', () => place.arrived().includes(200));
    assert.equal((await place.deliveries(`?hook=${other}`)).length, 1);
  });

test('a job goes on although what waits for it fills the queue', async (context) => {
  const place = await open(context, { outgoing: { maxPending: 3 } });
  for (let n = 0; n < 5; n += 1) await place.emit('order.paid', { n });
  const hook = await place.add({ maxInFlight: 1 });
  const job = String((await place.backfill(hook)).json['id']);
  // New events take all the room before the job has begun.
  for (let n = 10; n < 13; n += 1) await place.emit('order.paid', { n });
  place.relay.webhooks.start();
  await soon('the job has ended', async () =>
    (await place.relay.ask('GET', `/api/jobs/${job}`)).json['status'] === 'done');
  await soon('all have come', () => place.arrived().length === 8);
  assert.deepEqual(place.arrived(), [0, 1, 2, 3, 4, 10, 11, 12]);
});

test('one runs for a webhook at a time, and one for each', async (context) => {
  const place = await open(context);
  await place.emit('order.paid');
  const hooks = [await place.add(), await place.add()];
  for (const hook of hooks) assert.equal((await place.backfill(hook)).status, 202);
  const again = await place.backfill(hooks[0] ?? '');
  assert.equal(again.status, 409);
  assert.match(again.text, /backfill.*for this webhook.*runs already/);
  place.relay.webhooks.start();
  await soon('both have ended', () => hooks.every((hook) => !place.isHeld(hook)));
  assert.equal((await place.backfill(hooks[0] ?? '')).status, 202);
});

test('lets go of new deliveries when it is cancelled, and when its webhook is removed',
  async (context) => {
    const place = await open(context);
    await place.emit('order.paid', { n: 1 });
    const cancelled = await place.add();
    const removed = await place.add();
    const job = async (hook: string): Promise<string> =>
      String((await place.backfill(hook)).json['id']);
    const status = async (id: string): Promise<unknown> =>
      (await place.relay.ask('GET', `/api/jobs/${id}`)).json['status'];
    const [first, second] = [await job(cancelled), await job(removed)];
    await place.emit('order.paid', { n: 2 });
    const { json } = await place.relay.ask('DELETE', `/api/jobs/${first}`);
    assert.equal(json['status'], 'cancelled');
    await place.relay.ask('DELETE', `/api/outgoing-webhooks/${removed}`);
    assert.deepEqual([place.isHeld(cancelled), place.isHeld(removed)], [false, false]);
    assert.deepEqual([await status(first), await status(second)], ['cancelled', 'cancelled']);
    place.relay.webhooks.start();
    await soon('the new one has come', () => place.arrived().includes(2));
    assert.equal(place.arrived().includes(1), false);
  });

test('waits while the queue is full, and takes what there is room for', async (context) => {
  const place = await open(context, { outgoing: { maxPending: 7, retrySchedule: [3600] } });
  for (let n = 0; n < 20; n += 1) await place.emit('order.paid', { n });
  const hook = await place.add({ enabled: false });
  place.relay.webhooks.start();
  const job = String((await place.backfill(hook)).json['id']);
  const done = async (): Promise<unknown> =>
    (await place.relay.ask('GET', `/api/jobs/${job}`)).json['done'];
  await soon('the queue is full', async () => await done() === 7);
  for (const { identifier } of await place.deliveries('?status=pending')) {
    await place.relay.ask('POST', `/api/deliveries/${String(identifier)}/cancel`);
  }
  await soon('it goes on', async () => await done() === 14);
  await place.relay.ask('DELETE', `/api/jobs/${job}`);
});

const BAD: readonly (readonly [object, number, RegExp])[] = [
  [{ since: undefined }, 422, /"detail":"say from when on.*2026-01-31T12:00:00Z.*is required/],
  [{ since: 'yesterday' }, 422, /"detail":"\/since: .*RFC 3339/],
  [{ until: 'never' }, 422, /"detail":"\/until: .*RFC 3339/],
  [{ until: EVER }, 422, /until.*later than since/],
  [{ name: '' }, 422, /name/],
  [{ name: 'order*' }, 422, /name.*beginning of names before a dot such as book\.\*.*order\*/],
  [{ name: 'a,b' }, 422, /name/],
  [{ hook: 'x' }, 422, /hook/],
];
for (const [body, status, problem] of BAD) {
  test(`refuses ${JSON.stringify(body)}`, async (context) => {
    const place = await open(context);
    const answer = await place.backfill(await place.add(), body);
    assert.equal(answer.status, status);
    assert.match(answer.text, problem);
  });
}

test('finds the webhook by its name, and answers 404 for none', async (context) => {
  const place = await open(context);
  await place.emit('order.paid');
  await place.add({ name: 'shop' });
  assert.equal(await place.count('shop'), 1);
  assert.equal((await place.backfill('none')).status, 404);
});

test('what it makes is signed as the webhook signs', async (context) => {
  const place = await open(context);
  for (let n = 0; n < 3; n += 1) await place.emit('order.paid', { n });
  const secret = 'a secret of the tests';
  const hook = await place.add({ secret, signing: { preset: 'github' }, maxInFlight: 1 });
  place.relay.webhooks.start();
  await place.backfilled(hook);
  await soon('all have come', () => place.arrived().length === 3);
  for (const { headers, body } of place.target.received) {
    const digest = createHmac('sha256', secret).update(body).digest('hex');
    assert.equal(headers['x-hub-signature-256'], `sha256=${digest}`);
    assert.equal(headers['x-github-event'], 'order.paid');
  }
});
