import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TaskQueues, type QueueSettings } from '../../../src/webhooks/work/task-queues.ts';
import type {
  Responsiveness, RunningTask, Task, TaskQueue, TaskTarget,
} from '../../../src/webhooks/work/task.ts';
import { below, createRandom } from '../../support/random.ts';

function createQueues(runningMax: number, runningPerQueueMax: number): TaskQueues {
  return new TaskQueues({ runningMax, runningPerQueueMax });
}

function fill(queues: TaskQueues, queue: TaskQueue, prefix: string, count: number): void {
  for (let index = 0; index < count; index += 1) {
    queues.makeReady(queues.add(`${prefix}-${String(index).padStart(4, '0')}`, queue));
  }
}

function startAll(queues: TaskQueues): RunningTask[] {
  const running: RunningTask[] = [];
  for (let next = queues.startNext(0); next !== null; next = queues.startNext(0)) {
    running.push(next);
  }
  return running;
}

type Ending = Responsiveness | 'slow' | null;

/** Returns the pause that begins. */
function finish(queues: TaskQueues, attempt: RunningTask, ending: Ending): number {
  const isSlow = ending === 'slow';
  const pauseMs = queues.release(attempt, isSlow ? 'answered' : ending, isSlow);
  queues.remove(attempt.task);
  return pauseMs;
}

function getQueue(
  queues: TaskQueues, key: string, target: string, mayStart = true, runningMax?: number,
): TaskQueue {
  return queues.getOrCreate({ key, target, mayStart, runningMax });
}

function change(
  queues: TaskQueues, queue: TaskQueue, settings: Partial<QueueSettings>,
  listTasks: () => Task[] = () => [],
): void {
  const { key, target, mayStart } = queue;
  queues.update(queue, { key, target: target.key, mayStart, ...settings }, listTasks);
}

test('queues alternate', () => {
  const queues = createQueues(4, 8);
  for (const key of ['a', 'b', 'c']) fill(queues, getQueue(queues, key, 'one'), key, 10);
  const started = startAll(queues);
  // A place is left for those that are prompt.
  assert.deepEqual(started.map(({ task }) => task.id), ['a-0000', 'b-0000', 'c-0000']);
  for (const attempt of started) finish(queues, attempt, 'answered');
  const next = ['a-0001', 'b-0001', 'c-0001', 'a-0002'];
  assert.deepEqual(startAll(queues).map(({ task }) => task.id), next);
});

test('a limit of its own holds for a queue in place of the common one', () => {
  const queues = createQueues(100, 3);
  const queue = getQueue(queues, 'a', 'host', true, 1);
  fill(queues, queue, 'a', 10);
  const [first] = startAll(queues);
  assert.ok(first !== undefined);
  assert.equal(queue.underWayCount, 1);
  finish(queues, first, 'answered');
  const tasksOf = (): never => assert.fail('asked for tasks without need');
  for (const [runningMax, running] of [[5, 5], [undefined, 5], [7, 7]] as const) {
    change(queues, queue, { runningMax }, tasksOf);
    startAll(queues);
    assert.equal(queue.underWayCount, running);
  }
});

test('a webhook gets as many attempts at once as its last one allows', () => {
  const queues = createQueues(64, 64);
  fill(queues, getQueue(queues, 'a', 'host'), 'a', 1000);
  const counts: number[] = [];
  for (const ending of ['answered', 'slow', 'silent', null, 'unreachable', 'answered'] as const) {
    const started = startAll(queues);
    counts.push(started.length);
    for (const attempt of started) finish(queues, attempt, ending);
  }
  assert.deepEqual([...counts, startAll(queues).length], [4, 64, 8, 1, 1, 1, 64]);
});

test('a host that never answers is paused after 32 attempts, and then resumed', () => {
  const queues = createQueues(64, 64);
  fill(queues, getQueue(queues, 'a', 'host'), 'a', 100);
  let attempts = 0;
  for (let pauseMs = 0; pauseMs === 0; attempts += 1) {
    const attempt = queues.startNext(0);
    assert.ok(attempt !== null);
    pauseMs = queues.release(attempt, 'unreachable');
    queues.remove(attempt.task);
    if (pauseMs === 0) continue;
    assert.equal(queues.startNext(0), null);
    queues.resumeTarget(attempt.target);
    assert.equal(startAll(queues).length, 1);
  }
  assert.equal(attempts, 32);
});

test('an attempt that holds its place for long and shows nothing makes its queue slow', () => {
  const queues = createQueues(64, 64);
  const queue = getQueue(queues, 'a', 'host');
  for (const [before, after] of [
    ['unknown', 'slow'], ['prompt', 'slow'], ['slow', 'slow'], ['silent', 'silent'],
  ] as const) {
    fill(queues, queue, before, 1);
    queue.responsiveness = before;
    const [attempt] = startAll(queues);
    assert.ok(attempt !== undefined);
    queues.release(attempt, null, true);
    queues.remove(attempt.task);
    assert.equal(queue.responsiveness, after);
  }
});

