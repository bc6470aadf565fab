/** Tasks for tests: the part of an attempter that says which there are, and a start of all. */
import type { Attempter } from '../../../src/webhooks/work/queue-worker.ts';
import type { Scheduler } from '../../../src/webhooks/work/scheduler.ts';
import type { RunningTask } from '../../../src/webhooks/work/task.ts';
import { createMemoryStore } from '../../support/memory-store.ts';

type TaskStubs = Pick<Attempter<string, unknown>,
  'records' | 'webhookQueues' | 'placeTask' | 'describeQueue'>;

/** `findDueMs` says when a task whose result was written is due again; null: never. */
export function createTaskStubs(findDueMs: (id: string) => number | null): TaskStubs {
  const collection = createMemoryStore([{ name: 'tasks', key: 'id' }]).collection('tasks');
  return {
    records: {
      collection: Object.assign(collection, {
        findBytes: (id: string) => findDueMs(id) === null ? undefined : Buffer.from(id),
      }),
      isTask: () => true, isPending: () => true, decode: (bytes) => bytes.toString(),
      computeDueMs: (id) => findDueMs(id) ?? 0,
    },
    webhookQueues: null,
    placeTask: ({ item }) => ({ key: item, order: {} }),
    describeQueue: (key) => ({ key, target: key, mayStart: true }),
  };
}

export function startAll(scheduler: Scheduler): RunningTask[] {
  const running: RunningTask[] = [];
  for (let next = scheduler.startNext(); next !== null; next = scheduler.startNext()) {
    running.push(next);
  }
  return running;
}
