/** The worker, with an attempter that does as it is told. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError } from '../../../src/base/errors.ts';
import { ALL_OWNED, unlessCutOff, type Ownership } from '../../../src/webhooks/work/ownership.ts';
import {
  QueueWorker, type Attempter, type Parking,
} from '../../../src/webhooks/work/queue-worker.ts';
import { Scheduler } from '../../../src/webhooks/work/scheduler.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { createMemoryStore } from '../../support/memory-store.ts';
import { turnsUntil } from '../../support/turns.ts';
import { createContext } from '../context.ts';
import { ScriptedOwnership } from './scripted-ownership.ts';
import { createTaskStubs } from './task-stubs.ts';

/** A worker with one task, whose attempt succeeds unless `members` say otherwise. */
function open(
  members: Partial<Attempter<string, string>> = {},
  findDueMs: (id: string) => number | null = () => null, ownership: Ownership = ALL_OWNED,
) {
  const clock = new ManualClock();
  const logLines: string[] = [];
  const store = createMemoryStore([]);
  const scheduler = new Scheduler(clock, { runningMax: 8, runningPerQueueMax: 8 });
  const written: string[] = [];
  const worker = new QueueWorker<string, string>(
    createContext({ store, clock, ownership, writeLog: (line) => logLines.push(line) }),
    scheduler, {
      ...createTaskStubs(findDueMs),
      noun: 'an attempt', mayBegin: () => true, runAttempt: (id) => ({ result: id }),
      countAndAssess: () => 'answered',
      writeResult: async (result) => {
        written.push(result);
        return result;
      },
      logLabels: (id) => ({ id }), ...members,
    });
  scheduler.add('task', { key: 'queue', target: 'there', mayStart: true }, 0);
  return { worker, scheduler, store, clock, written, logLines };
}

function throwPlanted(): never {
  throw new TypeError('planted');
}

test('a result is written although countAndAssess throws', async () => {
  const { worker, scheduler, written, logLines } = open({ countAndAssess: throwPlanted });
  worker.start();
  await turnsUntil(() => scheduler.size === 0);
  assert.deepEqual([written, scheduler.runningCount], [['task'], 0]);
  assert.match(logLines.join(), /planted/);
  await worker.close(0);
});

for (const [title, members] of [
  ['after a result', {}], ['without a result', { runAttempt: () => null }],
] as const) {
  test(`a task waits again if nobody can say when it is due, ${title}`, async () => {
    let isBroken = true;
    const { worker, scheduler, clock } = open(members, () => isBroken ? throwPlanted() : null);
    worker.start();
    await turnsUntil(() => scheduler.find('task')?.state === 'waiting');
    assert.equal(scheduler.runningCount, 0);
    isBroken = false;
    await clock.advance(60_000);
    await turnsUntil(() => scheduler.size === 0);
    await worker.close(0);
  });
}

test('a worker closed in the turn in which it was to start tasks starts no timer', async () => {
  const { worker, store, clock } = open();
  store.setFailure(new AppError('storage_full', 'planted'));
  worker.start();
  const closing = worker.close(0);
  await new Promise(setImmediate);
  await closing;
  assert.equal(clock.timerCount, 0);
});

test('a second close resolves when the attempts have ended, too', async () => {
  let endAttempt = (): void => {};
  const { worker, scheduler } = open({
    runAttempt: () => new Promise((resolve) => {
      endAttempt = () => resolve(null);
    }),
  });
  worker.start();
  await turnsUntil(() => scheduler.runningCount === 1);
  void worker.close(1000);
  let isClosed = false;
  const closing = worker.close(1000).then(() => {
    isClosed = true;
  });
  await new Promise(setImmediate);
  assert.equal(isClosed, false);
  endAttempt();
  await closing;
  assert.equal(scheduler.runningCount, 0);
});

test('a run that is cut off and comes to wait later leaves the next attempt parked', async () => {
  const ownership = new ScriptedOwnership();
  const lease = ownership.gain('queue');
  const attempts: { readonly parking: Parking; readonly end: () => void }[] = [];
  const { worker, scheduler } = open({
    runAttempt: (_, { endSignal }, __, parking) =>
      unlessCutOff(new Promise<null>((resolve) => {
        attempts.push({ parking, end: () => resolve(null) });
      }), endSignal ?? new AbortController().signal),
  }, () => 0, ownership);
  worker.start();
  await turnsUntil(() => attempts.length === 1);
  ownership.gain('queue');
  lease.cutOff();
  scheduler.requestRun();
  await turnsUntil(() => attempts.length === 2);
  const [first, second] = attempts;
  second?.parking.park(() => second.end());
  // The first waits for what gives it up, and then no longer.
  first?.parking.park(() => first.parking.resume());
  assert.equal(scheduler.runningCount, 0);
  await worker.close(60_000);
});
