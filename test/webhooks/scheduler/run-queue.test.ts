import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RunQueue } from '../../../src/webhooks/scheduler/run-queue.ts';
import type { Slot, TaskQueue, Verdict } from '../../../src/webhooks/scheduler/task.ts';
import { below, createRandom } from '../../support/random.ts';

function runQueueOf(runningMax: number, runningPerQueueMax: number): RunQueue {
  return new RunQueue({ runningMax, runningPerQueueMax });
}

function fill(run: RunQueue, queue: TaskQueue, prefix: string, count: number): void {
  for (let index = 0; index < count; index += 1) {
    run.makeReady(run.add(`${prefix}-${String(index).padStart(4, '0')}`, queue));
  }
}

function startAll(run: RunQueue): Slot[] {
  const slots: Slot[] = [];
  for (let next = run.next(); next !== null; next = run.next()) slots.push(next);
  return slots;
}

function finish(run: RunQueue, slot: Slot, verdict: Verdict | null): void {
  run.release(slot, verdict);
  run.remove(slot.task);
}

test('a queue starts in order of creation, whatever the order of readiness', () => {
  const run = runQueueOf(100, 3);
  const queue = run.open('a', 'host', true);
  for (const id of ['c', 'a', 'b', 'd']) run.makeReady(run.add(id, queue));
  assert.deepEqual(startAll(run).map(({ task }) => task.id), ['a', 'b', 'c']);
});

test('queues take turns', () => {
  const run = runQueueOf(4, 8);
  fill(run, run.open('a', 'one', true), 'a', 10);
  fill(run, run.open('b', 'two', true), 'b', 10);
  const started = startAll(run).map(({ task }) => task.id);
  // Unknown hosts share half of all attempts.
  assert.deepEqual(started, ['a-0000', 'b-0000']);
});

test('in strict order nothing overtakes what waits for its next attempt', () => {
  const run = runQueueOf(10, 1);
  const queue = run.open('a', 'host', true);
  fill(run, queue, 'a', 2);
  const [first] = startAll(run);
  assert.ok(first !== undefined);
  run.release(first, 'dead');
  first.task.state = 'waiting';
  assert.deepEqual(startAll(run), []);
  run.makeReady(first.task);
  assert.deepEqual(startAll(run).map(({ task }) => task.id), ['a-0000']);
});

test('a limit of its own holds for a queue in place of the common one', () => {
  const run = runQueueOf(100, 3);
  const queue = run.open('a', 'host', true, 1);
  fill(run, queue, 'a', 10);
  const [first] = startAll(run);
  assert.ok(first !== undefined);
  assert.equal(queue.running, 1);
  finish(run, first, 'well');
  const tasksOf = (): never => assert.fail('asked for tasks without need');
  for (const [runningMax, running] of [[5, 5], [undefined, 5], [7, 7]] as const) {
    run.limit(queue, runningMax, tasksOf);
    startAll(run);
    assert.equal(queue.running, running);
  }
});

test('a queue that becomes strict lets nothing overtake what is there already', () => {
  const run = runQueueOf(10, 2);
  const queue = run.open('a', 'host', true);
  fill(run, queue, 'a', 3);
  const [first, second] = startAll(run);
  assert.ok(first !== undefined && second !== undefined);
  const third = queue.ready.peek();
  assert.ok(third !== undefined);
  run.limit(queue, 1, () => [third, second.task, first.task]);
  run.release(first, 'dead');
  first.task.state = 'waiting';
  finish(run, second, 'well');
  assert.deepEqual(startAll(run), []);
  run.makeReady(first.task);
  assert.deepEqual(startAll(run).map(({ task }) => task.id), ['a-0000']);
  run.limit(queue, undefined, () => []);
  assert.deepEqual(startAll(run).map(({ task }) => task.id), ['a-0002']);
});

test('a closed queue holds what it has', () => {
  const run = runQueueOf(10, 8);
  const queue = run.open('a', 'host', false);
  fill(run, queue, 'a', 2);
  assert.deepEqual(startAll(run), []);
  run.update(queue, 'host', true);
  assert.equal(startAll(run).length, 2);
});

