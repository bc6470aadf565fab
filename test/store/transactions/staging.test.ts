import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Transaction } from '../../../src/store/store-port.ts';
import { StoredCollection } from '../../../src/store/records/collection.ts';
import { StagedTransaction, Staging } from '../../../src/store/transactions/staging.ts';

function createStaging() {
  const books = new StoredCollection({ name: 'books', key: 'id', unique: ['isbn'] });
  return { books, staging: new Staging([books]) };
}

function put(transaction: Transaction, id: string, isbn = id): void {
  transaction.put('books', id, JSON.stringify({ id, isbn }));
}

/** A transaction that has run `run`. */
function stage(staging: Staging, run: (transaction: Transaction) => void): StagedTransaction {
  const transaction = new StagedTransaction(staging);
  run(transaction);
  return transaction;
}

test('a transaction depends on the latest batch whose records it has read, in any order', () => {
  const { staging } = createStaging();
  const [written, gathered] = [1, 2];
  stage(staging, (transaction) => put(transaction, 'a')).join(written);
  staging.startNextBatch();
  stage(staging, (transaction) => put(transaction, 'b')).join(gathered);
  const read = (...ids: string[]) => stage(staging, (transaction) => {
    for (const id of ids) transaction.find('books', id);
  }).dependsOn;
  assert.equal(read('a', 'b'), gathered);
  assert.equal(read('b', 'a'), gathered);
  assert.equal(read('a'), written);
  assert.equal(read('c'), null);
});

test('a transaction that is undone gives its memory back, and what it had replaced', () => {
  const { books, staging } = createStaging();
  const batch = 1;
  const first = stage(staging, (transaction) => put(transaction, 'a', 'old'));
  first.join(batch);
  const second = new StagedTransaction(staging);
  put(second, 'a', 'new');
  put(second, 'b');
  assert.equal(books.table.arena.garbageBytes, 0);
  second.undo();
  assert.equal(books.table.arena.garbageBytes,
    '{"id":"a","isbn":"new"},\n{"id":"b","isbn":"b"},\n'.length);
  stage(staging, (transaction) => {
    assert.equal(transaction.find('books', 'a')?.toString(), '{"id":"a","isbn":"old"}');
    assert.equal(transaction.find('books', 'b'), undefined);
  });
});

test('a transaction joins one batch, and stages no more', () => {
  const { staging } = createStaging();
  const open = new StagedTransaction(staging);
  open.join(1);
  assert.throws(() => open.join(2), { name: 'AssertionError' });
  assert.throws(() => put(open, 'a'), { name: 'AssertionError' });
});

test('one batch is written at a time', () => {
  const { staging } = createStaging();
  stage(staging, (transaction) => put(transaction, 'a')).join(1);
  staging.startNextBatch();
  assert.throws(() => staging.startNextBatch(), { name: 'AssertionError' });
  staging.dropCommitted();
  staging.startNextBatch();
});

test('a transaction lists the ids that it sees: committed, staged before it, and its own', () => {
  const { books, staging } = createStaging();
  const batch = 1;
  const first = stage(staging, (transaction) => {
    for (const id of ['d', 'b', 'a']) put(transaction, id);
  });
  first.join(batch);
  for (const operation of first.operations) books.apply(operation);
  staging.startNextBatch();
  staging.dropCommitted();
  assert.equal(books.size, 3);
  const gathered = 2;
  stage(staging, (transaction) => {
    transaction.delete('books', 'a');
    put(transaction, 'c');
  }).join(gathered);
  const { dependsOn } = stage(staging, (transaction) => {
    assert.deepEqual(transaction.listIds('books'), ['b', 'c', 'd']);
    put(transaction, '0');
    transaction.delete('books', 'b');
    assert.deepEqual(transaction.listIds('books'), ['0', 'c', 'd']);
  });
  assert.equal(dependsOn, gathered);
});

test('a transaction lists the ids that begin with a prefix, and waits for what is staged', () => {
  const { books, staging } = createStaging();
  const first = stage(staging, (transaction) => {
    for (const id of ['a.1', 'a.2', 'a.', 'a-', 'b.1']) put(transaction, id);
  });
  first.join(1);
  for (const operation of first.operations) books.apply(operation);
  staging.startNextBatch();
  staging.dropCommitted();
  const gathered = 2;
  stage(staging, (transaction) => {
    transaction.delete('books', 'a.2');
    put(transaction, 'c.');
    put(transaction, 'c.1');
  }).join(gathered);
  const { dependsOn } = stage(staging, (transaction) => {
    assert.deepEqual(transaction.listIds('books', 'a.'), ['a.1']);
    put(transaction, 'a.0');
    assert.deepEqual(transaction.listIds('books', 'a.'), ['a.0', 'a.1']);
    assert.deepEqual(transaction.listIds('books', 'c.'), ['c.1']);
    assert.deepEqual(transaction.listIds('books', 'd'), []);
  });
  assert.equal(dependsOn, gathered);
});

test('staged operations are listed with the latest of each record, and waited for', () => {
  const { staging } = createStaging();
  const gathered = 1;
  stage(staging, (transaction) => {
    put(transaction, 'a');
    put(transaction, 'b', 'first');
  }).join(gathered);
  const reader = stage(staging, (transaction) => {
    assert.equal([...transaction.listStaged('books')].length, 2);
  });
  assert.equal(reader.dependsOn, gathered);
  stage(staging, (transaction) => {
    put(transaction, 'b', 'second');
    put(transaction, 'c');
    transaction.delete('books', 'a');
    const staged = [...transaction.listStaged('books')].map(({ id, bytes }) =>
      `${id} ${bytes?.includes('second')}`);
    assert.deepEqual(staged.sort(), ['a undefined', 'b true', 'c false']);
  });
});

test('what a transaction reserves counts until it is applied or discarded', () => {
  const { staging } = createStaging();
  const batch = 1;
  const reserve = (id: string, amount: number) => stage(staging, (transaction) => {
    transaction.reserve('room', amount);
    put(transaction, id);
  });
  const count = () => new StagedTransaction(staging).countReserved('room');
  const [applied, abandoned] = [reserve('a', 1), reserve('b', 2)];
  applied.join(batch);
  abandoned.join(batch);
  assert.equal(count(), 3);
  const undone = new StagedTransaction(staging);
  undone.reserve('room', 8);
  assert.equal(undone.countReserved('room'), 11);
  undone.undo();
  assert.equal(count(), 3);
  applied.endReservations();
  assert.equal(count(), 2);
  staging.abandonAll([applied, abandoned]);
  assert.equal(count(), 0);
});

test('a transaction of many records knows who has a unique value after each operation', () => {
  const { staging } = createStaging();
  const batch = 1;
  stage(staging, (transaction) => put(transaction, 'first', 'theirs')).join(batch);
  const { dependsOn } = stage(staging, (transaction) => {
    const isTaken = { code: 'conflict' };
    for (let number = 0; number < 200; number += 1) put(transaction, `r${number}`, `i${number}`);
    assert.throws(() => put(transaction, 'other', 'i7'), isTaken);
    assert.throws(() => put(transaction, 'other', 'theirs'), isTaken);
    put(transaction, 'r7', 'free');
    put(transaction, 'other', 'i7');
    assert.throws(() => put(transaction, 'r7', 'i7'), isTaken);
    transaction.delete('books', 'other');
    put(transaction, 'r7', 'i7');
    put(transaction, 'new', 'free');
    assert.throws(() => put(transaction, 'r8', 'i7'), isTaken);
  });
  assert.equal(dependsOn, batch);
});
