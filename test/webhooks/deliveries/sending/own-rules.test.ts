/** What an outgoing webhook says for itself, in place of the settings. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DOWN, Simulation, UP } from './simulation.ts';

const HOUR_MS = 3_600_000;
const secret = 'a secret';

test('a webhook is tried by the schedule that it has at the time', async () => {
  const simulation = new Simulation();
  for (const host of ['own', 'common']) simulation.targets.set(host, DOWN);
  const own = await simulation.addHook('own', { secret, retrySchedule: [10, 0.5] });
  await simulation.addHook('common', { secret });
  const startMs = simulation.clock.now();
  const [first = '', other = ''] = await simulation.emit();
  await simulation.clock.advance(HOUR_MS);
  const waitsOf = (id: string): number[] =>
    simulation.requestsOf(id).map(({ atMs }) => atMs - startMs);
  assert.deepEqual(waitsOf(first), [0, 10_000, 10_500]);
  assert.deepEqual(waitsOf(other).slice(0, 3), [0, 5000, 305_000]);
  assert.equal(simulation.delivery(first)?.status, 'failed');
  await simulation.run(simulation.webhooks.resources.outgoing.patch(own, { retrySchedule: [] }));
  const [second = ''] = await simulation.emit();
  await simulation.clock.advance(1000);
  assert.equal(simulation.requestsOf(second).length, 1);
  assert.equal(simulation.delivery(second)?.status, 'failed');
});

test('a webhook has as many attempts under way as it says, also after a crash', async () => {
  const simulation = new Simulation({ outgoing: { maxInFlightPerHook: 3 } });
  const hook = await simulation.addHook('target', { secret, maxInFlight: 5 });
  // A host that is well may have as many as there are.
  await simulation.emit();
  await simulation.clock.advance(100);
  simulation.targets.set('target', { kind: 'hang' });
  for (let count = 0; count < 20; count += 1) await simulation.emit();
  assert.equal(simulation.underWay.length, 5);
  await simulation.run(simulation.webhooks.resources.outgoing.patch(hook, { maxInFlight: 7 }));
  assert.equal(simulation.underWay.length, 7);
  await simulation.run(simulation.webhooks.resources.outgoing.patch(hook, { maxInFlight: 1 }));
  await simulation.crash();
  await simulation.clock.advance(100);
  assert.equal(simulation.underWay.length, 1);
});

test('a webhook becomes strict while deliveries wait, and stays so through a crash', async () => {
  const simulation = new Simulation();
  const hook = await simulation.addHook('target', { secret }, DOWN);
  const ids: string[] = [];
  for (let count = 0; count < 5; count += 1) ids.push(...await simulation.emit());
  await simulation.clock.advance(1000);
  assert.equal(new Set(simulation.requests.map(({ id }) => id)).size, 5);
  await simulation.run(simulation.webhooks.resources.outgoing.patch(hook, { maxInFlight: 1 }));
  await simulation.clock.advance(HOUR_MS / 2);
  await simulation.crash();
  simulation.targets.set('target', UP);
  for (let count = 0; count < 5; count += 1) ids.push(...await simulation.emit());
  await simulation.clock.advance(10 * HOUR_MS);
  const arrived = simulation.requests.filter(({ result }) => result === 200);
  assert.deepEqual(arrived.map(({ id }) => id), ids);
});
