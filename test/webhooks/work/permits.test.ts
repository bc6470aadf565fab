import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Scheduler } from '../../../src/webhooks/work/scheduler.ts';
import type {
  QueueSettings, Responsiveness, RunningTask, Task, TaskQueue,
} from '../../../src/webhooks/work/task.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { below, createRandom } from '../../support/random.ts';
import { startAll } from './task-stubs.ts';

function createScheduler(
  runningMax: number, runningPerQueueMax: number, clock = new ManualClock(),
): Scheduler {
  return new Scheduler(clock, { runningMax, runningPerQueueMax });
}

function add(scheduler: Scheduler, { key, target, runningMax }: TaskQueue, id: string): Task {
  scheduler.add(id, { key, target: target.key, mayStart: true, runningMax }, 0);
  return scheduler.find(id) ?? assert.fail();
}

function fill(scheduler: Scheduler, queue: TaskQueue, prefix: string, count: number): void {
  for (let index = 0; index < count; index += 1) {
    add(scheduler, queue, `${prefix}-${String(index).padStart(4, '0')}`);
  }
}

type Ending = Responsiveness | 'slow' | null;

function release(scheduler: Scheduler, attempt: RunningTask, ending: Ending): void {
  if (ending === 'slow') attempt.permitSinceMs -= 1000;
  scheduler.release(attempt, ending === 'slow' ? 'answered' : ending);
}

function finish(scheduler: Scheduler, attempt: RunningTask, ending: Ending): void {
  release(scheduler, attempt, ending);
  scheduler.settle(attempt.task.id, null);
}

/** A queue that has no task yet. */
function getQueue(
  scheduler: Scheduler, key: string, target: string, runningMax?: number,
): TaskQueue {
  scheduler.add('first', { key, target, mayStart: true, runningMax }, 0);
  const { queue } = scheduler.find('first') ?? assert.fail();
  scheduler.remove('first');
  return queue;
}

function change(
  scheduler: Scheduler, { key, target, mayStart }: TaskQueue, settings: Partial<QueueSettings>,
): void {
  scheduler.update({ key, target: target.key, mayStart, ...settings });
}

test('queues alternate', () => {
  const scheduler = createScheduler(4, 8);
  for (const key of ['a', 'b', 'c']) fill(scheduler, getQueue(scheduler, key, 'one'), key, 10);
  const started = startAll(scheduler);
  // A place is left for those that are prompt.
  assert.deepEqual(started.map(({ task }) => task.id), ['a-0000', 'b-0000', 'c-0000']);
  for (const attempt of started) finish(scheduler, attempt, 'answered');
  const next = ['a-0001', 'b-0001', 'c-0001', 'a-0002'];
  assert.deepEqual(startAll(scheduler).map(({ task }) => task.id), next);
});

test('a limit of its own holds for a queue in place of the common one', () => {
  const scheduler = createScheduler(100, 3);
  const queue = getQueue(scheduler, 'a', 'host', 1);
  fill(scheduler, queue, 'a', 10);
  const [first] = startAll(scheduler);
  assert.ok(first !== undefined);
  assert.equal(queue.underWayCount, 1);
  finish(scheduler, first, 'answered');
  for (const [runningMax, running] of [[5, 5], [undefined, 5], [7, 7]] as const) {
    change(scheduler, queue, { runningMax });
    startAll(scheduler);
    assert.equal(queue.underWayCount, running);
  }
});

test('a webhook gets as many attempts at once as its last one allows', () => {
  const scheduler = createScheduler(64, 64);
  fill(scheduler, getQueue(scheduler, 'a', 'host'), 'a', 1000);
  const counts: number[] = [];
  for (const ending of ['answered', 'slow', 'silent', null, 'unreachable', 'answered'] as const) {
    const started = startAll(scheduler);
    counts.push(started.length);
    for (const attempt of started) finish(scheduler, attempt, ending);
  }
  assert.deepEqual([...counts, startAll(scheduler).length], [4, 64, 8, 1, 1, 1, 64]);
});

