import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { PauseDetector } from '../../../src/store/replication/pause-detector.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { openSharedStore } from '../../support/open-shared-store.ts';
import { SimulatedEngine } from '../../support/simulated-engine.ts';

const TICK_MS = 250;

let clock: ManualClock;
let standstill: PauseDetector;
/** The catch-ups that were begun; each is ended by the test. */
let begun: { readonly end: () => void; readonly fail: () => void }[];

let heardMs: number;

beforeEach(() => {
  clock = new ManualClock();
  begun = [];
  heardMs = 0;
  standstill = new PauseDetector({
    clock, heardMs: () => heardMs,
    catchUp: () => new Promise((resolve, reject) => void begun.push({
      end: resolve, fail: () => reject(new Error('the engine is away')),
    })),
  });
});

/** Null: one may read at once. */
const wait = (): Promise<void> | null =>
  standstill.isBehind(clock.monotonicMs()) ? standstill.waitUntilCaughtUp() : null;

/** Time passes, in which the process runs. */
async function pass(durationMs: number): Promise<void> {
  for (let leftMs = durationMs; leftMs > 0; leftMs -= TICK_MS) {
    await clock.advance(Math.min(leftMs, TICK_MS));
    standstill.tick();
  }
}

/** Whether it has resolved, once all is done that needs no more time. */
async function isOver(waiting: Promise<void> | null): Promise<boolean> {
  assert.ok(waiting !== null);
  let isSo = false;
  void waiting.then(() => void (isSo = true));
  await clock.advance(0);
  return isSo;
}

test('a process that runs lets everybody read at once', () => {
  for (let tick = 0; tick < 20; tick += 1) {
    // Each second one is late by nearly a whole one.
    clock.standStill(tick % 2 === 0 ? TICK_MS : 2 * TICK_MS - 1);
    assert.equal(wait(), null);
    standstill.tick();
  }
  assert.equal(begun.length, 0);
});

test('who reads first after a standstill waits, with all others, for one catch-up', async () => {
  clock.standStill(30_000);
  const [first, second] = [wait(), wait()];
  standstill.tick();
  assert.equal(begun.length, 1);
  assert.equal(await isOver(first), false);
  begun[0]?.end();
  assert.ok(await isOver(first) && await isOver(second));
  assert.equal(wait(), null);
});

test('a standstill is noticed while nobody reads', async () => {
  clock.standStill(30_000);
  standstill.tick();
  assert.equal(begun.length, 1);
  assert.equal(await isOver(wait()), false);
});

test('with the engine away reads go on: at once when that is known, else after 5 s', async () => {
  clock.standStill(30_000);
  const known = wait();
  begun[0]?.fail();
  assert.ok(await isOver(known));
  assert.equal(wait(), null);
  clock.standStill(30_000);
  const early = wait();
  assert.ok(early !== null);
  const refused = assert.rejects(early, { code: 'unavailable' });
  await pass(3000);
  await refused;
  const late = wait();
  await pass(1999);
  assert.equal(await isOver(late), false);
  await pass(1);
  assert.ok(await isOver(late));
  assert.equal(wait(), null);
});

test('whoever waits for more than 2 s while the engine answers is told to come again', async () => {
  clock.standStill(30_000);
  const waiting = wait();
  assert.ok(waiting !== null);
  const refused = assert.rejects(waiting, { code: 'unavailable' });
  await pass(2000);
  await refused;
  await pass(2000);
  heardMs = clock.monotonicMs();
  const second = wait();
  assert.ok(second !== null);
  const again = assert.rejects(second, { code: 'unavailable' });
  await pass(2000);
  await again;
  const later = wait();
  begun.at(-1)?.end();
  assert.ok(await isOver(later));
  assert.equal(wait(), null);
});

test('what was caught up with before the last standstill is not enough', async () => {
  clock.standStill(1000);
  const before = wait();
  clock.standStill(1000);
  const after = wait();
  begun[0]?.end();
  assert.ok(await isOver(before));
  assert.equal(await isOver(after), false);
  assert.notEqual(wait(), null);
  begun[1]?.end();
  assert.ok(await isOver(after));
  assert.equal(wait(), null);
});

test('a node that stood still asks the engine before anybody reads there', async () => {
  const engine = new SimulatedEngine();
  const store = await openSharedStore(engine, { clock });
  await clock.advance(5 * TICK_MS);
  const { replica } = store;
  assert.ok(replica !== null);
  const barriers = (): number => engine.calls.filter((call) => call === 'barrier').length;
  const before = barriers();
  assert.equal(replica.isBehindSincePause(clock.monotonicMs()), false);
  clock.standStill(5000);
  assert.ok(replica.isBehindSincePause(clock.monotonicMs()));
  assert.ok(await isOver(replica.waitAfterPause()));
  assert.equal(barriers(), before + 1);
  await store.close();
});
