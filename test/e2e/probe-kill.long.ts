/**
 * Real processes: a webhook that is off for failing, and probed, stays so through kill -9; events
 * queue for it, and all arrive once it is on.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '../support/until.ts';
import { ask } from './ask.ts';
import { withRelay } from './survivor.ts';
import { hookshelf } from './processes.ts';

/** A second. */
const HOURS = 1 / 3600;
const EVENTS = 10;

test('what queues for a probed webhook survives kills, and arrives when it goes on', () =>
  withRelay({}, async (server, target) => {
    const path = '/api/outgoing-webhooks/shop';
    const health = async (): Promise<Record<string, unknown>> =>
      (await server.get(path))['health'] as Record<string, unknown>;
    assert.equal(await server.post('/api/outgoing-webhooks', {
      name: 'shop', targetUrl: `${target.url}shop`, triggerEvent: 'thing.*', probe: true,
      disableAfterHours: HOURS, retrySchedule: new Array(100).fill(0.2), order: 'strict',
    }), 201);
    await target.turn('failing');
    const emit = async (n: number): Promise<void> =>
      assert.equal(await server.post('/api/events', { name: 'thing.x', payload: n }), 202);
    await emit(0);
    await until('it is probed', async () => (await health())['nextProbeAt'] !== undefined);
    const { nextProbeAt } = await health();
    for (let n = 1; n < EVENTS; n += 1) {
      await emit(n);
      if (n % 3 !== 0) continue;
      await server.stop('SIGKILL');
      await server.start();
    }
    assert.deepEqual([(await health())['nextProbeAt'], (await health())['state']],
      [nextProbeAt, 'off']);
    const listed = await hookshelf(['outgoingwebhook:list', '--server', server.url]);
    assert.match(listed.stdout, /^shop .* off \(probed\) /m);
    assert.equal((await server.get('/api/deliveries/reconcile'))['pending'], EVENTS);
    await target.turn('up');
    const reply = await ask(`${server.url}${path}`, {
      method: 'PATCH', body: { enabled: true },
      headers: { 'content-type': 'application/merge-patch+json' },
    });
    assert.equal(reply.status, 200, reply.text);
    await until('all have arrived', () => target.arrived.length === EVENTS);
    assert.deepEqual(target.arrived.map(({ body }) => Number(body)),
      Array.from({ length: EVENTS }, (_, n) => n));
    await server.stop('SIGTERM');
  }));
