import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RunQueue } from '../../../src/webhooks/scheduler/run-queue.ts';
import type { RunningTask, TargetHealth, TaskQueue } from '../../../src/webhooks/scheduler/task.ts';
import { below, createRandom } from '../../support/random.ts';

function runQueueOf(runningMax: number, runningPerQueueMax: number): RunQueue {
  return new RunQueue({ runningMax, runningPerQueueMax });
}

function fill(run: RunQueue, queue: TaskQueue, prefix: string, count: number): void {
  for (let index = 0; index < count; index += 1) {
    run.makeReady(run.add(`${prefix}-${String(index).padStart(4, '0')}`, queue));
  }
}

function startAll(run: RunQueue): RunningTask[] {
  const running: RunningTask[] = [];
  for (let next = run.startNext(); next !== null; next = run.startNext()) running.push(next);
  return running;
}

function finish(run: RunQueue, attempt: RunningTask, health: TargetHealth | null): void {
  run.release(attempt, health);
  run.remove(attempt.task);
}

test('a queue starts in order of creation, whatever the order of readiness', () => {
  const run = runQueueOf(100, 3);
  const queue = run.getOrCreate('a', 'host', true);
  for (const id of ['c', 'a', 'b', 'd']) run.makeReady(run.add(id, queue));
  assert.deepEqual(startAll(run).map(({ task }) => task.id), ['a', 'b', 'c']);
});

test('queues take turns', () => {
  const run = runQueueOf(4, 8);
  fill(run, run.getOrCreate('a', 'one', true), 'a', 10);
  fill(run, run.getOrCreate('b', 'two', true), 'b', 10);
  const started = startAll(run).map(({ task }) => task.id);
  // Unknown hosts share half of all attempts.
  assert.deepEqual(started, ['a-0000', 'b-0000']);
});

test('in strict order nothing overtakes what waits for its next attempt', () => {
  const run = runQueueOf(10, 1);
  const queue = run.getOrCreate('a', 'host', true);
  fill(run, queue, 'a', 2);
  const [first] = startAll(run);
  assert.ok(first !== undefined);
  run.release(first, 'unreachable');
  first.task.state = 'waiting';
  assert.deepEqual(startAll(run), []);
  run.makeReady(first.task);
  assert.deepEqual(startAll(run).map(({ task }) => task.id), ['a-0000']);
});

test('a limit of its own holds for a queue in place of the common one', () => {
  const run = runQueueOf(100, 3);
  const queue = run.getOrCreate('a', 'host', true, 1);
  fill(run, queue, 'a', 10);
  const [first] = startAll(run);
  assert.ok(first !== undefined);
  assert.equal(queue.running, 1);
  finish(run, first, 'healthy');
  const tasksOf = (): never => assert.fail('asked for tasks without need');
  for (const [runningMax, running] of [[5, 5], [undefined, 5], [7, 7]] as const) {
    run.setRunningMax(queue, runningMax, tasksOf);
    startAll(run);
    assert.equal(queue.running, running);
  }
});

test('a queue that becomes strict lets nothing overtake what is there already', () => {
  const run = runQueueOf(10, 2);
  const queue = run.getOrCreate('a', 'host', true);
  fill(run, queue, 'a', 3);
  const [first, second] = startAll(run);
  assert.ok(first !== undefined && second !== undefined);
  const third = queue.ready.peek();
  assert.ok(third !== undefined);
  run.setRunningMax(queue, 1, () => [third, second.task, first.task]);
  run.release(first, 'unreachable');
  first.task.state = 'waiting';
  finish(run, second, 'healthy');
  assert.deepEqual(startAll(run), []);
  run.makeReady(first.task);
  assert.deepEqual(startAll(run).map(({ task }) => task.id), ['a-0000']);
  run.setRunningMax(queue, undefined, () => []);
  assert.deepEqual(startAll(run).map(({ task }) => task.id), ['a-0002']);
});

test('a closed queue holds what it has', () => {
  const run = runQueueOf(10, 8);
  const queue = run.getOrCreate('a', 'host', false);
  fill(run, queue, 'a', 2);
  assert.deepEqual(startAll(run), []);
  run.update(queue, 'host', true);
  assert.equal(startAll(run).length, 2);
});

