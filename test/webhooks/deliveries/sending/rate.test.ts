/** A webhook with a `rate` starts no more attempts than that, through retries and restarts. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ActionResult } from '../../../../src/webhooks/actions/action.ts';
import { createActionClass } from '../../context.ts';
import { ScriptedOwnership } from '../../work/scripted-ownership.ts';
import { DOWN, Simulation, UP } from './simulation.ts';

const secret = 'a secret';
const TWO_A_SECOND = { secret, rate: { limit: 2, seconds: 1 } };

/** Milliseconds between the requests at a host. */
function gapsOf({ requests }: Simulation, host: string): number[] {
  const times = requests.filter((request) => request.host === host).map(({ atMs }) => atMs);
  return times.slice(1).map((atMs, index) => atMs - (times[index] ?? 0));
}

async function emitMany(simulation: Simulation, count: number): Promise<string[]> {
  const ids: string[] = [];
  for (let index = 0; index < count; index += 1) {
    ids.push(...await simulation.emit({ key: index % 3 }));
  }
  return ids;
}

test('attempts start evenly spread and in order; another webhook does not wait', async () => {
  const simulation = new Simulation();
  await simulation.addHook('slow', TWO_A_SECOND);
  await simulation.addHook('fast', { secret });
  const ids = await emitMany(simulation, 10);
  await simulation.clock.advance(10_000);
  assert.deepEqual(gapsOf(simulation, 'slow'), new Array(9).fill(500));
  const slow = simulation.requests.filter(({ host }) => host === 'slow').map(({ id }) => id);
  assert.deepEqual(slow, ids.filter((id) => slow.includes(id)));
  assert.ok(gapsOf(simulation, 'fast').every((ms) => ms < 100));
});

test('each key keeps its order, and all of them together the rate', async () => {
  const simulation = new Simulation();
  await simulation.addHook('slow', { ...TWO_A_SECOND, order: { key: 'payload.key' } }, DOWN);
  const ids = await emitMany(simulation, 9);
  await simulation.clock.advance(3000);
  simulation.targets.set('slow', UP);
  await simulation.clock.advance(3_600_000);
  assert.ok(gapsOf(simulation, 'slow').every((ms) => ms >= 500));
  const delivered = simulation.requests.filter(({ result }) => result === 200).map(({ id }) => id);
  assert.equal(delivered.length, 9);
  for (const key of [0, 1, 2]) {
    const ofKey = ids.filter((_, index) => index % 3 === key);
    assert.deepEqual(delivered.filter((id) => ofKey.includes(id)), ofKey);
  }
});

test('a strict order waits for retries of its first, which keep the rate', async () => {
  const simulation = new Simulation();
  await simulation.addHook('slow',
    { ...TWO_A_SECOND, order: 'strict', retrySchedule: [0.1, 0.1, 0.1, 0.1] }, DOWN);
  const ids = await emitMany(simulation, 4);
  await simulation.clock.advance(1200);
  simulation.targets.set('slow', UP);
  await simulation.clock.advance(60_000);
  const attempted = simulation.requests.map(({ id }) => id);
  assert.deepEqual(attempted, [ids[0], ids[0], ids[0], ...ids]);
  assert.ok(gapsOf(simulation, 'slow').every((ms) => ms >= 500));
});

test('retries count, too', async () => {
  const simulation = new Simulation();
  await simulation.addHook('slow', { ...TWO_A_SECOND, retrySchedule: [0, 0, 0] }, DOWN);
  await emitMany(simulation, 3);
  await simulation.clock.advance(60_000);
  assert.equal(gapsOf(simulation, 'slow').length, 11);
  assert.ok(gapsOf(simulation, 'slow').every((ms) => ms >= 500));
});

test('a crash makes no burst, whenever it comes', async () => {
  const simulation = new Simulation();
  await simulation.addHook('slow', TWO_A_SECOND);
  await emitMany(simulation, 40);
  for (const waitMs of [0, 10, 30, 490, 510, 700, 3, 900]) {
    await simulation.clock.advance(waitMs);
    await simulation.crash();
  }
  await simulation.clock.advance(30_000);
  assert.ok(gapsOf(simulation, 'slow').every((ms) => ms >= 500), `${gapsOf(simulation, 'slow')}`);
  assert.equal(new Set(simulation.requests.map(({ id }) => id)).size, 40);
});

test('one an hour stays one an hour where a process ends every few minutes', async () => {
  const simulation = new Simulation();
  await simulation.addHook('slow', { secret, rate: { limit: 1, seconds: 3600 } });
  await emitMany(simulation, 5);
  for (let crashes = 0; crashes < 35; crashes += 1) {
    await simulation.clock.advance(7 * 60_000);
    await simulation.crash();
  }
  assert.deepEqual(gapsOf(simulation, 'slow'), new Array(4).fill(3_600_000));
});