test('dead hosts, however many, leave room for one that is well', () => {
  const queues = createQueues(16, 8);
  fill(queues, getQueue(queues, 'well', 'well'), 'w', 1);
  for (const attempt of startAll(queues)) finish(queues, attempt, 'answered');
  for (let host = 0; host < 100; host += 1) {
    fill(queues, getQueue(queues, `dead-${host}`, `dead-${host}`), `d${host}`, 20);
  }
  const stuck = startAll(queues);
  assert.equal(stuck.length, 14);
  fill(queues, getQueue(queues, 'well', 'well'), 'x', 100);
  for (let round = 0; round < 4; round += 1) {
    const started = startAll(queues);
    assert.ok(started.length >= 2 && started.every(({ target }) => target.key === 'well'));
    for (const attempt of started) finish(queues, attempt, 'answered');
  }
});

/** Three queues with one task each, of which only the first may run: the others wait behind it. */
function createBlocked(
  runningMax: number, targetKeys: readonly string[],
): { queues: TaskQueues; running: RunningTask; second: Task } {
  const queues = createQueues(runningMax, 8);
  const tasks = targetKeys.map((targetKey, index) => {
    const queue = getQueue(queues, `queue-${index}`, targetKey);
    queue.target.isUnreachable = true;
    return queues.add(`task-${index}`, queue);
  });
  for (const task of tasks) queues.makeReady(task);
  const [running, ...others] = startAll(queues);
  const second = tasks[1];
  assert.ok(running !== undefined && others.length === 0 && second !== undefined);
  return { queues, running, second };
}

for (const [limit, runningMax, targetKeys] of [
  ['of the queues that are not prompt', 2, ['one', 'two', 'three']],
  ['of one target', 64, ['one', 'one', 'one']],
  ['of both', 2, ['one', 'one', 'one']],
] as const) {
  for (const [title, leave] of [
    ['may not start any more', (queues, { queue }) =>
      change(queues, queue, { mayStart: false })],
    ['has no task any more', (queues, task) => queues.remove(task)],
    ['goes to a paused target', (queues, { queue }) => {
      change(queues, queue, { target: 'paused' });
      queue.target.isPaused = true;
    }],
  ] as const satisfies [string, (queues: TaskQueues, task: Task) => void][]) {
    for (const isEarly of [true, false]) {
      const when = isEarly ? 'before' : 'after';
      test(`within the limit ${limit}, a queue that ${title} ${when} its turn passes it on`, () => {
        const { queues, running, second } = createBlocked(runningMax, targetKeys);
        if (isEarly) leave(queues, second);
        if (isEarly) assert.deepEqual(startAll(queues), []);
        finish(queues, running, 'unreachable');
        if (!isEarly) leave(queues, second);
        assert.deepEqual(startAll(queues).map(({ task }) => task.id), ['task-2']);
      });
    }
  }
}

test('a queue whose target is full passes on its turn among those that are not prompt', () => {
  const queues = createQueues(4, 8);
  const targetKeys = ['one', 'two', 'down', 'down', 'last'];
  const [first, second, ...others] = targetKeys.map((targetKey, index) => {
    const queue = getQueue(queues, `queue-${index}`, targetKey);
    queue.target.isUnreachable = targetKey === 'down';
    queue.responsiveness = 'silent';
    return queue;
  });
  assert.ok(first !== undefined && second !== undefined);
  for (const queue of [first, second]) fill(queues, queue, queue.key, 1);
  const [running, other] = startAll(queues);
  for (const queue of others) fill(queues, queue, queue.key, 1);
  assert.deepEqual(startAll(queues), []);
  assert.ok(running !== undefined && other !== undefined);
  for (const attempt of [running, other]) finish(queues, attempt, 'answered');
  assert.deepEqual(startAll(queues).map(({ task }) => task.id), ['queue-2-0000', 'queue-4-0000']);
});

test('a prompt queue whose target is reached again waits for none that is not prompt', () => {
  const queues = createQueues(4, 8);
  const keys = ['dead-0', 'dead-1', 'dead-2'];
  const dead = keys.map((key) => getQueue(queues, key, key));
  const [first, second] = ['first', 'second'].map((key) => getQueue(queues, key, 'well'));
  assert.ok(first !== undefined && second !== undefined);
  fill(queues, first, 'first', 1);
  const [attempt] = startAll(queues);
  assert.ok(attempt !== undefined);
  queues.setParked(attempt, true);
  first.target.isUnreachable = true;
  second.responsiveness = 'prompt';
  for (const queue of dead) fill(queues, queue, queue.key, 3);
  assert.deepEqual(startAll(queues).map(({ target }) => target.key), keys);
  fill(queues, second, 'second', 1);
  assert.deepEqual(startAll(queues), []);
  finish(queues, attempt, 'answered');
  assert.deepEqual(startAll(queues).map(({ task }) => task.id), ['second-0000']);
});

