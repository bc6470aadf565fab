/** Deliveries that hold much: what is done with many of them is done a few at a time. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ALL_OUTGOING } from '../../../src/webhooks/deliveries/delivery-fields.ts';
import { Simulation } from './sending/simulation.ts';

/** In JSON it takes six bytes for each. */
const RESPONSE = '\u0001'.repeat(1024);
const ATTEMPTS = 15;
const COUNT = 60;
/** Deliveries in one transaction, by their bytes. */
const CHANGED_MAX = 6;
const DAY_MS = 86_400_000;

/** So many deliveries that have failed often, or for good when there is no more schedule. */
async function withDeliveries(laterSchedule: readonly number[]): Promise<{
  readonly simulation: Simulation; readonly hook: string; readonly lines: () => number[];
}> {
  const retrySchedule = [...Array<number>(ATTEMPTS - 1).fill(1), ...laterSchedule];
  const simulation = new Simulation({ outgoing: { retrySchedule } });
  const hook = await simulation.addHook('target',
    {}, { kind: 'answer', status: 500, body: RESPONSE });
  for (let count = 0; count < COUNT; count += 1) await simulation.emit();
  await simulation.clock.advance(60_000);
  const before = simulation.store.lines.length;
  const lines = (): number[] => simulation.store.lines.slice(before).map((line) =>
    line.filter(({ collection }) => collection === 'deliveries').length);
  return { simulation, hook, lines };
}

function assertFew(lines: readonly number[]): void {
  assert.ok(Math.max(...lines) <= CHANGED_MAX, String(lines));
  assert.ok(lines.reduce((sum, count) => sum + count) >= COUNT, String(lines));
}

test('deliveries of a webhook that is removed are cancelled a few at a time', async () => {
  const { simulation, hook, lines } = await withDeliveries([3600]);
  await simulation.run(simulation.webhooks.resources.outgoing.remove(hook));
  assertFew(lines());
  assert.equal(simulation.webhooks.deliveries.totals().cancelled, COUNT);
});

test('deliveries of a target that is gone fail a few at a time', async () => {
  const { simulation, lines } = await withDeliveries([3600]);
  simulation.targets.set('target', { kind: 'answer', status: 410 });
  await simulation.clock.advance(3_900_000);
  assertFew(lines());
  assert.equal(simulation.webhooks.deliveries.totals().failed, COUNT);
});

test('what failed is tried again, and removed when it is old, a few at a time', async () => {
  const { simulation, lines } = await withDeliveries([]);
  assert.equal(simulation.webhooks.deliveries.totals().failed, COUNT);
  await simulation.run(simulation.webhooks.deliveries.retryFailed());
  assertFew(lines());
  await simulation.clock.advance(60_000);
  const seen = simulation.store.lines.length;
  // In one step: it looks every minute, a month's worth of which takes seconds here.
  simulation.clock.standStill(31 * DAY_MS);
  await simulation.clock.advance(0);
  for (let minute = 0; minute < 30; minute += 1) await simulation.clock.advance(60_000);
  assert.equal(simulation.webhooks.deliveries.totals().agedOut, COUNT);
  assertFew(simulation.store.lines.slice(seen).map((line) =>
    line.filter(({ collection }) => collection === 'deliveries').length));
});

test('a list gives others their turn between a few of them', async () => {
  const { simulation } = await withDeliveries([3600]);
  let turns = 0;
  let isDone = false;
  const count = (): void => {
    turns += 1;
    if (!isDone) setImmediate(count);
  };
  setImmediate(count);
  const { deliveries } = simulation.webhooks;
  const found = await deliveries.list(ALL_OUTGOING, null, COUNT);
  isDone = true;
  assert.equal(found.length, COUNT);
  assert.ok(turns > COUNT / CHANGED_MAX, String(turns));
});
