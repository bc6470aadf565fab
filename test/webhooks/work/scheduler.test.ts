import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Scheduler } from '../../../src/webhooks/work/scheduler.ts';
import type { RunningTask } from '../../../src/webhooks/work/task.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const QUEUE = { key: 'queue', target: 'host', mayStart: true };

function schedulerWith(
  clock: ManualClock,
): { readonly scheduler: Scheduler; readonly counted: { runnable: number } } {
  const scheduler = new Scheduler(clock, { runningMax: 8, runningPerQueueMax: 8 });
  const counted = { runnable: 0 };
  scheduler.start(() => {
    counted.runnable += 1;
  });
  return { scheduler, counted };
}

function started(scheduler: Scheduler): RunningTask {
  const running = scheduler.startNext();
  assert.ok(running !== null);
  return running;
}

test('tasks that are due at one time start in the order of places, however many', async () => {
  const clock = new ManualClock();
  const scheduler = new Scheduler(clock, { runningMax: 8, runningPerQueueMax: 8 });
  const startedIds: string[] = [];
  scheduler.start(() => setImmediate(() => {
    for (let running = scheduler.startNext(); running !== null; running = scheduler.startNext()) {
      startedIds.push(running.task.id);
      scheduler.release(running, null);
      scheduler.settle(running.task.id, null);
    }
  }));
  const ids = Array.from({ length: 2500 }, (_, index) => String(index).padStart(4, '0'));
  for (const id of ids) scheduler.add(id, QUEUE, clock.now() + 1000);
  await clock.advance(2000);
  assert.deepEqual(startedIds, ids);
});

/** Starts up to eight tasks of a queue of its own each. */
function startEight(scheduler: Scheduler, prefix: string): RunningTask[] {
  const runs: RunningTask[] = [];
  for (let index = 0; index < 8; index += 1) {
    const key = `${prefix}${index}`;
    scheduler.add(key, { key, target: key, mayStart: true }, 0);
    const running = scheduler.startNext();
    if (running !== null) runs.push(running);
  }
  return runs;
}

test('an attempt is slow that holds its place for a second, waits left out', async () => {
  for (const [durationsMs, runningCount] of [
    [[999], 20], [[1000], 8], [[600, 400], 8], [[500, 5000, 500], 20],
  ] as const) {
    const clock = new ManualClock();
    const scheduler = new Scheduler(clock, { runningMax: 64, runningPerQueueMax: 64 });
    for (let index = 10; index <= 30; index += 1) scheduler.add(`${index}`, QUEUE, 0);
    const attempt = started(scheduler);
    for (const durationMs of durationsMs) {
      scheduler.setParked(attempt, durationMs === 5000);
      await clock.advance(durationMs);
    }
    scheduler.release(attempt, 'answered');
    scheduler.settle(attempt.task.id, null);
    while (scheduler.startNext() !== null);
    assert.equal(scheduler.runningCount, runningCount, `${durationsMs}`);
  }
});

test('parked attempts leave their permits to other queues, and go on above the limit', () => {
  const { scheduler, counted } = schedulerWith(new ManualClock());
  // One of the eight permits is for those that are prompt.
  const waiting = startEight(scheduler, 'a');
  assert.equal(waiting.length, 7);
  const before = counted.runnable;
  for (const runningTask of waiting) scheduler.setParked(runningTask, true);
  assert.ok(counted.runnable > before);
  assert.equal(scheduler.runningCount, 0);
  const others = [started(scheduler)];
  assert.equal(scheduler.startNext(), null);
  for (const runningTask of waiting) scheduler.setParked(runningTask, false);
  assert.equal(scheduler.runningCount, 8);
  for (const runningTask of [...waiting, ...others]) scheduler.release(runningTask, null);
  assert.equal(scheduler.runningCount, 0);
  assert.equal(startEight(scheduler, 'b').length, 7);
});

test('an attempt that waits still counts in its queue', () => {
  const { scheduler } = schedulerWith(new ManualClock());
  for (const id of ['a', 'b']) scheduler.add(id, { ...QUEUE, runningMax: 1 }, 0);
  const first = started(scheduler);
  scheduler.setParked(first, true);
  assert.equal(scheduler.startNext(), null);
  scheduler.release(first, 'answered');
  scheduler.settle('a', null);
  assert.equal(started(scheduler).task.id, 'b');
});

test('an attempt that was released while it waited is counted no more', () => {
  const { scheduler } = schedulerWith(new ManualClock());
  scheduler.add('a', QUEUE, 0);
  const runningTask = started(scheduler);
  scheduler.setParked(runningTask, true);
  scheduler.setParked(runningTask, true);
  scheduler.release(runningTask, null);
  scheduler.setParked(runningTask, false);
  scheduler.setParked(runningTask, true);
  assert.equal(scheduler.runningCount, 0);
  assert.equal(runningTask.task.queue.parkedCount, 0);
});

test('does not start a task that was added anew while its attempt is under way', () => {
  const clock = new ManualClock();
  const { scheduler } = schedulerWith(clock);
  scheduler.add('a', QUEUE, 0);
  const runningTask = started(scheduler);
  scheduler.remove('a');
  scheduler.add('a', QUEUE, 0);
  assert.equal(scheduler.startNext(), null);
  scheduler.release(runningTask, 'answered');
  assert.equal(scheduler.startNext(), null);
  scheduler.settle('a', clock.now());
  assert.equal(started(scheduler).task.id, 'a');
});

/** A scheduler with a hundred tasks of one queue. */
function addMany(clock: ManualClock): Scheduler {
  const { scheduler } = schedulerWith(clock);
  for (let index = 0; index < 100; index += 1) {
    scheduler.add(`id-${String(index).padStart(3, '0')}`, QUEUE, 0);
  }
  return scheduler;
}

/** Has attempts fail until it is enough, or none may start. Returns how many there were. */
function failUntil(scheduler: Scheduler, isEnough: () => boolean): number {
  let attempts = 0;
  for (let next = scheduler.startNext(); next !== null; next = scheduler.startNext()) {
    scheduler.release(next, 'unreachable');
    scheduler.settle(next.task.id, null);
    attempts += 1;
    if (isEnough()) break;
  }
  return attempts;
}

test('starts no timer for what ends after it was closed', () => {
  const clock = new ManualClock();
  const openScheduler = addMany(clock);
  const failuresUntilPause = failUntil(openScheduler, () => clock.timerCount > 0);
  openScheduler.close();
  assert.equal(clock.timerCount, 0);
  const scheduler = addMany(clock);
  let failures = 0;
  failUntil(scheduler, () => (failures += 1) === failuresUntilPause - 1);
  const last = started(scheduler);
  scheduler.close();
  scheduler.release(last, 'unreachable');
  scheduler.settle(last.task.id, clock.now() + 1000);
  assert.equal(clock.timerCount, 0);
});