test('a host gets as many attempts at once as its last one allows', () => {
  const run = runQueueOf(64, 64);
  fill(run, run.getOrCreate('a', 'host', true), 'a', 1000);
  const counts: number[] = [];
  for (const health of ['healthy', 'slow', 'unreachable', null, 'healthy'] as const) {
    const started = startAll(run);
    counts.push(started.length);
    for (const attempt of started) finish(run, attempt, health);
  }
  assert.deepEqual([...counts, startAll(run).length], [4, 64, 8, 1, 1, 64]);
});

test('a host that never answers is paused after many attempts, and then resumed', () => {
  const run = runQueueOf(64, 64);
  fill(run, run.getOrCreate('a', 'host', true), 'a', 100);
  let attempts = 0;
  for (let pauseMs = 0; pauseMs === 0; attempts += 1) {
    const attempt = run.startNext();
    assert.ok(attempt !== null);
    pauseMs = run.release(attempt, 'unreachable');
    run.remove(attempt.task);
    if (pauseMs === 0) continue;
    assert.equal(run.startNext(), null);
    run.resumeTarget(attempt.target);
    assert.equal(startAll(run).length, 1);
  }
  assert.equal(attempts, 33);
});

test('what is held starts nothing, though it is opened anew', () => {
  const run = runQueueOf(64, 64);
  run.suspend('a');
  fill(run, run.getOrCreate('a', 'host', true), 'a', 3);
  assert.deepEqual(startAll(run), []);
  run.resume('a');
  assert.equal(startAll(run).length, 3);
});

test('a slow host keeps a few attempts at once', () => {
  const run = runQueueOf(64, 64);
  fill(run, run.getOrCreate('a', 'host', true), 'a', 1000);
  for (let round = 0; round < 10; round += 1) {
    for (const attempt of startAll(run)) finish(run, attempt, 'slow');
  }
  assert.equal(startAll(run).length, 8);
});

test('dead hosts, however many, leave room for one that is well', () => {
  const run = runQueueOf(16, 8);
  const healthy = run.getOrCreate('healthy', 'healthy', true);
  fill(run, healthy, 'w', 1);
  for (const attempt of startAll(run)) finish(run, attempt, 'healthy');
  for (let host = 0; host < 100; host += 1) {
    fill(run, run.getOrCreate(`dead-${host}`, `dead-${host}`, true), `d${host}`, 20);
  }
  const stuck = startAll(run);
  assert.equal(stuck.length, 8);
  fill(run, run.getOrCreate('healthy', 'healthy', true), 'x', 100);
  for (let round = 0; round < 4; round += 1) {
    const started = startAll(run);
    assert.ok(started.length >= 4 && started.every(({ target }) => target.key === 'healthy'));
    for (const attempt of started) finish(run, attempt, 'healthy');
  }
});

test('whatever happens, bounds hold and nothing that is ready is forgotten', () => {
  const random = createRandom(11);
  const run = runQueueOf(10, 3);
  let running: RunningTask[] = [];
  let added = 0;
  let finishedCount = 0;
  for (let step = 0; step < 20_000; step += 1) {
    const choice = below(random, 4);
    if (choice === 0 && added < 4000) {
      const key = below(random, 12);
      const queue = run.getOrCreate(`queue-${key}`, `host-${key % 5}`, true);
      run.makeReady(run.add(String(added).padStart(6, '0'), queue));
      added += 1;
    } else if (choice === 1 && running.length > 0) {
      const [attempt] = running.splice(below(random, running.length), 1);
      assert.ok(attempt !== undefined);
      finish(run, attempt, (['healthy', 'unreachable', 'slow'] as const)[below(random, 4)] ?? null);
      finishedCount += 1;
    } else {
      running = [...running, ...startAll(run)];
    }
    assert.ok(run.running === running.length && running.length <= 10);
  }
  while (finishedCount < added) {
    running = [...running, ...startAll(run)];
    assert.ok(running.length > 0, `${added - finishedCount} were forgotten`);
    for (const attempt of running) finish(run, attempt, 'healthy');
    finishedCount += running.length;
    running = [];
  }
  assert.equal(run.running, 0);
});
