/**
 * Real processes, killed with -9 under load while the target flaps: events that begin later and are
 * cancelled, events that nobody hears and that age out, durable sends, and a backfill.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { IS_LONG } from '../support/long.ts';
import { below, createRandom } from '../support/random.ts';
import { until } from '../support/until.ts';
import type { FlappingTarget } from './relay-target.ts';
import { DRAIN_MS_MAX, liveThroughKills, withRelay, type Survivor } from './survivor.ts';

const SEED = 20261126;
const KILLS = IS_LONG ? 10 : 3;
const CONNECTIONS = 8;
const SCHEDULE = JSON.stringify(Array(100).fill(0.2));
const BY_KEY = { key: 'payload.key' };
const EVER = '2026-01-01T00:00:00Z';

const OFFERS = IS_LONG ? 2500 : 400;
const DELAY_MS_MAX = 1500;
const UNHEARD_BYTES_MAX = 50_000;
const UNHEARD_TEXT = 'x'.repeat(2000);
const DELAYED_SETTINGS = {
  HOOKSHELF_OUTGOING_RETRY_SCHEDULE: SCHEDULE, HOOKSHELF_OUTGOING_RETENTION_COUNT: '100000',
  HOOKSHELF_EVENTS_KEEP: 'all', HOOKSHELF_EVENTS_MAX_BYTES: String(UNHEARD_BYTES_MAX),
};

type Delayed = {
  readonly n: number;
  readonly key: number;
  readonly deliverAtMs: number;
  /** null: there was no answer. */
  event: string | null;
  answeredMs: number;
  /** `unknown`: there was no answer to the cancelling. */
  fate: 'begins' | 'cancelled' | 'unknown';
};

const numberIn = ({ body }: { readonly body: string }): number => Number(JSON.parse(body).n);

/** Delays events, sends durably, cancels some, and emits what nobody hears. */
class DelayedOffers {
  readonly delayed = new Map<number, Delayed>();
  /** The ids of events that nobody hears, as they were answered. */
  readonly unheard: string[] = [];
  count = 0;
  readonly #server: Survivor;
  readonly #hook: string;
  readonly #random = createRandom(SEED);

  constructor(server: Survivor, hook: string) {
    this.#server = server;
    this.#hook = hook;
  }

  async offerUntil(bound: number, key: number): Promise<void> {
    const recent: Delayed[] = [];
    while (this.#server.isUp && this.count < bound) {
      const n = this.count;
      this.count += 1;
      if (n % 5 === 4) await this.#emitUnheard(n);
      else recent.push(await this.#delay(n, key));
      // It may be beginning at this moment.
      const old = recent.length > 4 ? recent.shift() : undefined;
      if (old !== undefined && n % 3 === 0) await this.#cancel(old);
    }
  }

  async #delay(n: number, key: number): Promise<Delayed> {
    const deliverAtMs = Date.now() + below(this.#random, DELAY_MS_MAX);
    const delayed: Delayed = { n, key, deliverAtMs, event: null, answeredMs: 0, fate: 'begins' };
    this.delayed.set(n, delayed);
    const isSend = n % 5 === 3;
    const path = isSend ? `/api/outgoing-webhooks/${this.#hook}/deliveries` : '/api/events';
    const { status, text } = await this.#server.call(path, JSON.stringify({
      payload: { n, key }, deliverAt: new Date(deliverAtMs).toISOString(),
      ...isSend ? {} : { name: 'order.paid' },
    }));
    if (status !== 202) return delayed;
    const { event, eventId } = JSON.parse(text);
    delayed.event = isSend ? eventId : event;
    delayed.answeredMs = Date.now();
    return delayed;
  }

  async #cancel(delayed: Delayed): Promise<void> {
    if (delayed.event === null) return;
    const status = await this.#server.delete(`/api/events/${delayed.event}`);
    assert.ok([0, 204, 409].includes(status), String(status));
    if (status === 204) delayed.fate = 'cancelled';
    if (status === 0) delayed.fate = 'unknown';
  }

  async #emitUnheard(n: number): Promise<void> {
    const { status, text } = await this.#server.call('/api/events',
      JSON.stringify({ name: 'unheard', payload: { n, text: UNHEARD_TEXT } }));
    if (status === 202) this.unheard.push(JSON.parse(text).event);
  }
}

