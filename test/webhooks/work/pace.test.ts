import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Pace, type StartLimit } from '../../../src/webhooks/work/pace.ts';
import { Scheduler } from '../../../src/webhooks/work/scheduler.ts';
import { ManualClock } from '../../support/manual-clock.ts';

/** The times at which attempts start that never cease to wait, by timers of whole milliseconds. */
function startTimes(startLimit: StartLimit, untilMs: number, latenessMs = 0): number[] {
  const pace = new Pace(startLimit, 0);
  const times: number[] = [];
  let nowMs = 0;
  while (nowMs < untilMs) {
    const waitMs = pace.getWaitMs(nowMs);
    if (waitMs > 0) {
      nowMs += Math.ceil(waitMs) + latenessMs;
      continue;
    }
    times.push(nowMs);
    pace.countStart(nowMs);
  }
  return times;
}

/** The most starts in any window of that length. */
function mostInWindow(times: readonly number[], windowMs: number): number {
  let most = 0;
  let first = 0;
  for (const [index, time] of times.entries()) {
    while (time - (times[first] ?? 0) >= windowMs) first += 1;
    most = Math.max(most, index - first + 1);
  }
  return most;
}

for (const [limit, windowMs] of [
  [1, 1000], [3, 1000], [10, 1000], [99, 1000], [100, 1000], [101, 1000], [150, 1000],
  [1000, 1000], [10_000, 1000], [10_000, 60_000], [1, 3_600_000],
] as const) {
  test(`${limit} of ${windowMs} ms are never more in any window, and not much fewer`, () => {
    const startLimit = { limit, windowMs };
    for (const latenessMs of [0, 1, 7]) {
      const times = startTimes(startLimit, windowMs * 5, latenessMs);
      assert.ok(mostInWindow(times, windowMs) <= limit, `${latenessMs} ms late`);
    }
    const count = startTimes(startLimit, windowMs * 5).length;
    assert.ok(count >= limit * 5 * 0.93 && count <= limit * 5, `${count}`);
  });
}

test('attempts are evenly spread, after a time without any as well', () => {
  const pace = new Pace({ limit: 10, windowMs: 1000 }, 0);
  assert.equal(pace.getWaitMs(0), 0);
  pace.countStart(0);
  assert.equal(pace.getWaitMs(40), 60);
  assert.equal(pace.getWaitMs(50_000), 0);
  pace.countStart(50_000);
  assert.equal(pace.getWaitMs(50_000), 100);
});

test('another limit counts from the last start on', () => {
  const pace = new Pace({ limit: 1, windowMs: 3_600_000 }, 0);
  pace.countStart(0);
  pace.change({ limit: 1, windowMs: 60_000 });
  assert.equal(pace.getWaitMs(20_000), 40_000);
  pace.change({ limit: 1, windowMs: 60_000 });
  assert.equal(pace.getWaitMs(20_000), 40_000);
});

test('another limit leaves the first start where it is', () => {
  const fast = { limit: 1000, windowMs: 1000 };
  const slow = { limit: 1, windowMs: 3_600_000 };
  for (const [before, after] of [[fast, slow], [slow, fast]] as const) {
    const pace = new Pace(before, 0);
    pace.postpone(500);
    pace.change(after);
    assert.deepEqual([pace.getWaitMs(0), pace.getWaitMs(500)], [500, 0]);
  }
});

test('a queue that waits for its pace has one timer, and lets other queues start', async () => {
  const clock = new ManualClock();
  const timers: number[] = [];
  const liveTimers = new Set<object>();
  const counting = {
    now: () => clock.now(), monotonicMs: () => clock.monotonicMs(),
    startTimer(delayMs: number, run: () => void) {
      timers.push(delayMs);
      const timer = clock.startTimer(delayMs, () => {
        liveTimers.delete(timer);
        run();
      });
      liveTimers.add(timer);
      return {
        cancel() {
          liveTimers.delete(timer);
          timer.cancel();
        },
      };
    },
  };
  const scheduler = new Scheduler(counting, { runningMax: 64, runningPerQueueMax: 64 });
  scheduler.start(() => {});
  scheduler.setPace('slow', { limit: 2, windowMs: 1000 });
  for (let index = 0; index < 50; index += 1) {
    scheduler.add(`slow-${index + 10}`, { key: 'slow', target: 'a', mayStart: true }, 0);
  }
  scheduler.add('other', { key: 'other', target: 'b', mayStart: true }, 0);
  const startAll = (): string[] => {
    const ids: string[] = [];
    for (let task = scheduler.startNext(); task !== null; task = scheduler.startNext()) {
      ids.push(task.task.id);
      scheduler.release(task, 'answered');
      scheduler.settle(task.task.id, null);
    }
    return ids;
  };
  assert.deepEqual(startAll(), ['slow-10', 'other']);
  assert.deepEqual(timers, [500]);
  await clock.advance(499);
  assert.deepEqual(startAll(), []);
  await clock.advance(1);
  assert.deepEqual(startAll(), ['slow-11']);
  for (const limit of [3, 4, 5]) scheduler.setPace('slow', { limit, windowMs: 1000 });
  assert.equal(liveTimers.size, 1);
  scheduler.setPace('slow', null);
  assert.equal(startAll().length, 48);
  scheduler.close();
});
