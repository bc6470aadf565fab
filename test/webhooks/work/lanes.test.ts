import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPlace, type LaneName, type RunningTask } from '../../../src/webhooks/work/task.ts';
import { Scheduler } from '../../../src/webhooks/work/scheduler.ts';
import { someOf } from '../../support/long.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { below, createRandom } from '../../support/random.ts';
import { startAll } from './task-stubs.ts';

const QUEUE = { key: 'queue', target: 'host', mayStart: true };

function lane(key: string | number | boolean): LaneName {
  return { name: JSON.stringify(key), key };
}

function createScheduler(clock: ManualClock, runningPerQueueMax = 8): Scheduler {
  const scheduler = new Scheduler(clock, { runningMax: 100, runningPerQueueMax });
  scheduler.start(() => {});
  // The host answers, so that its limit is not what the tests see.
  scheduler.add('!', { ...QUEUE, key: 'first' }, 0);
  for (const task of startAll(scheduler)) finish(scheduler, task);
  return scheduler;
}

function finish(scheduler: Scheduler, task: RunningTask, dueAtMs: number | null = null): void {
  scheduler.release(task, 'answered');
  scheduler.settle(task.task.id, dueAtMs);
}

function idsOf(running: readonly RunningTask[]): string[] {
  return running.map(({ task }) => task.id);
}

test('a lane holds until the attempt of a removed task is over', () => {
  const scheduler = createScheduler(new ManualClock());
  scheduler.add('a', QUEUE, 0, { lane: lane(1) });
  scheduler.add('b', QUEUE, 0, { lane: lane(1) });
  const [first] = startAll(scheduler);
  assert.ok(first !== undefined);
  scheduler.remove('a');
  assert.deepEqual(startAll(scheduler), []);
  scheduler.release(first, 'answered');
  assert.deepEqual(idsOf(startAll(scheduler)), ['b']);
});

test('a delayed task holds back nobody before it is due, then it has its place', async () => {
  for (const runningMax of [1, 8]) {
    const clock = new ManualClock();
    const scheduler = createScheduler(clock, runningMax);
    const dueAtMs = clock.now() + 1000;
    const id = '00000000-0000-7000-8000-000000000001';
    scheduler.add(id, QUEUE, dueAtMs, {
      lane: lane(1), isDelayed: true, place: createPlace(dueAtMs, id),
    });
    const addCreatedAt = (ms: number): string => {
      const time = createPlace(ms, '').slice(0, 13);
      const created = `${time}-7000-8000-000000000002`;
      scheduler.add(created, QUEUE, 0, { lane: lane(1) });
      return created;
    };
    const before = addCreatedAt(dueAtMs - 1);
    const [passing] = startAll(scheduler);
    assert.ok(passing !== undefined);
    assert.equal(passing.task.id, before);
    await clock.advance(1000);
    const after = addCreatedAt(dueAtMs + 1);
    finish(scheduler, passing);
    const [delayed] = startAll(scheduler);
    assert.ok(delayed !== undefined);
    assert.equal(delayed.task.id, id);
    finish(scheduler, delayed, clock.now() + 1000);
    assert.deepEqual(startAll(scheduler), [], `${after} overtook a retry`);
  }
});

test('a delayed task does not hold back a later one that is made due by hand', () => {
  for (const runningMax of [1, 8]) {
    const clock = new ManualClock();
    const scheduler = createScheduler(clock);
    for (const [id, delayMs] of [['a', 1000], ['b', 2000]] as const) {
      const dueAtMs = clock.now() + delayMs;
      scheduler.add(id, QUEUE, dueAtMs, {
        lane: lane(1), isDelayed: true, place: createPlace(dueAtMs, id),
      });
    }
    scheduler.update({ ...QUEUE, runningMax });
    const later = scheduler.find('b');
    assert.ok(later !== undefined);
    scheduler.reschedule(later, clock.now());
    assert.deepEqual(idsOf(startAll(scheduler)), ['b']);
  }
});

test('places are by the millisecond, then by id', () => {
  const older = '01900000-0000-7000-8000-000000000001';
  const newer = '01900000-0001-7000-8000-000000000001';
  const places = [
    createPlace(0x1900000_0000, newer), older, createPlace(0x1900000_0001, older),
    createPlace(0x1900000_0001, newer), newer, createPlace(0x1900000_0002, older),
  ];
  assert.deepEqual([...places].reverse().sort(), places);
});

test('keys that hold back more than a hundred tasks are listed, the longest first', () => {
  const scheduler = createScheduler(new ManualClock());
  for (const [key, count] of [['short', 101], [7, 102], ['long', 150]] as const) {
    for (let index = 0; index < count; index += 1) {
      scheduler.add(`${key}-${String(index).padStart(3, '0')}`, QUEUE, 0, { lane: lane(key) });
    }
  }
  scheduler.add('z', QUEUE, 0);
  const heldBack = [
    { queueKey: 'queue', key: 'long', waiting: 149 }, { queueKey: 'queue', key: 7, waiting: 101 },
  ];
  assert.deepEqual(scheduler.listLongLanes(10), heldBack);
  assert.deepEqual(scheduler.listLongLanes(1), heldBack.slice(0, 1));
  scheduler.remove('7-050');
  assert.deepEqual(scheduler.listLongLanes(10), heldBack.slice(0, 1));
});

/** Few enough that the last of them are reached. */
const TASKS_MAX = 12;
const STEPS = 6000;