/** Offers until `bound` through kills. */
function live(
  server: Survivor, target: FlappingTarget, bound: number, offers: DelayedOffers | KeyedOffers,
): Promise<void> {
  return liveThroughKills(server, target, offers,
    { bound, kills: KILLS, connections: CONNECTIONS, random: createRandom(SEED + 1) });
}

async function makeHook(
  server: Survivor, target: FlappingTarget, members: object,
): Promise<string> {
  const { status, text } = await server.call('/api/outgoing-webhooks',
    JSON.stringify({ targetUrl: target.url, triggerEvent: 'order.*', secret: 's', ...members }));
  assert.equal(status, 201, text);
  return JSON.parse(text).identifier;
}

test('delayed events begin once and not early, and cancelled ones never, through kills', () =>
  withRelay(DELAYED_SETTINGS, async (server, target) => {
    const hook = await makeHook(server, target, { order: BY_KEY });
    const offers = new DelayedOffers(server, hook);
    await live(server, target, OFFERS, offers);
    const awaited = [...offers.delayed.values()].filter(({ event, fate }) =>
      event !== null && fate === 'begins');
    const arrivedNumbers = (): Set<number> => new Set(target.arrived.map(numberIn));
    await until('all have begun and arrived', () => {
      const numbers = arrivedNumbers();
      return awaited.every(({ n }) => numbers.has(n));
    }, { msMax: DRAIN_MS_MAX });
    const totals = await server.drain();
    assert.deepEqual([totals['problems'], totals['pending'], totals['failed']], [[], 0, 0]);
    checkDelayed(target, offers);
    checkTimes(target, offers);
    // The next start looks at once for what has to go.
    await server.stop('SIGKILL');
    await server.start();
    await checkUnheard(server, offers);
    const { problems, accepted } = await server.drain();
    assert.deepEqual([problems, accepted], [[], totals['accepted']]);
    await server.stop('SIGTERM');
  }));

/** One event has one delivery, whatever was killed, and it came in its time or not at all. */
function checkDelayed({ arrived }: FlappingTarget, { delayed }: DelayedOffers): void {
  const ids = new Map<number, string>();
  for (const arrival of arrived) {
    const n = numberIn(arrival);
    const { fate, deliverAtMs } = delayed.get(n) ?? assert.fail(arrival.body);
    assert.notEqual(fate, 'cancelled', `event ${n} began although it was cancelled`);
    assert.ok(arrival.atMs >= deliverAtMs, `event ${n} began early`);
    assert.equal(ids.get(n) ?? arrival.id, arrival.id, `event ${n} began twice`);
    ids.set(n, arrival.id);
  }
  const cancelled = [...delayed.values()].filter(({ fate }) => fate === 'cancelled').length;
  assert.ok(cancelled > OFFERS / 20, `${cancelled} were cancelled`);
}

/** Those that were on disk in time came in the order of their times, each key by itself. */
function checkTimes({ arrived }: FlappingTarget, { delayed }: DelayedOffers): void {
  const last = new Map<number, number>();
  for (const n of arrived.map(numberIn)) {
    const { key, deliverAtMs, answeredMs } = delayed.get(n) ?? assert.fail(String(n));
    const isEvent = n % 5 !== 3;
    if (!isEvent || answeredMs === 0 || answeredMs > deliverAtMs) continue;
    assert.ok(deliverAtMs >= (last.get(key) ?? 0), `event ${n} of ${key} came too late`);
    last.set(key, deliverAtMs);
  }
}

