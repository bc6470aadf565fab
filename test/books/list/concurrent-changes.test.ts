import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ConcurrentChanges } from '../../../src/books/list/concurrent-changes.ts';
import { createWholeCatalogCache } from '../../../src/books/list/book-source.ts';
import { FakeCollection } from '../../support/fake-collection.ts';
import { longTest } from '../../support/long.ts';

const MEBIBYTE = 2 ** 20;

longTest('books that change under a slow reader are kept up to 8 MiB, as copies', () => {
  const collection = new FakeCollection();
  const books = Array.from({ length: 12 }, (_, index) =>
    ({ id: `id-${index + 10}`, title: 'x'.repeat(MEBIBYTE) }));
  for (const book of books) collection.put(book);
  const changes = new ConcurrentChanges(collection);
  const before = books.map(({ id }, slot) => {
    changes.keepUntilTaken(slot);
    return collection.findBytes(id);
  });
  for (const { id } of books) collection.put({ id, title: 'y' });
  const kept = books.map((_, slot) => changes.take(slot));
  const count = kept.filter((bytes) => bytes !== undefined).length;
  assert.equal(count, 7, 'each is a little over 1 MiB');
  for (const [slot, bytes] of kept.slice(0, count).entries()) {
    assert.ok(bytes !== undefined && before[slot]?.equals(bytes) === true);
    assert.notEqual(bytes.buffer, before[slot].buffer, 'a view would hold the whole block');
  }
  const [book] = books;
  assert.ok(book !== undefined);
  for (let round = 0; round < 2 * books.length; round += 1) {
    collection.put(book);
    changes.keepUntilTaken(0);
    collection.put({ ...book, title: 'y' });
    assert.ok(changes.take(0) !== undefined, 'a copy that was taken counts no longer');
  }
  changes.stop();
  assert.equal(collection.listenerCount, 0);
});

test('a slot is kept once, as its book was when it was first found', () => {
  for (const [title, isKept] of [['a', true], ['x'.repeat(9 * MEBIBYTE), false]] as const) {
    const collection = new FakeCollection();
    collection.put({ id: 'id', title });
    const found = collection.findBytes('id');
    const changes = new ConcurrentChanges(collection);
    changes.keepUntilTaken(0);
    collection.put({ id: 'id', title: 'b' });
    changes.keepUntilTaken(0);
    assert.deepEqual(changes.take(0), isKept ? found : undefined);
    assert.equal(changes.take(0), undefined, 'it was sent');
  }
});

test('what was recorded is forgotten when another search begins', () => {
  const collection = new FakeCollection();
  for (const id of ['a', 'b']) collection.put({ id });
  const changes = new ConcurrentChanges(collection);
  collection.delete('a');
  changes.keepUntilTaken(1);
  changes.stopRecording();
  changes.recordAnew();
  assert.deepEqual([[...changes.changedSlots], [...changes.deletedSlots]], [[], []]);
  assert.equal(changes.take(1), undefined);
  collection.delete('b');
  assert.deepEqual([[...changes.changedSlots], [...changes.deletedSlots]], [[1], [['b', [1]]]]);
});

test('a small collection is one buffer from the second ask on, a large one never', () => {
  for (const [length, isHeld] of [[1000, true], [9 * MEBIBYTE, false]] as const) {
    const collection = new FakeCollection();
    collection.put({ id: 'a', title: 'x'.repeat(length) });
    const findOrBuildWhole = createWholeCatalogCache(collection);
    assert.equal(findOrBuildWhole(), null);
    const first = findOrBuildWhole();
    assert.equal(first !== null, isHeld, `${length}`);
    assert.equal(findOrBuildWhole(), first);
    collection.put({ id: 'a', title: 'y' });
    assert.equal(findOrBuildWhole(), null, 'it is made anew after a change');
  }
});
