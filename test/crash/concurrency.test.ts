import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError } from '../../src/base/errors.ts';
import type { Store, Transaction } from '../../src/store/store-port.ts';
import { openOn } from '../support/open-store.ts';
import { Disk } from '../support/simulated-disk.ts';
import type { Call, Fault } from '../support/simulated-files.ts';

const WRITERS = 100;

type Result = { readonly writer: number; readonly code: string };

/** Each writer replaces version 0 of one book, expecting to find it. */
function replaceExpected(writer: number): (transaction: Transaction) => void {
  return (transaction) => {
    const book = transaction.find('books', 'b')?.toString();
    if (book !== '{"id":"b","by":"none"}') throw new AppError('precondition_failed', 'changed');
    transaction.put('books', 'b', `{"id":"b","by":"${writer}"}`);
  };
}

function createWithSlug(writer: number): (transaction: Transaction) => void {
  return (transaction) => {
    transaction.put('hooks', `h${writer}`, `{"identifier":"h${writer}","slug":"only"}`);
  };
}

/** All at once, spread over some turns of the loop so that they land in several batches. */
async function race(
  store: Store, prepare: (writer: number) => (transaction: Transaction) => void,
): Promise<Result[]> {
  return Promise.all(Array.from({ length: WRITERS }, async (_, writer) => {
    for (let turn = writer % 7; turn > 0; turn--) await new Promise(setImmediate);
    return store.transact(prepare(writer)).then(
      () => ({ writer, code: 'done' }),
      (error: unknown) => ({ writer, code: error instanceof AppError ? error.code : 'bug' }),
    );
  }));
}

function writersWith(results: readonly Result[], code: string): number[] {
  return results.filter((result) => result.code === code).map(({ writer }) => writer);
}

async function openWithBook(): Promise<Awaited<ReturnType<typeof openOn>>> {
  const opened = await openOn(new Disk());
  await opened.store.transact((transaction) => {
    transaction.put('books', 'b', '{"id":"b","by":"none"}');
  });
  return opened;
}

function failOnce(kind: Call['kind'], fault: Fault): (call: Call) => Fault | null {
  let isDone = false;
  return (call) => {
    if (isDone || call.kind !== kind) return null;
    isDone = true;
    return fault;
  };
}

test('of 100 writers with one expectation exactly one passes', async () => {
  const { store } = await openWithBook();
  const results = await race(store, replaceExpected);
  const [winner, ...others] = writersWith(results, 'done');
  assert.deepEqual(others, []);
  assert.equal(writersWith(results, 'precondition_failed').length, WRITERS - 1);
  const book = store.collection('books').find('b')?.bytes.toString();
  assert.equal(book, `{"id":"b","by":"${winner}"}`);
  await store.close();
});

test('of 100 creators of one unique key exactly one passes', async () => {
  const { store } = await openWithBook();
  const results = await race(store, createWithSlug);
  const [winner, ...others] = writersWith(results, 'done');
  assert.deepEqual(others, []);
  assert.equal(writersWith(results, 'conflict').length, WRITERS - 1);
  assert.equal(store.collection('hooks').size, 1);
  assert.ok(store.collection('hooks').find(`h${winner}`) !== undefined);
  await store.close();
});

for (const [name, prepare] of [
  ['replace', replaceExpected], ['create', createWithSlug],
] as const) {
  test(`when the batch of the ${name} that won finds no room, at most one later one wins`,
    async () => {
      const { store, files } = await openWithBook();
      files.onCall = failOnce('write', { code: 'ENOSPC' });
      const results = await race(store, prepare);
      const refused = writersWith(results, 'storage_full');
      const winners = writersWith(results, 'done');
      assert.ok(refused.length > 0, 'the batch failed');
      assert.ok(winners.length <= 1, `winners: ${winners.join()}`);
      const held = name === 'create'
        ? store.collection('hooks').find(`h${winners[0]}`)?.bytes
        : store.collection('books').find('b')?.bytes;
      if (winners.length === 1) assert.ok(held?.includes(String(winners[0])));
      else assert.equal(store.collection('hooks').size, 0);
      await store.close();
    });

  test(`when the batch of the ${name} that won fails to sync, nobody is told that somebody won`,
    async () => {
      const { store, files } = await openWithBook();
      files.onCall = failOnce('datasync', { code: 'EIO' });
      const results = await race(store, prepare);
      const codes = new Set(results.map(({ code }) => code));
      assert.ok([...codes].every((code) => ['unknown_outcome', 'unavailable'].includes(code)),
        [...codes].join());
      assert.ok(writersWith(results, 'unknown_outcome').length > 0);
      assert.equal(store.collection('books').find('b')?.bytes.toString(),
        '{"id":"b","by":"none"}');
      assert.equal(store.collection('hooks').size, 0);
      await store.close();
    });
}