test('a crash a moment after an attempt forgets nothing of it', async () => {
  const simulation = new Simulation();
  await simulation.addHook('slow', { secret, rate: { limit: 1, seconds: 3600 } });
  await emitMany(simulation, 3);
  await simulation.clock.advance(1000);
  await simulation.crash();
  await simulation.clock.advance(2 * 3_600_000 + 1000);
  assert.deepEqual(gapsOf(simulation, 'slow'), [3_600_000, 3_600_000]);
});

test('a rate holds from the change on, and is taken away at once', async () => {
  const simulation = new Simulation();
  const hook = await simulation.addHook('slow', { secret, rate: { limit: 1, seconds: 3600 } });
  const ids = await emitMany(simulation, 10);
  await simulation.clock.advance(1000);
  assert.equal(simulation.requests.length, 1);
  const describeWaits = (): readonly (readonly unknown[])[] => ids.map((id) => {
    const { deliveries } = simulation.webhooks;
    const delivery = deliveries.find(id);
    assert.ok(delivery !== undefined);
    const { waitsFor, nextAttemptAt } = deliveries.toPublic(delivery);
    return [waitsFor, nextAttemptAt === null ? null : Date.parse(nextAttemptAt)];
  });
  const nextMs = (simulation.requests[0]?.atMs ?? 0) + 3_600_000;
  assert.deepEqual(describeWaits(), [[null, null], ...new Array(9).fill(['rate', nextMs])]);
  const patch = (rate: object | null): Promise<unknown> =>
    simulation.run(simulation.webhooks.resources.outgoing.patch(hook, { rate }));
  await patch({ limit: 1, seconds: 10 });
  await simulation.clock.advance(8999);
  assert.equal(simulation.requests.length, 1);
  await simulation.clock.advance(1);
  assert.equal(simulation.requests.length, 2);
  await simulation.run(simulation.webhooks.resources.outgoing.patch(hook, { enabled: false }));
  assert.deepEqual(describeWaits().at(-1)?.[0], 'webhook');
  await simulation.run(simulation.webhooks.resources.outgoing.patch(hook, { enabled: true }));
  await patch(null);
  assert.deepEqual(describeWaits().at(-1)?.[0], null);
  await simulation.clock.advance(100);
  assert.equal(simulation.requests.length, 10);
});

type StalledPlace = {
  readonly simulation: Simulation; readonly hook: string;
  /** Each lets one body be made, or fail. */
  readonly waiting: readonly ((failure?: string) => void)[];
};

/** A webhook whose bodies are made when the test says so. */
async function placeStalled(members: object): Promise<StalledPlace> {
  const waiting: ((failure?: string) => void)[] = [];
  const Stalls = createActionClass('stalls', (payload: object) =>
    new Promise((resolve) => waiting.push((failure) =>
      resolve(failure === undefined ? ActionResult.ok(payload) : ActionResult.fail(failure)))));
  const simulation = new Simulation({ actions: [Stalls] });
  await simulation.run(simulation.webhooks.resources.configurations.add(
    { identifier: 'stall', actionType: 'stalls' }));
  const hook = await simulation.addHook('slow', { ...members, actionConfiguration: 'stall' });
  return { simulation, hook, waiting };
}

/** Four requests that are made, of which the first has left, and three wait for their turns. */
async function placeWaiting(members: object = {}): Promise<StalledPlace & { ids: string[] }> {
  const place = await placeStalled({ secret, rate: { limit: 8, seconds: 1 }, ...members });
  const { simulation, waiting } = place;
  const ids = await emitMany(simulation, 4);
  await simulation.clock.advance(1200);
  assert.equal(waiting.length, 4);
  for (const end of waiting) end();
  await simulation.clock.advance(1);
  assert.equal(simulation.requests.length, 1);
  return { ...place, ids };
}

test('requests that wait for their turn wait by the new rate', async () => {
  const { simulation, hook } = await placeWaiting();
  const patch = (rate: object | null): Promise<unknown> =>
    simulation.run(simulation.webhooks.resources.outgoing.patch(hook, { rate }));
  await patch({ limit: 1, seconds: 3600 });
  await simulation.clock.advance(3_000_000);
  assert.equal(simulation.requests.length, 1);
  await simulation.clock.advance(601_000);
  assert.equal(simulation.requests.length, 2);
  await patch({ limit: 1, seconds: 10 });
  await simulation.clock.advance(10_000);
  assert.equal(simulation.requests.length, 3);
  await patch(null);
  await simulation.clock.advance(1);
  assert.equal(simulation.requests.length, 4);
});

test('requests that wait for their turn count as waiting, and end when all closes', async () => {
  const { simulation, hook, ids } = await placeWaiting();
  await simulation.run(simulation.webhooks.resources.outgoing.patch(
    hook, { rate: { limit: 1, seconds: 3600 } }));
  await simulation.clock.advance(30);
  assert.equal(simulation.webhooks.statistics().inFlight, 0);
  const closing = simulation.webhooks.close(30_000).then(() => true);
  await simulation.clock.advance(1);
  assert.equal(await Promise.race([closing, false]), true);
  assert.equal(simulation.requests.length, 1);
  assert.equal(ids.filter((id) => simulation.delivery(id)?.status === 'pending').length, 3);
});