/** The oldest events that nobody heard have gone, as many as had to. */
async function checkUnheard(server: Survivor, { unheard }: DelayedOffers): Promise<void> {
  let ids: readonly string[] = [];
  await until('no more have to go', async () => {
    const events = await server.list<{ id: string; payloadBytes: number }>(
      '/api/events?name=unheard&limit=1000');
    ids = events.map(({ id }) => id);
    return events.reduce((sum, { payloadBytes }) => sum + payloadBytes, 0) <= UNHEARD_BYTES_MAX;
  }, { msMax: DRAIN_MS_MAX });
  const kept = new Set(ids);
  const oldest = [...ids].sort()[0] ?? '';
  assert.deepEqual(unheard.filter((id) => id > oldest && !kept.has(id)), []);
  assert.ok(ids.length > 15 && unheard.length > ids.length, `${ids.length} are kept`);
}

const MISSED = IS_LONG ? 1500 : 200;
const NEW = IS_LONG ? 1500 : 200;
const BACKFILL_SETTINGS = {
  HOOKSHELF_OUTGOING_RETRY_SCHEDULE: SCHEDULE, HOOKSHELF_OUTGOING_RETENTION_COUNT: '100000',
  HOOKSHELF_EVENTS_KEEP: 'all',
  // The job waits for room again and again, so that it runs through the kills.
  HOOKSHELF_OUTGOING_MAX_PENDING: '40',
};

type Keyed = { readonly key: number; readonly n: number };

/** Emits what comes next of each key. */
class KeyedOffers {
  readonly acknowledged: Keyed[] = [];
  count = 0;
  readonly #nextByKey = new Map<number, number>();
  readonly #server: Survivor;

  constructor(server: Survivor) {
    this.#server = server;
  }

  async offerUntil(bound: number, key: number): Promise<void> {
    while (this.#server.isUp && this.count < bound) {
      const n = this.#nextByKey.get(key) ?? 0;
      const payload = { key, n };
      const status = await this.#server.post('/api/events', { name: 'order.paid', payload });
      this.count += 1;
      // If the queue is full, the same comes again.
      if (status !== 503) this.#nextByKey.set(key, n + 1);
      if (status === 202) this.acknowledged.push(payload);
    }
  }
}

test('a backfill goes on through kills, once for each event, and new events go behind it', () =>
  withRelay(BACKFILL_SETTINGS, async (server, target) => {
    const offers = new KeyedOffers(server);
    await Promise.all(Array.from({ length: CONNECTIONS }, (_, key) =>
      offers.offerUntil(MISSED, key)));
    const hook = await makeHook(server, target, { order: BY_KEY });
    const backfill = `/api/outgoing-webhooks/${hook}/backfill`;
    assert.equal(await server.post(backfill, { since: EVER }), 202);
    await live(server, target, MISSED + NEW, offers);
    await until('the job has ended', async () => {
      const jobs = await server.list<{ status: string }>('/api/jobs');
      return jobs.every(({ status }) => status === 'done');
    }, { msMax: DRAIN_MS_MAX });
    const totals = await server.drain();
    assert.deepEqual([totals['problems'], totals['pending'], totals['failed']], [[], 0, 0]);
    checkKeyed(target, offers);
    const { text } = await server.call(backfill, JSON.stringify({ since: EVER, dryRun: true }));
    assert.deepEqual(JSON.parse(text), { count: 0 });
    await server.stop('SIGTERM');
  }));

/** Every event came by one delivery, and none before an earlier one of its key. */
function checkKeyed({ arrived }: FlappingTarget, { acknowledged }: KeyedOffers): void {
  const ids = new Map<string, string>();
  const last = new Map<number, number>();
  for (const { id, body } of arrived) {
    const { key, n }: Keyed = JSON.parse(body);
    assert.ok(n >= (last.get(key) ?? -1), `${n} of ${key} came after ${last.get(key)}`);
    last.set(key, n);
    assert.equal(ids.get(`${key} ${n}`) ?? id, id, `${n} of ${key} has two deliveries`);
    ids.set(`${key} ${n}`, id);
  }
  assert.deepEqual(acknowledged.filter(({ key, n }) => !ids.has(`${key} ${n}`)), []);
}
