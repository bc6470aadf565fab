import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Scheduler } from '../../../src/webhooks/scheduler/scheduler.ts';
import type { Slot } from '../../../src/webhooks/scheduler/task.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const PLACE = { key: 'queue', host: 'host', isOpen: true };

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

function started(scheduler: Scheduler): Slot {
  const slot = scheduler.next();
  assert.ok(slot !== null);
  return slot;
}

test('starts a task when it is due, and says so', async () => {
  const clock = new ManualClock();
  const { scheduler, counted } = schedulerWith(clock);
  scheduler.add('a', PLACE, clock.now() + 1000);
  assert.equal(scheduler.next(), null);
  const before = counted.runnable;
  await clock.advance(1000);
  assert.ok(counted.runnable > before);
  assert.equal(started(scheduler).task.id, 'a');
});

test('keeps a task running until it is settled, then gives it its next time', async () => {
  const clock = new ManualClock();
  const { scheduler } = schedulerWith(clock);
  scheduler.add('a', PLACE, 0);
  const slot = started(scheduler);
  scheduler.release(slot, 'well');
  scheduler.reschedule(slot.task, clock.now());
  assert.deepEqual([scheduler.running, scheduler.next()], [0, null]);
  scheduler.settle('a', clock.now() + 500);
  assert.equal(scheduler.next(), null);
  await clock.advance(500);
  const again = started(scheduler);
  scheduler.release(again, 'well');
  scheduler.settle('a', null);
  assert.equal(scheduler.size, 0);
});

test('does not start a task that was added anew while its attempt is under way', () => {
  const clock = new ManualClock();
  const { scheduler } = schedulerWith(clock);
  scheduler.add('a', PLACE, 0);
  const slot = started(scheduler);
  scheduler.remove('a');
  scheduler.add('a', PLACE, 0);
  assert.equal(scheduler.next(), null);
  scheduler.release(slot, 'well');
  assert.equal(scheduler.next(), null);
  scheduler.settle('a', clock.now());
  assert.equal(started(scheduler).task.id, 'a');
});

test('resumes a host that is paused after failures', async () => {
  const clock = new ManualClock();
  const { scheduler } = schedulerWith(clock);
  for (let index = 0; index < 100; index += 1) {
    scheduler.add(`id-${String(index).padStart(3, '0')}`, PLACE, 0);
  }
  let attempts = 0;
  for (let slot = scheduler.next(); slot !== null; slot = scheduler.next()) {
    scheduler.release(slot, 'dead');
    scheduler.settle(slot.task.id, null);
    attempts += 1;
  }
  assert.ok(attempts > 1 && attempts < 100, String(attempts));
  await clock.advance(1000);
  assert.notEqual(scheduler.next(), null);
});

test('lists the tasks of one queue, oldest first, and the queues that are closed', () => {
  const { scheduler } = schedulerWith(new ManualClock());
  scheduler.add('a', PLACE, 0);
  scheduler.add('b', { ...PLACE, key: 'other', isOpen: false }, 0);
  scheduler.add('c', PLACE, 0);
  assert.deepEqual([scheduler.idsIn('queue', 5), scheduler.idsIn('queue', 1)], [['a', 'c'], ['a']]);
  assert.deepEqual([...scheduler.closedKeys()], ['other']);
});
