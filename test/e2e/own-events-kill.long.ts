/** Real processes: every failure is told once, though the server is killed with -9 meanwhile. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '../support/until.ts';
import { IS_LONG } from '../support/long.ts';
import { FlappingTarget } from './relay-target.ts';
import { DRAIN_MS_MAX, make, withRelay } from './survivor.ts';

const EVENTS = IS_LONG ? 600 : 250;
const KILLS = IS_LONG ? 5 : 3;
const CONNECTIONS = 8;
const SETTINGS = {
  HOOKSHELF_OUTGOING_RETRY_SCHEDULE: JSON.stringify([0.05]),
  HOOKSHELF_OUTGOING_RETENTION_COUNT: '100000',
};

type Told = { readonly data: { readonly delivery: { readonly identifier: string } } };

test('every delivery that fails for good is told once, through kills', async () => {
  const failing = new FlappingTarget();
  await failing.open();
  await failing.turn('failing');
  await withRelay(SETTINGS, async (server, target) => {
    const { url: targetUrl } = failing;
    await make(server, '/api/outgoing-webhooks', { targetUrl, triggerEvent: 'order.*' });
    // It hears all, but never of its own failures.
    await make(server, '/api/outgoing-webhooks',
      { targetUrl, triggerEvents: ['*', 'delivery.failed'] });
    await make(server, '/api/outgoing-webhooks', {
      targetUrl: target.url, triggerEvent: 'delivery.failed', secret: 's',
      retrySchedule: Array(50).fill(0.3),
    });
    let next = 0;
    const offerUntil = async (bound: number): Promise<void> => {
      while (next < bound && server.isUp) {
        next += 1;
        await server.post('/api/events', { name: 'order.paid', payload: { n: next } });
      }
    };
    for (let life = 0; life <= KILLS; life += 1) {
      const bound = Math.round(EVENTS / (KILLS + 1) * (life + 1));
      const offering = Promise.all(Array.from({ length: CONNECTIONS }, () => offerUntil(bound)));
      if (life === KILLS) {
        await offering;
        continue;
      }
      await until('it is time to kill', () => next >= bound - 30, { msMax: DRAIN_MS_MAX });
      await server.stop('SIGKILL');
      await offering;
      await server.start();
    }
    const totals = await server.drain();
    const failed = await server.list<{ identifier: string; event: string }>(
      '/api/deliveries?status=failed');
    const own = failed.filter(({ event }) => event === 'delivery.failed');
    const others = failed.filter(({ event }) => event !== 'delivery.failed');
    assert.ok(others.length >= EVENTS, `${others.length} failed`);
    // Those of the one on all, one for each failure that was told.
    assert.equal(own.length, others.length);
    const told = new Map(target.arrived.map(({ id, body }) => {
      const { data: { delivery } } = JSON.parse(body) as Told;
      return [id, delivery.identifier];
    }));
    assert.deepEqual([...told.values()].sort(), others.map(({ identifier }) => identifier).sort());
    assert.deepEqual([totals['problems'], totals['pending'], totals['delivered']],
      [[], 0, others.length]);
    await server.stop('SIGTERM');
  }).finally(() => failing.close());
});
