import assert from 'node:assert/strict';
import { getHeapStatistics } from 'node:v8';
import { test } from 'node:test';
import { MatchIndex } from '../../../../src/books/transfer/matching/match-index.ts';
import { createMatchKeys } from '../../../../src/books/transfer/matching/match-key.ts';
import type { Change, Collection } from '../../../../src/store/store-port.ts';
import { heldBytes } from '../../../support/memory.ts';
import { below, createRandom } from '../../../support/random.ts';

type Listener = (change: Pick<Change, 'before' | 'after'>, slot: number) => void;

/** An index of books by their ISBNs, and what changes the book in a slot. */
async function makeIndex(isbns: (string | null)[]) {
  let tell: Listener = () => {};
  const bytesOf = (isbn: string | null | undefined): Buffer | null =>
    isbn === null || isbn === undefined ? null : Buffer.from(JSON.stringify({ title: 'A', isbn }));
  const collection = {
    slotBound: isbns.length,
    bytesAt: (slot: number) => bytesOf(isbns[slot]) ?? undefined,
    idAt: (slot: number) => String(slot),
    onChange(listener: Listener) {
      tell = listener;
      return () => {};
    },
  };
  const change = (slot: number, isbn: string | null): void => {
    const before = bytesOf(isbns[slot]);
    isbns[slot] = isbn;
    tell({ before, after: bytesOf(isbn) }, slot);
  };
  const turns = {
    run: () => Promise.resolve(null),
    runLater<Result>(steps: Generator<void, Result, void>) {
      for (;;) {
        const step = steps.next();
        if (step.done === true) return Promise.resolve(step.value);
      }
    },
  };
  const index = new MatchIndex(
    { collection: collection as unknown as Collection, turns }, createMatchKeys('isbn', null));
  await index.whenReady;
  return { index, change };
}

test('books are found by the key that they have now, each once', async () => {
  const random = createRandom(5);
  const isbns = Array.from({ length: 200 }, (): string | null => null);
  const { index, change } = await makeIndex(isbns);
  for (let round = 0; round < 3000; round += 1) {
    change(below(random, isbns.length), random() < 0.2 ? null : `${below(random, 40)}`);
  }
  for (let key = 0; key < 40; key += 1) {
    const expected = [...isbns.keys()].filter((slot) => isbns[slot] === `${key}`).map(String);
    assert.deepEqual([...index.find(`${key}`)].sort(), expected.sort());
  }
});

test('many books of one key are taken in one after another, and the first are found', async () => {
  const { index } = await makeIndex(Array.from({ length: 100_000 }, () => 'alike'));
  const found = index.find('alike');
  assert.equal(new Set([found.next().value, found.next().value]).size, 2);
});

test('a book takes some 32 bytes at most, of the heap hardly any, which may be small', async () => {
  const isbns = Array.from({ length: 200_000 }, (_, number) => `${number}`);
  const before = heldBytes();
  const heapBefore = getHeapStatistics().used_heap_size;
  const { index } = await makeIndex(isbns);
  const bytes = heldBytes() - before;
  assert.ok(bytes < 36 * isbns.length, `${bytes} bytes`);
  assert.ok(getHeapStatistics().used_heap_size - heapBefore < 8 * isbns.length);
  assert.deepEqual([...index.find('777')], ['777']);
});
