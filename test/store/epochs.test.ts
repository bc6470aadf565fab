import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EPOCHS, isPartOfLog, listEpochs } from '../../src/store/epochs.ts';
import { SERVER, addBook, openServer } from '../support/followed-store.ts';
import { Disk } from '../support/simulated-disk.ts';
import { SimulatedFiles } from '../support/simulated-files.ts';

test('a log that nobody has followed has no epochs', async () => {
  const files = new SimulatedFiles(new Disk());
  for (const id of ['a', 'b']) {
    const { store } = await openServer(files);
    await addBook(store, id);
    assert.equal(store.collection(EPOCHS.name).size, 0);
    await store.close();
  }
});

test('once it has been followed, each process that writes begins an epoch, and none besides',
  async () => {
    const files = new SimulatedFiles(new Disk());
    const first = await openServer(files);
    await addBook(first.store, 'a');
    await first.store.beginEpochs();
    await first.store.beginEpochs();
    await Promise.all(['b', 'c'].map((id) => addBook(first.store, id)));
    await first.store.close();
    // This one only reads.
    await (await openServer(files)).store.close();
    const second = await openServer(files);
    await second.store.beginEpochs();
    assert.equal(second.store.collection(EPOCHS.name).size, 1);
    await second.store.transact((transaction) => transaction.find('books', 'a'));
    assert.equal(second.store.collection(EPOCHS.name).size, 1, 'a read begins none');
    await Promise.all(['d', 'e'].map((id) => addBook(second.store, id)));
    await addBook(second.store, 'f');
    const epochs = listEpochs(second.store.collection(EPOCHS.name));
    assert.deepEqual(epochs.map(({ after }) => after), [1, 4]);
    await second.store.close();
  });

test('an epoch whose transaction is refused stands in the next one', async () => {
  const files = new SimulatedFiles(new Disk());
  const first = await openServer(files);
  await first.store.beginEpochs();
  await first.store.close();
  const { store } = await openServer(files);
  await assert.rejects(store.transact((transaction) => {
    transaction.put('books', 'x', '{"id":"x"}');
    throw new Error('no');
  }), /no/);
  files.bytesMax = files.disk.bytesUsed;
  await assert.rejects(addBook(store, 'a'), { code: 'storage_full' });
  files.bytesMax = Infinity;
  assert.equal(store.collection(EPOCHS.name).size, 1);
  await addBook(store, 'b');
  assert.deepEqual(listEpochs(store.collection(EPOCHS.name)).map(({ after }) => after), [0, 1]);
  await store.close();
  assert.ok(files.disk.paths.includes(`${SERVER}/journal-000001.jsonl`));
});

test('a state is a part of the logs that go on from it, and of no other', () => {
  const epochs = [{ id: 'one', after: 3 }, { id: 'two', after: 10 }, { id: 'three', after: 12 }];
  for (const [epoch, sequence, expected] of [
    ['one', 4, true], ['one', 10, true], ['one', 11, false], ['one', 3, false],
    ['two', 11, true], ['two', 12, true], ['two', 13, false], ['two', 10, false],
    ['three', 13, true], ['three', 20, true], ['three', 21, false], ['four', 5, false],
  ] as const) {
    assert.equal(isPartOfLog({ epoch, sequence }, epochs, 20), expected, `${epoch} ${sequence}`);
  }
});

test('only the last thousand epochs are kept', async () => {
  const files = new SimulatedFiles(new Disk());
  const { store } = await openServer(files);
  await store.transact((transaction) => {
    for (let number = 1000; number < 2005; number += 1) {
      const id = `e${number}`;
      transaction.put(EPOCHS.name, id, JSON.stringify({ id, after: 0 }));
    }
  });
  await store.close();
  const next = await openServer(files);
  await addBook(next.store, 'a');
  const epochs = listEpochs(next.store.collection(EPOCHS.name));
  assert.equal(epochs.length, 1000);
  assert.equal(epochs[0]?.id, 'e1006');
  await next.store.close();
});
