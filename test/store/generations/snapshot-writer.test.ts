import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadSnapshot } from '../../../src/store/generations/snapshot.ts';
import { writeSnapshot } from '../../../src/store/generations/snapshot-writer.ts';
import { StoredCollection } from '../../../src/store/records/collection.ts';
import { SimulatedFiles } from '../../support/simulated-files.ts';

const PATH = '/data/books.json';
const spec = { name: 'books', key: 'id' } as const;
const header = { collection: 'books', generation: 2, sequence: 9, collections: ['books'] };

/** A hundred records, whose neighbours lie apart, so that a snapshot moves all of them. */
function createCollection() {
  const files = new SimulatedFiles();
  files.makeDirectorySync('/data');
  const collection = new StoredCollection(spec);
  const put = (id: string, text: string): void => collection.apply(
    { collection: 'books', id, bytes: Buffer.from(JSON.stringify({ id, text })) });
  for (let index = 0; index < 100; index += 1) put(`k${index * 37 % 100}`, 'old');
  return { files, collection, put };
}

async function load(files: SimulatedFiles): Promise<StoredCollection> {
  const collection = new StoredCollection(spec);
  await loadSnapshot(files, PATH, collection);
  return collection;
}

test('every record is written, and lies beside its neighbours afterwards', async () => {
  const { files, collection } = createCollection();
  await writeSnapshot(files, PATH, header, collection.freeze(), () => false);
  collection.thaw();
  assert.equal((await load(files)).size, 100);
  assert.equal(collection.walk().nextSlices(1 << 20).length, 1);
  assert.equal(collection.findBytes('k7')?.toString(), '{"id":"k7","text":"old"}');
});

test('a record that is written while its snapshot is keeps its new version', async () => {
  const { files, collection, put } = createCollection();
  const writing = writeSnapshot(files, PATH, header, collection.freeze(), () => false);
  put('k7', 'new');
  collection.apply({ collection: 'books', id: 'k8', bytes: null });
  await writing;
  collection.thaw();
  assert.equal(collection.findBytes('k7')?.toString(), '{"id":"k7","text":"new"}');
  assert.equal(collection.findBytes('k8'), undefined);
  const loaded = await load(files);
  assert.equal(loaded.findBytes('k7')?.toString(), '{"id":"k7","text":"old"}');
  assert.equal(loaded.size, 100);
});

test('a snapshot with fewer records than its collection is not finished', async () => {
  const { files, collection } = createCollection();
  const frozen = { ...collection.freeze(), size: 101 };
  await assert.rejects(writeSnapshot(files, PATH, header, frozen, () => false),
    { name: 'AssertionError' });
});
