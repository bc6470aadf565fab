/**
 * Real processes: a webhook with a `rate` gets no more attempts than that, though the server is
 * killed with -9 and started again at once, and nothing is lost.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '../support/until.ts';
import { make, withRelay } from './survivor.ts';

const EVENTS = 24;
const KILLS = 3;
const WINDOW_MS = 1000;
const LIMIT = 8;
/** The times at which requests arrive are those of their starts, and a little later each. */
const ARRIVAL_MS_MAX = 60;

test('a rate holds through kills, in order, and every event arrives', () =>
  withRelay({}, async (server, target) => {
    await make(server, '/api/outgoing-webhooks', {
      triggerEvent: 'thing.*', targetUrl: `${target.url}rated`, maxInFlight: 1,
      rate: { limit: LIMIT, seconds: WINDOW_MS / 1000 },
    });
    for (let n = 0; n < EVENTS; n += 1) {
      assert.equal(await server.post('/api/events', { name: 'thing.x', payload: n }), 202);
    }
    for (let kills = 1; kills <= KILLS; kills += 1) {
      await until('some have arrived', () => target.arrived.length >= kills * 3);
      await server.stop('SIGKILL');
      await server.start();
    }
    await until('all have arrived', () =>
      new Set(target.arrived.map(({ body }) => body)).size === EVENTS);
    const times = target.arrived.map(({ atMs }) => atMs);
    const most = Math.max(...times.map((beginMs) => times.filter((atMs) =>
      atMs >= beginMs && atMs < beginMs + WINDOW_MS - ARRIVAL_MS_MAX).length));
    assert.ok(most <= LIMIT, `${most} in a window: ${times.map((ms) => ms - (times[0] ?? 0))}`);
    const firsts = [...new Set(target.arrived.map(({ body }) => Number(body)))];
    assert.deepEqual(firsts, firsts.toSorted((left, right) => left - right));
    await server.stop('SIGTERM');
  }));
