/** What comes in one turn is one transaction. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TurnBatch } from '../../../src/webhooks/durable-queue/turn-batch.ts';
import { createMemoryStore } from '../../support/memory-store.ts';

const LETTERS = { name: 'letters', key: 'id' } as const;

function newBatch(bytes = 1): {
  readonly store: ReturnType<typeof createMemoryStore>;
  readonly batch: TurnBatch<string, string>;
  readonly staged: ReadonlySet<string>;
} {
  const store = createMemoryStore([LETTERS]);
  const staged = new Set<string>();
  const batch = new TurnBatch<string, string>(store, () => bytes, (transaction, ids) =>
    ids.map((id) => {
      if (id === 'bad') throw new Error('no such letter');
      staged.add(id);
      transaction.put(LETTERS.name, id, `{"id":"${id}"}`);
      return id.toUpperCase();
    }));
  return { store, batch, staged };
}

const linesOf = ({ lines }: ReturnType<typeof createMemoryStore>): number[] =>
  lines.map(({ length }) => length);

test('what comes in one turn is written in one transaction, each with its outcome', async () => {
  const { store, batch } = newBatch();
  assert.deepEqual(await Promise.all(['a', 'b', 'c'].map((id) => batch.write(id))),
    ['A', 'B', 'C']);
  assert.equal(await batch.write('d'), 'D');
  assert.deepEqual(linesOf(store), [3, 1]);
});

test('a transaction holds no more than half a mebibyte of it', async () => {
  const { store, batch } = newBatch(200 << 10);
  assert.deepEqual(await Promise.all(['a', 'b', 'c'].map((id) => batch.write(id))),
    ['A', 'B', 'C']);
  assert.deepEqual(linesOf(store), [2, 1]);
});

test('no more than a mebibyte of it are staged in one turn', async () => {
  const { batch, staged } = newBatch(1 << 20);
  const written = Promise.all(['a', 'b', 'c'].map((id) => batch.write(id)));
  await new Promise((resolve) => process.nextTick(resolve));
  assert.deepEqual([...staged], ['a']);
  assert.deepEqual(await written, ['A', 'B', 'C']);
  assert.deepEqual([...staged], ['a', 'b', 'c']);
});

test('where the transaction fails all of it has failed, and nothing is written', async () => {
  const { store, batch } = newBatch();
  const outcomes = await Promise.allSettled(['a', 'bad'].map((id) => batch.write(id)));
  assert.deepEqual(outcomes.map(({ status }) => status), ['rejected', 'rejected']);
  assert.deepEqual(linesOf(store), []);
});
