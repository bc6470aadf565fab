/** The part of a transport that says which tasks there are, for tests that add tasks themselves. */
import type { Transport } from '../../../src/webhooks/work/queue-worker.ts';
import { createMemoryStore } from '../../support/memory-store.ts';

type TaskStubs = Pick<Transport<string, unknown>,
  | 'records' | 'ending' | 'placeTask' | 'describeQueue' | 'describeOrder' | 'findLane'
  | 'isOrphaned' | 'onChange'>;

/** `findDueMs` says when a task whose result was written is due again; null: never. */
export function createTaskStubs(findDueMs: (id: string) => number | null): TaskStubs {
  const collection = createMemoryStore([{ name: 'tasks', key: 'id' }]).collection('tasks');
  return {
    records: {
      collection: {
        ...collection,
        findBytes: (id) => findDueMs(id) === null ? undefined : Buffer.from(id),
      },
      isTask: () => true, isPending: () => true, decode: (bytes) => bytes.toString(),
      computeDueMs: (id) => findDueMs(id) ?? 0,
    },
    ending: { collection: 'tasks', itemIdOf: (id) => id, stageEnd() {}, message: '' },
    placeTask: ({ item }) => ({ key: item, order: {} }),
    describeQueue: (key) => ({ key, target: key, mayStart: true }),
    describeOrder: () => null, findLane: () => null, isOrphaned: () => false, onChange() {},
  };
}
