import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { WebhooksOptions } from '../../../src/webhooks/webhooks-options.ts';
import { until } from '../../support/until.ts';
import { startRelay, type Answer, type Relay } from '../relay.ts';
import { endedJob } from './ended-job.ts';

const EVENTS = 130;

class Place {
  readonly relay: Relay;
  readonly hook: string;

  constructor(relay: Relay, hook: string) {
    this.relay = relay;
    this.hook = hook;
  }

  resend(body: object): Promise<Answer> {
    return this.relay.ask('POST', '/api/deliveries/resend', body);
  }

  /** The job once it has ended. */
  resent(body: object): Promise<Answer['json']> {
    return endedJob(this.relay, '/api/deliveries/resend', body);
  }

  async deliveries(query = ''): Promise<Readonly<Record<string, unknown>>[]> {
    return JSON.parse((await this.relay.ask('GET', `/api/deliveries${query}`)).text);
  }
}

/** A relay with cancelled deliveries of one webhook, whose target is not there. */
async function withPlace(
  use: (place: Place) => Promise<void>, outgoing: Partial<WebhooksOptions['outgoing']> = {},
): Promise<void> {
  const relay = await startRelay({ outgoing });
  try {
    const made = await relay.ask('POST', '/api/outgoing-webhooks',
      { targetUrl: 'http://127.0.0.1:1/', triggerEvent: 'order.*' });
    const identifiers: string[] = [];
    for (let n = 0; n < EVENTS; n += 1) {
      const name = n % 2 === 0 ? 'order.paid' : 'order.sent';
      const emitted = await relay.webhooks.emit(name, { n });
      await Promise.all(emitted.map((one) => relay.webhooks.deliveries.cancel(one)));
      identifiers.push(...emitted);
    }
    assert.equal(identifiers.length, EVENTS);
    await use(new Place(relay, String(made.json['identifier'])));
  } finally {
    await relay.close();
  }
}

test('sends again what the filter means, each once', () => withPlace(async (place) => {
  place.relay.webhooks.start();
  const { total, done, failed } = await place.resent({ status: 'cancelled', event: 'order.paid' });
  assert.deepEqual({ total, done, failed },
    { total: EVENTS / 2, done: EVENTS / 2, failed: 0 });
  const rest = await place.deliveries('?status=cancelled');
  assert.deepEqual([...new Set(rest.map(({ event }) => event))], ['order.sent']);
  assert.equal(rest.length, EVENTS / 2);
  assert.equal((await place.deliveries()).length, EVENTS);
}));

test('makes new deliveries, and none of those that it made', () => withPlace(async (place) => {
  place.relay.webhooks.start();
  const { total, done } = await place.resent({ as: 'new' });
  assert.deepEqual({ total, done }, { total: EVENTS, done: EVENTS });
  const all = await place.deliveries();
  assert.equal(all.length, EVENTS * 2);
  const origins = all.map(({ resendOf }) => resendOf).filter((one) => one !== null);
  assert.equal(new Set(origins).size, EVENTS);
}));

test('counts in a dry run what the filter means', () => withPlace(async (place) => {
  const cases: readonly (readonly [object, number])[] = [
    [{}, EVENTS], [{ status: 'cancelled' }, EVENTS], [{ status: 'failed' }, 0],
    [{ hook: place.hook }, EVENTS], [{ hook: 'none' }, 0], [{ event: 'order.sent' }, EVENTS / 2],
    [{ until: '2026-01-01T00:00:00Z' }, 0], [{ since: '2026-01-01T00:00:00Z' }, EVENTS],
    [{ where: ['payload.n>=120'] }, 10], [{ where: ['payload.n=9.0'] }, 1],
    [{ where: ['event=order.sent', 'payload.n<10'] }, 5], [{ where: [] }, EVENTS],
    [{ where: ['{"not":{"path":"payload.n","op":"exists"}}'], status: 'cancelled' }, 0],
  ];
  for (const [filter, count] of cases) {
    const { status, json } = await place.resend({ ...filter, dryRun: true });
    assert.deepEqual([status, json], [200, { count }], JSON.stringify(filter));
  }
  assert.equal((await place.deliveries('?status=cancelled')).length, EVENTS);
}));

test('sends again what conditions hold for, past many for which they do not', () =>
  withPlace(async (place) => {
    place.relay.webhooks.start();
    const { total, done } = await place.resent({ where: ['payload.n>=120'], event: 'order.paid' });
    assert.deepEqual({ total, done }, { total: 5, done: 5 });
    assert.equal((await place.deliveries('?status=cancelled')).length, EVENTS - 5);
    for (const [where, problem] of [
      [['payload.n'], /a path, one of/], [['method=POST'], /must begin with payload or event/],
      [Array.from({ length: 11 }, () => 'event=a'), /at most 10/], ['event=a', /list|array/],
    ] as const) {
      const { status, json } = await place.resend({ where, dryRun: true });
      assert.equal(status, 422, JSON.stringify(where));
      assert.match(JSON.stringify(json['errors']), problem);
    }
  }));

test('counts as failed what has no webhook any more', () => withPlace(async (place) => {
  await place.relay.ask('DELETE', `/api/outgoing-webhooks/${place.hook}`);
  place.relay.webhooks.start();
  const { done, failed } = await place.resent({ status: 'cancelled' });
  assert.deepEqual({ done, failed }, { done: 0, failed: EVENTS });
}));

test('waits while the queue is full, and takes what there is room for', () =>
  withPlace(async (place) => {
    const asked = await place.resend({ status: 'cancelled', event: 'order.paid' });
    place.relay.webhooks.start();
    const path = `/api/jobs/${String(asked.json['id'])}`;
    const pending = async (): Promise<string[]> => (await place.deliveries('?status=pending'))
      .map(({ identifier }) => String(identifier));
    await until('the queue is full', async () => (await pending()).length === 7);
    const job = (await place.relay.ask('GET', path)).json;
    assert.deepEqual([job['status'], job['done']], ['running', 7]);
    for (const one of await pending()) {
      await place.relay.ask('POST', `/api/deliveries/${one}/cancel`);
    }
    await until('it goes on', async () =>
      Number((await place.relay.ask('GET', path)).json['done']) === 14);
    await place.relay.ask('DELETE', path);
  }, { maxPending: 7, retrySchedule: [3600] }));

test('a job takes no more bytes than the queue has room for', async () => {
  const relay = await startRelay({ outgoing: { maxPendingBytes: 55_000, retrySchedule: [3600] } });
  try {
    await relay.ask('POST', '/api/outgoing-webhooks',
      { targetUrl: 'http://127.0.0.1:1/', triggerEvent: 'order.*' });
    for (let n = 0; n < 20; n += 1) {
      const emitted = await relay.webhooks.emit('order.paid', 'x'.repeat(10_000));
      await Promise.all(emitted.map((one) => relay.webhooks.deliveries.cancel(one)));
    }
    const { json } = await relay.ask('POST', '/api/deliveries/resend', { status: 'cancelled' });
    relay.webhooks.start();
    const path = `/api/jobs/${String(json['id'])}`;
    const getJob = async (): Promise<Answer['json']> => (await relay.ask('GET', path)).json;
    await until('there is room no more', async () => Number((await getJob())['done']) >= 5);
    const { status, done } = await getJob();
    assert.deepEqual({ status, done }, { status: 'running', done: 5 });
    await relay.ask('DELETE', path);
  } finally {
    await relay.close();
  }
});