test('a host that never answers is paused after 32 attempts, and then resumed', async () => {
  const clock = new ManualClock();
  const scheduler = createScheduler(64, 64, clock);
  fill(scheduler, getQueue(scheduler, 'a', 'host'), 'a', 100);
  let attempts = 0;
  for (; clock.timerCount === 0; attempts += 1) {
    finish(scheduler, scheduler.startNext() ?? assert.fail(), 'unreachable');
  }
  assert.equal(attempts, 32);
  await clock.advance(249);
  assert.equal(scheduler.startNext(), null);
  await clock.advance(1);
  assert.equal(startAll(scheduler).length, 1);
});

test('an attempt that holds its place for long and shows nothing makes its queue slow', () => {
  const scheduler = createScheduler(64, 64);
  const queue = getQueue(scheduler, 'a', 'host');
  for (const [before, after] of [
    ['unknown', 'slow'], ['prompt', 'slow'], ['slow', 'slow'], ['silent', 'silent'],
  ] as const) {
    fill(scheduler, queue, before, 1);
    queue.responsiveness = before;
    const [attempt] = startAll(scheduler);
    assert.ok(attempt !== undefined);
    attempt.permitSinceMs -= 1000;
    finish(scheduler, attempt, null);
    assert.equal(queue.responsiveness, after);
  }
});

test('dead hosts, however many, leave room for one that is well', () => {
  const scheduler = createScheduler(16, 8);
  fill(scheduler, getQueue(scheduler, 'well', 'well'), 'w', 1);
  for (const attempt of startAll(scheduler)) finish(scheduler, attempt, 'answered');
  for (let host = 0; host < 100; host += 1) {
    fill(scheduler, getQueue(scheduler, `dead-${host}`, `dead-${host}`), `d${host}`, 20);
  }
  const stuck = startAll(scheduler);
  assert.equal(stuck.length, 14);
  fill(scheduler, getQueue(scheduler, 'well', 'well'), 'x', 100);
  for (let round = 0; round < 4; round += 1) {
    const started = startAll(scheduler);
    assert.ok(started.length >= 2 && started.every(({ target }) => target.key === 'well'));
    for (const attempt of started) finish(scheduler, attempt, 'answered');
  }
});

/** Three queues with one task each, of which only the first may run: the others wait behind it. */
function createBlocked(
  runningMax: number, targetKeys: readonly string[],
): { scheduler: Scheduler; running: RunningTask; second: Task } {
  const scheduler = createScheduler(runningMax, 8);
  const tasks = targetKeys.map((targetKey, index) => {
    const queue = getQueue(scheduler, `queue-${index}`, targetKey);
    queue.target.isUnreachable = true;
    return add(scheduler, queue, `task-${index}`);
  });
  const [running, ...others] = startAll(scheduler);
  const second = tasks[1];
  assert.ok(running !== undefined && others.length === 0 && second !== undefined);
  return { scheduler, running, second };
}

for (const [limit, runningMax, targetKeys] of [
  ['of the queues that are not prompt', 2, ['one', 'two', 'three']],
  ['of one target', 64, ['one', 'one', 'one']],
  ['of both', 2, ['one', 'one', 'one']],
] as const) {
  for (const [title, leave] of [
    ['may not start any more', (scheduler, { queue }) =>
      change(scheduler, queue, { mayStart: false })],
    ['has no task any more', (scheduler, task) => scheduler.remove(task.id)],
    ['goes to a paused target', (scheduler, { queue }) => {
      change(scheduler, queue, { target: 'paused' });
      queue.target.isPaused = true;
    }],
  ] as const satisfies [string, (scheduler: Scheduler, task: Task) => void][]) {
    for (const isEarly of [true, false]) {
      const when = isEarly ? 'before' : 'after';
      test(`within the limit ${limit}, a queue that ${title} ${when} its turn passes it on`, () => {
        const { scheduler, running, second } = createBlocked(runningMax, targetKeys);
        if (isEarly) leave(scheduler, second);
        if (isEarly) assert.deepEqual(startAll(scheduler), []);
        finish(scheduler, running, 'unreachable');
        if (!isEarly) leave(scheduler, second);
        assert.deepEqual(startAll(scheduler).map(({ task }) => task.id), ['task-2']);
      });
    }
  }
}