test('at a target that is full, those who are not well alternate with the others as one', () => {
  const queues = new TaskQueues({ runningMax: 64, runningPerQueueMax: 8, runningPerTargetMax: 1 });
  const keys = ['silent-0', 'well-0', 'silent-1', 'well-1'];
  for (const key of keys) fill(queues, getQueue(queues, key, 'host'), key, 4);
  const order: string[] = [];
  for (let turn = 0; turn < 10; turn += 1) {
    const [attempt, ...others] = startAll(queues);
    assert.ok(attempt !== undefined && others.length === 0);
    const { key } = attempt.task.queue;
    order.push(key);
    finish(queues, attempt, key.startsWith('well') ? 'answered' : 'silent');
  }
  // Nothing is known of `well-1` at first.
  assert.deepEqual(order, ['silent-0', 'well-0', 'silent-1', 'well-0', 'well-1', 'well-0',
    'well-1', 'silent-0', 'well-0', 'well-1']);
});

test('a prompt queue is on trial again though those that are not prompt have their half', () => {
  const queues = createQueues(4, 8);
  const queue = getQueue(queues, 'well', 'well');
  queue.responsiveness = 'prompt';
  queue.target.isUnreachable = true;
  for (const key of ['silent-0', 'silent-1', 'silent-2']) {
    getQueue(queues, key, key).responsiveness = 'silent';
    fill(queues, getQueue(queues, key, key), key, 1);
  }
  assert.equal(startAll(queues).length, 2);
  fill(queues, queue, 'well', 2);
  assert.deepEqual(startAll(queues).map(({ task }) => task.id), ['well-0000']);
});

test('nothing is held for a key without a task', () => {
  const queues = createQueues(64, 64);
  const queue = getQueue(queues, 'a', 'host');
  const add = (id: string, name: string): void =>
    queues.makeReady(queues.add(id, queue, { lane: { name, key: name } }));
  add('0', 'stays');
  for (let index = 0; index < 1000; index += 1) {
    add(String(index + 1).padStart(5, '0'), `key ${index}`);
    for (const attempt of startAll(queues)) {
      if (attempt.lane?.name === 'stays') queues.release(attempt, 'answered');
      else finish(queues, attempt, 'answered');
    }
  }
  assert.deepEqual([...queue.lanes?.keys() ?? []], ['stays']);
});

/** Lists the queues that wait although each limit lets them start a task, of 10 attempts in all. */
function listForgotten(queues: TaskQueues, running: readonly RunningTask[]): string[] {
  const shared = running.filter(({ isShared }) => isShared).length;
  const unparkedMax = { prompt: Infinity, slow: 8, unknown: 4, silent: 1 };
  return queues.listKeys().filter((key) => {
    const queue = queues.find(key);
    if (queue === undefined || !queue.mayStart) return false;
    if (queues.findHoldPlace(key) !== undefined) return false;
    const { ready, underWayCount, runningMax, target, responsiveness } = queue;
    ready.popWhile(({ state }) => state !== 'ready');
    return ready.peek() !== undefined && underWayCount < runningMax && running.length < 10
      && !target.isPaused && target.permitCount < (target.isUnreachable ? 1 : Infinity)
      && underWayCount < unparkedMax[responsiveness]
      && (responsiveness === 'prompt' && !target.isUnreachable
        || shared < (responsiveness === 'prompt'
          || responsiveness === 'unknown' && underWayCount === 0 ? 8 : 5));
  });
}

for (const seed of [1, 2, 3]) {
  test(`whatever changes, no queue waits that may start a task (seed ${seed})`, () => {
    const random = createRandom(seed);
    const queues = createQueues(10, 3);
    let running: RunningTask[] = [];
    const paused = new Set<TaskTarget>();
    const tasks: Task[] = [];
    for (let step = 0; step < 5000; step += 1) {
      const key = `queue-${below(random, 12)}`;
      const host = `host-${below(random, 5)}`;
      const queue = queues.find(key);
      const choice = below(random, 8);
      if (choice <= 1) {
        tasks.push(queues.add(`${step}`, getQueue(queues, key, host)));
        queues.makeReady(tasks.at(-1) ?? assert.fail());
      } else if (choice <= 3 && running.length > 0) {
        const [attempt] = running.splice(below(random, running.length), 1);
        assert.ok(attempt !== undefined);
        const ending = (['answered', 'unreachable', 'silent', 'slow'] as const)[
          below(random, 5)] ?? null;
        if (finish(queues, attempt, ending) > 0) paused.add(attempt.target);
      } else if (choice === 4 && queue !== undefined) {
        change(queues, queue, { target: host, mayStart: below(random, 3) > 0 });
      } else if (choice === 5) {
        queues.hold(key, below(random, 2) === 0 ? '' : null);
      } else if (choice === 6) {
        const [task] = tasks.splice(below(random, tasks.length), 1);
        if (task?.state === 'ready') queues.remove(task);
      } else {
        for (const target of paused) queues.resumeTarget(target);
        paused.clear();
      }
      if (below(random, 2) === 0) continue;
      running = [...running, ...startAll(queues)];
      assert.ok(queues.runningCount === running.length && running.length <= 10);
      assert.deepEqual(listForgotten(queues, running), []);
    }
  });
}