/** What the scheduler must agree with: all tasks in a list, which is searched each time. */
type ModelTask = {
  readonly id: string; readonly place: string; lane: string | null;
  hasBegun: boolean; dueAtMs: number; state: 'due' | 'running' | 'unsettled'; isGone: boolean;
};

class Model {
  readonly tasks: ModelTask[] = [];
  readonly running: { readonly task: ModelTask; readonly lane: string | null }[] = [];

  live(): ModelTask[] {
    return this.tasks.filter(({ isGone }) => !isGone);
  }

  /** What is due has begun. */
  begin(nowMs: number): void {
    for (const task of this.tasks) {
      if (task.state === 'due' && task.dueAtMs <= nowMs) task.hasBegun = true;
    }
  }

  /** The task that starts next: the first by place of those that nothing holds back. */
  next(nowMs: number, runningMax: number): ModelTask | undefined {
    if (this.running.length >= runningMax) return undefined;
    const isFree = (task: ModelTask): boolean => {
      if (task.state !== 'due' || task.dueAtMs > nowMs) return false;
      const rivals = this.live().filter((other) => runningMax === 1
        || (task.lane !== null && other.lane === task.lane));
      if (rivals.some((other) => other.hasBegun && other.place < task.place)) return false;
      return task.lane === null || this.running.every((run) => run.lane !== task.lane);
    };
    return this.live().filter(isFree)
      .sort((left, right) => left.place < right.place ? -1 : 1)[0];
  }
}

for (const seed of someOf([1, 2, 3, 4, 5, 6], 3)) {
  test(`whatever happens, what starts is what a naive model starts (seed ${seed})`, async () => {
    const random = createRandom(seed);
    const clock = new ManualClock();
    let runningMax = 1 + below(random, 4);
    const scheduler = createScheduler(clock, runningMax);
    const model = new Model();
    const running = new Map<ModelTask, RunningTask>();
    const settings = (): typeof QUEUE & { runningMax: number } => ({ ...QUEUE, runningMax });
    const anyLane = (): LaneName | null => below(random, 5) === 0 ? null : lane(below(random, 4));
    const pick = (tasks: readonly ModelTask[]): ModelTask | undefined =>
      tasks[below(random, Math.max(1, tasks.length))];
    const steps: (() => void | Promise<void>)[] = [
      () => {
        if (model.live().length >= TASKS_MAX) return;
        const id = `${clock.now().toString(16).padStart(13, '0')}-${model.tasks.length}`;
        const isDelayed = below(random, 4) === 0;
        const isLater = isDelayed || below(random, 4) === 0;
        const dueAtMs = isLater ? clock.now() + below(random, 50) + 1 : 0;
        // Some are added late: their place is before that of others.
        const atMs = isDelayed ? dueAtMs : clock.now() - below(random, 20);
        const place = `${atMs.toString(16).padStart(13, '0')}-${id}`;
        const name = anyLane();
        scheduler.add(id, settings(), dueAtMs, { place, isDelayed, lane: name });
        model.tasks.push({
          id, place, lane: name?.name ?? null, hasBegun: !isDelayed, dueAtMs, state: 'due',
          isGone: false,
        });
      },
      () => {
        for (;;) {
          const next = model.next(clock.now(), runningMax);
          const started = scheduler.startNext();
          assert.equal(started?.task.id, next?.id);
          if (started === null || next === undefined) return;
          next.state = 'running';
          running.set(next, started);
          model.running.push({ task: next, lane: next.lane });
        }
      },
      () => {
        const index = below(random, Math.max(1, model.running.length));
        const [run] = model.running.splice(index, 1);
        const started = run === undefined ? undefined : running.get(run.task);
        if (run === undefined || started === undefined) return;
        scheduler.release(started, below(random, 3) === 0 ? null : 'answered');
        run.task.state = 'unsettled';
      },
      () => {
        const task = pick(model.tasks.filter(({ state }) => state === 'unsettled'));
        if (task === undefined) return;
        const dueAtMs = below(random, 2) === 0 ? null : clock.now() + below(random, 30);
        scheduler.settle(task.id, dueAtMs);
        task.state = 'due';
        if (dueAtMs === null) task.isGone = true;
        else task.dueAtMs = dueAtMs;
      },
      () => {
        const task = pick(model.live());
        if (task === undefined || below(random, 3) > 0) return;
        scheduler.remove(task.id);
        task.isGone = true;
      },
      () => {
        const task = pick(model.live());
        if (task === undefined) return;
        const name = anyLane();
        scheduler.setLane(task.id, name);
        task.lane = name?.name ?? null;
      },
      () => {
        const task = pick(model.live().filter(({ state }) => state === 'due'));
        const stored = task === undefined ? undefined : scheduler.find(task.id);
        if (task === undefined || stored === undefined) return;
        task.dueAtMs = clock.now() + below(random, 30);
        scheduler.reschedule(stored, task.dueAtMs);
      },
      () => clock.advance(below(random, 20)),
      () => {
        if (below(random, 10) > 0) return;
        runningMax = 1 + below(random, 4);
        scheduler.update(settings());
      },
    ];
    for (let step = 0; step < STEPS; step += 1) {
      await steps[below(random, steps.length)]?.();
      model.begin(clock.now());
    }
    for (const task of model.live()) scheduler.remove(task.id);
    for (const task of running.values()) {
      if (model.running.some((run) => run.task.id === task.task.id)) scheduler.release(task, null);
    }
    assert.deepEqual([scheduler.size, scheduler.listQueueKeys(), scheduler.listLongLanes(10)],
      [0, [], []]);
  });
}