test('a queue whose target is full passes on its turn among those that are not prompt', () => {
  const scheduler = createScheduler(4, 8);
  const targetKeys = ['one', 'two', 'down', 'down', 'last'];
  const [first, second, ...others] = targetKeys.map((targetKey, index) => {
    const queue = getQueue(scheduler, `queue-${index}`, targetKey);
    queue.target.isUnreachable = targetKey === 'down';
    queue.responsiveness = 'silent';
    return queue;
  });
  assert.ok(first !== undefined && second !== undefined);
  for (const queue of [first, second]) fill(scheduler, queue, queue.key, 1);
  const [running, other] = startAll(scheduler);
  for (const queue of others) fill(scheduler, queue, queue.key, 1);
  assert.deepEqual(startAll(scheduler), []);
  assert.ok(running !== undefined && other !== undefined);
  for (const attempt of [running, other]) finish(scheduler, attempt, 'answered');
  assert.deepEqual(
    startAll(scheduler).map(({ task }) => task.id), ['queue-2-0000', 'queue-4-0000']);
});

test('a prompt queue whose target is reached again waits for none that is not prompt', () => {
  const scheduler = createScheduler(4, 8);
  const keys = ['dead-0', 'dead-1', 'dead-2'];
  const dead = keys.map((key) => getQueue(scheduler, key, key));
  const [first, second] = ['first', 'second'].map((key) => getQueue(scheduler, key, 'well'));
  assert.ok(first !== undefined && second !== undefined);
  fill(scheduler, first, 'first', 1);
  const [attempt] = startAll(scheduler);
  assert.ok(attempt !== undefined);
  scheduler.setParked(attempt, true);
  first.target.isUnreachable = true;
  second.responsiveness = 'prompt';
  for (const queue of dead) fill(scheduler, queue, queue.key, 3);
  assert.deepEqual(startAll(scheduler).map(({ target }) => target.key), keys);
  fill(scheduler, second, 'second', 1);
  assert.deepEqual(startAll(scheduler), []);
  finish(scheduler, attempt, 'answered');
  assert.deepEqual(startAll(scheduler).map(({ task }) => task.id), ['second-0000']);
});

test('at a target that is full, those who are not well alternate with the others as one', () => {
  const scheduler = new Scheduler(new ManualClock(),
    { runningMax: 64, runningPerQueueMax: 8, runningPerTargetMax: 1 });
  const keys = ['silent-0', 'well-0', 'silent-1', 'well-1'];
  for (const key of keys) fill(scheduler, getQueue(scheduler, key, 'host'), key, 4);
  const order: string[] = [];
  for (let turn = 0; turn < 10; turn += 1) {
    const [attempt, ...others] = startAll(scheduler);
    assert.ok(attempt !== undefined && others.length === 0);
    const { key } = attempt.task.queue;
    order.push(key);
    finish(scheduler, attempt, key.startsWith('well') ? 'answered' : 'silent');
  }
  // Nothing is known of `well-1` at first.
  assert.deepEqual(order, ['silent-0', 'well-0', 'silent-1', 'well-0', 'well-1', 'well-0',
    'well-1', 'silent-0', 'well-0', 'well-1']);
});

test('a prompt queue is on trial again though those that are not prompt have their half', () => {
  const scheduler = createScheduler(4, 8);
  const queue = getQueue(scheduler, 'well', 'well');
  queue.responsiveness = 'prompt';
  queue.target.isUnreachable = true;
  for (const key of ['silent-0', 'silent-1', 'silent-2']) {
    getQueue(scheduler, key, key).responsiveness = 'silent';
    fill(scheduler, getQueue(scheduler, key, key), key, 1);
  }
  assert.equal(startAll(scheduler).length, 2);
  fill(scheduler, queue, 'well', 2);
  assert.deepEqual(startAll(scheduler).map(({ task }) => task.id), ['well-0000']);
});