test('a request that is made while all closes waits for no turn', async () => {
  const { simulation, waiting } = await placeStalled(TWO_A_SECOND);
  await emitMany(simulation, 2);
  await simulation.clock.advance(1000);
  const closing = simulation.webhooks.close(30_000).then(() => true);
  for (const end of waiting) end();
  await simulation.clock.advance(100);
  assert.deepEqual([waiting.length, await Promise.race([closing, false])], [2, true]);
});

test('a delivery that is cancelled while it waits takes no turn of others', async () => {
  const { simulation, ids } = await placeWaiting();
  for (const id of ids.slice(1, 3)) {
    await simulation.run(simulation.webhooks.deliveries.cancel(id));
  }
  await simulation.clock.advance(130);
  assert.deepEqual(simulation.requests.map(({ id }) => id), [ids[0], ids[3]]);
});

test('requests whose bodies are made at one moment leave one by one, or not at all', async () => {
  const { simulation, waiting } = await placeStalled(TWO_A_SECOND);
  const ids = await emitMany(simulation, 4);
  await simulation.clock.advance(1900);
  assert.deepEqual([waiting.length, simulation.requests.length], [4, 0]);
  for (const end of waiting) end();
  await simulation.clock.advance(10);
  assert.equal(simulation.requests.length, 1);
  await simulation.run(simulation.webhooks.deliveries.cancel(ids[1] ?? ''));
  await simulation.clock.advance(5000);
  assert.deepEqual(simulation.requests.map(({ id }) => id), [ids[0], ids[2], ids[3]]);
  assert.ok(gapsOf(simulation, 'slow').every((ms) => ms >= 500));
});

test('the next body is made while a request keeps the rate, in strict order too', async () => {
  const { simulation, waiting } = await placeStalled({ ...TWO_A_SECOND, order: 'strict' });
  await emitMany(simulation, 3);
  await simulation.clock.advance(600);
  for (const [index, end] of [() => waiting[0]?.(), () => waiting[1]?.()].entries()) {
    assert.deepEqual([waiting.length, simulation.requests.length], [index + 1, index]);
    end();
    await simulation.clock.advance(500);
  }
  assert.deepEqual([waiting.length, gapsOf(simulation, 'slow')], [3, [500]]);
});

test('bodies that take longer than the interval keep no webhook below its rate', async () => {
  const { simulation, waiting } = await placeStalled({ secret, rate: { limit: 10, seconds: 1 } });
  await simulation.emitMany(100);
  const begunCounts: number[] = [];
  let endedCount = 0;
  for (let step = 0; step < 40; step += 1) {
    await simulation.clock.advance(100);
    begunCounts.push(waiting.length);
    const begunBefore = begunCounts.at(-3) ?? 0;
    for (; endedCount < begunBefore; endedCount += 1) waiting[endedCount]?.();
  }
  assert.deepEqual(gapsOf(simulation, 'slow').slice(-30), new Array(30).fill(100));
  const aheadCount = waiting.length - simulation.requests.length;
  assert.ok(aheadCount <= 8, `${aheadCount} bodies were begun ahead`);
});

test('a rate that comes while bodies are made holds for their requests', async () => {
  const { simulation, hook, waiting } = await placeStalled({ secret });
  await emitMany(simulation, 4);
  await simulation.run(simulation.webhooks.resources.outgoing.patch(
    hook, { rate: { limit: 2, seconds: 1 } }));
  for (const end of waiting) end();
  await simulation.clock.advance(3000);
  assert.deepEqual([waiting.length, gapsOf(simulation, 'slow')], [4, [500, 500, 500]]);
});

test('an attempt whose body cannot be made takes no turn', async () => {
  const { simulation, waiting } = await placeStalled(TWO_A_SECOND);
  const ids = await emitMany(simulation, 4);
  await simulation.clock.advance(600);
  for (const [index, end] of waiting.entries()) end(index % 2 === 0 ? 'not today' : undefined);
  await simulation.clock.advance(1200);
  assert.deepEqual(simulation.requests.map(({ id }) => id), [ids[1], ids[3]]);
  assert.deepEqual(gapsOf(simulation, 'slow'), [500]);
});

test('a queue that comes from another node begins an interval later', async () => {
  const ownership = new ScriptedOwnership();
  const simulation = new Simulation({ ownership });
  const hook = await simulation.addHook('slow', TWO_A_SECOND);
  await emitMany(simulation, 4);
  ownership.gain(hook);
  await simulation.clock.advance(499);
  assert.equal(simulation.requests.length, 0);
  await simulation.clock.advance(600);
  assert.equal(simulation.requests.length, 2);
  ownership.lose(hook);
  await simulation.clock.advance(400);
  ownership.gain(hook);
  await simulation.clock.advance(499);
  assert.equal(simulation.requests.length, 2);
  await simulation.clock.advance(1);
  assert.equal(simulation.requests.length, 3);
});
