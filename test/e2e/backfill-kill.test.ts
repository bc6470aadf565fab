/**
 * Real processes: a backfill goes on after each kill with -9, makes nothing twice, and its webhook
 * gets what it has missed before what is new; what is delayed begins at its time, and once.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { IS_LONG } from '../support/long.ts';
import { until } from '../support/until.ts';
import type { FlappingTarget, Mood } from './relay-target.ts';
import { DRAIN_MS_MAX, make, withRelay, type Survivor } from './survivor.ts';

const MISSED = IS_LONG ? 1500 : 200;
const MOODS_OF_LIVES: readonly Mood[] = ['up', 'failing', 'slow', 'reset', 'up'];
const DELAYED = 12;
const SETTINGS = {
  HOOKSHELF_EVENTS_KEEP: 'all',
  HOOKSHELF_OUTGOING_RETRY_SCHEDULE: JSON.stringify(Array(100).fill(0.2)),
  HOOKSHELF_OUTGOING_RETENTION_COUNT: '100000',
  // The job waits for room again and again, so that kills come in its middle.
  HOOKSHELF_OUTGOING_MAX_PENDING: '60',
};

type Emitted = { readonly status: number; readonly event: string };
type Delivery = { readonly eventId: string; readonly createdAt: string };

async function emit(
  server: Survivor, name: string, n: number, terms: object = {},
): Promise<Emitted> {
  const { status, text } =
    await server.call('/api/events', JSON.stringify({ name, payload: n, ...terms }));
  return { status, event: status === 202 ? JSON.parse(text).event : '' };
}

function arrivedAt(target: FlappingTarget, path: string): readonly number[] {
  return target.arrived.filter((arrival) => arrival.path === path).map(({ body }) => Number(body));
}

test('a backfill and delayed events live through kills', () =>
  withRelay(SETTINGS, async (server, target) => {
    for (let n = 0; n < MISSED; n += 1) {
      assert.equal((await emit(server, 'thing.x', n)).status, 202);
    }
    await make(server, '/api/outgoing-webhooks',
      { name: 'late', targetUrl: `${target.url}late`, triggerEvent: 'late' });
    const delayed: Emitted[] = [];
    for (let n = 0; n < DELAYED; n += 1) {
      delayed.push(await emit(server, 'late', n, { delaySeconds: 1 + (n % 3) }));
    }
    await make(server, '/api/outgoing-webhooks', {
      name: 'missed', targetUrl: `${target.url}missed`, triggerEvent: 'thing.*', order: 'strict',
    });
    const job = await server.call('/api/outgoing-webhooks/missed/backfill',
      JSON.stringify({ since: '2026-01-01T00:00:00Z' }));
    assert.equal(job.status, 202, job.text);
    const { id } = JSON.parse(job.text);
    const readJob = (): Promise<Record<string, unknown>> => server.get(`/api/jobs/${id}`);
    const acknowledged: number[] = [];
    let killsWithin = 0;
    for (const [life, mood] of MOODS_OF_LIVES.entries()) {
      await target.turn(mood);
      const n = MISSED + life;
      if ((await emit(server, 'thing.x', n)).status === 202) acknowledged.push(n);
      if (life === MOODS_OF_LIVES.length - 1) break;
      const isAway = mood === 'failing' || mood === 'reset';
      const count = arrivedAt(target, '/missed').length + (isAway ? 0 : 20);
      await until('it is time to kill', () => arrivedAt(target, '/missed').length >= count,
        { msMax: DRAIN_MS_MAX });
      if ((await readJob())['status'] === 'running') killsWithin += 1;
      await server.stop('SIGKILL');
      await server.start();
    }
    assert.ok(killsWithin >= 2, `${killsWithin} kills came while it ran`);
    await until('the job has ended', async () => (await readJob())['status'] === 'done',
      { msMax: DRAIN_MS_MAX });
    assert.equal((await readJob())['done'], MISSED);
    await until('what is delayed has come', () =>
      new Set(arrivedAt(target, '/late')).size === DELAYED, { msMax: DRAIN_MS_MAX });
    const { problems, pending, failed } = await server.drain();
    assert.deepEqual([problems, pending, failed], [[], 0, 0]);
    const arrived = arrivedAt(target, '/missed');
    assert.deepEqual(arrived, [...arrived].sort((left, right) => left - right));
    assert.deepEqual([...new Set(arrived)],
      [...Array.from({ length: MISSED }, (_, n) => n), ...acknowledged]);
    const made = await server.list<Delivery>('/api/deliveries?hook=missed');
    assert.equal(made.length, MISSED + acknowledged.length);
    assert.equal(new Set(made.map(({ eventId }) => eventId)).size, made.length);
    await assertBegunOnce(server, delayed);
    await server.stop('SIGTERM');
  }));

/** Each has one delivery, which was not made before its time. */
async function assertBegunOnce(server: Survivor, delayed: readonly Emitted[]): Promise<void> {
  const made = await server.list<Delivery>('/api/deliveries?hook=late');
  assert.deepEqual(made.map(({ eventId }) => eventId).sort(),
    delayed.map(({ event }) => event).sort());
  for (const { eventId, createdAt } of made) {
    const { deliverAt } = await server.get(`/api/events/${eventId}`);
    assert.ok(createdAt >= String(deliverAt), `${createdAt} is before ${String(deliverAt)}`);
  }
}