test('nothing is held for a key without a task', () => {
  const scheduler = createScheduler(64, 64);
  const queue = getQueue(scheduler, 'a', 'host');
  const addTo = (id: string, name: string): void => scheduler.add(id,
    { key: 'a', target: 'host', mayStart: true }, 0, { lane: { name, key: name } });
  addTo('0', 'stays');
  for (let index = 0; index < 1000; index += 1) {
    addTo(String(index + 1).padStart(5, '0'), `key ${index}`);
    for (const attempt of startAll(scheduler)) {
      if (attempt.lane?.name === 'stays') release(scheduler, attempt, 'answered');
      else finish(scheduler, attempt, 'answered');
    }
  }
  assert.deepEqual([...queue.lanes?.keys() ?? []], ['stays']);
});

/** Lists the queues that wait although each limit lets them start a task, of 10 attempts in all. */
function listForgotten(
  queues: Iterable<TaskQueue>, heldKeys: ReadonlySet<string>, running: readonly RunningTask[],
): string[] {
  const shared = running.filter(({ isShared }) => isShared).length;
  const unparkedMax = { prompt: Infinity, slow: 8, unknown: 4, silent: 1 };
  return [...queues].filter((queue) => {
    if (!queue.mayStart || heldKeys.has(queue.key)) return false;
    const { ready, underWayCount, runningMax, target, responsiveness } = queue;
    ready.popWhile(({ state }) => state !== 'ready');
    return ready.peek() !== undefined && underWayCount < runningMax && running.length < 10
      && !target.isPaused && target.permitCount < (target.isUnreachable ? 1 : Infinity)
      && underWayCount < unparkedMax[responsiveness]
      && (responsiveness === 'prompt' && !target.isUnreachable
        || shared < (responsiveness === 'prompt'
          || responsiveness === 'unknown' && underWayCount === 0 ? 8 : 5));
  }).map(({ key }) => key);
}

for (const seed of [1, 2, 3]) {
  test(`whatever changes, no queue waits that may start a task (seed ${seed})`, async () => {
    const random = createRandom(seed);
    const clock = new ManualClock();
    const scheduler = createScheduler(10, 3, clock);
    let running: RunningTask[] = [];
    const heldKeys = new Set<string>();
    let tasks: Task[] = [];
    for (let step = 0; step < 5000; step += 1) {
      const key = `queue-${below(random, 12)}`;
      const target = `host-${below(random, 5)}`;
      const choice = below(random, 8);
      if (choice <= 1) {
        scheduler.add(`${step}`, { key, target, mayStart: true }, 0);
        tasks.push(scheduler.find(`${step}`) ?? assert.fail());
      } else if (choice <= 3 && running.length > 0) {
        const [attempt] = running.splice(below(random, running.length), 1);
        assert.ok(attempt !== undefined);
        finish(scheduler, attempt, (['answered', 'unreachable', 'silent', 'slow'] as const)[
          below(random, 5)] ?? null);
      } else if (choice === 4) {
        scheduler.update({ key, target, mayStart: below(random, 3) > 0 });
      } else if (choice === 5) {
        const isHeld = below(random, 2) === 0;
        heldKeys[isHeld ? 'add' : 'delete'](key);
        scheduler.hold(key, isHeld ? '' : null);
      } else if (choice === 6) {
        const [task] = tasks.splice(below(random, tasks.length), 1);
        if (task?.state === 'ready') scheduler.remove(task.id);
      } else {
        await clock.advance(250);
      }
      tasks = tasks.filter(({ state }) => state !== 'gone');
      if (below(random, 2) === 0) continue;
      running = [...running, ...startAll(scheduler)];
      assert.ok(scheduler.runningCount === running.length && running.length <= 10);
      const queues = new Set([...tasks, ...running.map(({ task }) => task)]
        .map(({ queue }) => queue));
      assert.deepEqual(listForgotten(queues, heldKeys, running), []);
    }
  });
}
