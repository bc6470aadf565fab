import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DOWN, Simulation, UP } from '../deliveries/sending/simulation.ts';

const DAY_MS = 86_400_000;
const secret = 's';

async function downOnce(): Promise<{ readonly simulation: Simulation; readonly id: string }> {
  const simulation = new Simulation();
  await simulation.addHook('target', { secret }, DOWN);
  const [id = ''] = await simulation.emit();
  await simulation.clock.advance(1000);
  simulation.targets.set('target', UP);
  return { simulation, id };
}

test('a clock that is set back does not lengthen a wait under way', async () => {
  const { simulation, id } = await downOnce();
  simulation.clock.setBack(DAY_MS);
  await simulation.clock.advance(10_000);
  assert.equal(simulation.delivery(id)?.status, 'delivered');
});

test('a clock that is set back does not shorten the waits that begin then', async () => {
  const { simulation } = await downOnce();
  simulation.clock.setBack(DAY_MS);
  simulation.targets.set('target', { kind: 'answer', status: 503, retryAfter: '600' });
  const [id = ''] = await simulation.emit();
  const counts: number[] = [];
  for (const durationMs of [1000, 598_000, 2000]) {
    await simulation.clock.advance(durationMs);
    counts.push(simulation.requestsOf(id).length);
  }
  assert.deepEqual(counts, [1, 1, 2]);
});

test('a clock that goes ahead and is put right moves no wait', async () => {
  const HOUR_MS = 3_600_000;
  const simulation = new Simulation();
  await simulation.addHook('target',
    { secret }, { kind: 'answer', status: 503, retryAfter: '36000' });
  const [id = ''] = await simulation.emit();
  const counts: number[] = [];
  for (const [setBackMs, durationMs] of [
    [0, 1000], [-HOUR_MS, 120_000], [HOUR_MS, 10 * HOUR_MS - 180_000], [0, 120_000],
  ] as const) {
    simulation.clock.setBack(setBackMs);
    await simulation.clock.advance(durationMs);
    counts.push(simulation.requestsOf(id).length);
  }
  assert.deepEqual(counts, [1, 1, 1, 2]);
});

test('a start with the clock set back waits as long as was to be waited', async () => {
  const { simulation, id } = await downOnce();
  simulation.clock.setBack(DAY_MS);
  await simulation.crash();
  await simulation.clock.advance(4000);
  assert.equal(simulation.requestsOf(id).length, 1);
  await simulation.clock.advance(2000);
  assert.equal(simulation.delivery(id)?.status, 'delivered');
});

test('a start with the clock set back tries at once what was never tried', async () => {
  const simulation = new Simulation();
  await simulation.addHook('target', { secret }, { kind: 'hang' });
  const [id = ''] = await simulation.emit();
  simulation.clock.setBack(DAY_MS);
  simulation.targets.set('target', UP);
  await simulation.crash();
  await simulation.clock.advance(1000);
  assert.equal(simulation.delivery(id)?.status, 'delivered');
});

test('with the clock set back a proxy that fails is left alone as long as ever', async () => {
  const { simulation, id } = await downOnce();
  simulation.targets.set('target', { kind: 'proxy' });
  simulation.clock.setBack(DAY_MS);
  await simulation.crash();
  await simulation.clock.advance(60_000);
  const { length } = simulation.requestsOf(id);
  assert.ok(length > 1 && length < 8, String(length));
});