test('a host gets as many attempts at once as its last one allows', () => {
  const run = runQueueOf(64, 64);
  fill(run, run.open('a', 'host', true), 'a', 1000);
  const counts: number[] = [];
  for (const verdict of ['well', 'slow', 'dead', null, 'well'] as const) {
    const started = startAll(run);
    counts.push(started.length);
    for (const slot of started) finish(run, slot, verdict);
  }
  assert.deepEqual([...counts, startAll(run).length], [4, 64, 8, 1, 1, 64]);
});

test('a host that never answers is paused after many attempts, and then resumed', () => {
  const run = runQueueOf(64, 64);
  fill(run, run.open('a', 'host', true), 'a', 100);
  let attempts = 0;
  for (let pauseMs = 0; pauseMs === 0; attempts += 1) {
    const slot = run.next();
    assert.ok(slot !== null);
    pauseMs = run.release(slot, 'dead');
    run.remove(slot.task);
    if (pauseMs === 0) continue;
    assert.equal(run.next(), null);
    run.resume(slot.host);
    assert.equal(startAll(run).length, 1);
  }
  assert.equal(attempts, 33);
});

test('what is held starts nothing, though it is opened anew', () => {
  const run = runQueueOf(64, 64);
  run.hold('a');
  fill(run, run.open('a', 'host', true), 'a', 3);
  assert.deepEqual(startAll(run), []);
  run.unhold('a');
  assert.equal(startAll(run).length, 3);
});

test('a slow host keeps a few attempts at once', () => {
  const run = runQueueOf(64, 64);
  fill(run, run.open('a', 'host', true), 'a', 1000);
  for (let round = 0; round < 10; round += 1) {
    for (const slot of startAll(run)) finish(run, slot, 'slow');
  }
  assert.equal(startAll(run).length, 8);
});

test('dead hosts, however many, leave room for one that is well', () => {
  const run = runQueueOf(16, 8);
  const well = run.open('well', 'well', true);
  fill(run, well, 'w', 1);
  for (const slot of startAll(run)) finish(run, slot, 'well');
  for (let host = 0; host < 100; host += 1) {
    fill(run, run.open(`dead-${host}`, `dead-${host}`, true), `d${host}`, 20);
  }
  const stuck = startAll(run);
  assert.equal(stuck.length, 8);
  fill(run, run.open('well', 'well', true), 'x', 100);
  for (let round = 0; round < 4; round += 1) {
    const started = startAll(run);
    assert.ok(started.length >= 4 && started.every(({ host }) => host.name === 'well'));
    for (const slot of started) finish(run, slot, 'well');
  }
});

test('whatever happens, bounds hold and nothing that is ready is forgotten', () => {
  const random = createRandom(11);
  const run = runQueueOf(10, 3);
  let running: Slot[] = [];
  let added = 0;
  let finishedCount = 0;
  for (let step = 0; step < 20_000; step += 1) {
    const choice = below(random, 4);
    if (choice === 0 && added < 4000) {
      const key = below(random, 12);
      const queue = run.open(`queue-${key}`, `host-${key % 5}`, true);
      run.makeReady(run.add(String(added).padStart(6, '0'), queue));
      added += 1;
    } else if (choice === 1 && running.length > 0) {
      const [slot] = running.splice(below(random, running.length), 1);
      assert.ok(slot !== undefined);
      finish(run, slot, (['well', 'dead', 'slow'] as const)[below(random, 4)] ?? null);
      finishedCount += 1;
    } else {
      running = [...running, ...startAll(run)];
    }
    assert.ok(run.running === running.length && running.length <= 10);
  }
  while (finishedCount < added) {
    running = [...running, ...startAll(run)];
    assert.ok(running.length > 0, `${added - finishedCount} were forgotten`);
    for (const slot of running) finish(run, slot, 'well');
    finishedCount += running.length;
    running = [];
  }
  assert.equal(run.running, 0);
});
