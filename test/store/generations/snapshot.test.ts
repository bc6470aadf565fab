import assert from 'node:assert/strict';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { crc32 } from 'node:zlib';
import { StoredCollection } from '../../../src/store/records/collection.ts';
import { createNodeFiles } from '../../../src/store/disk/files.ts';
import {
  SNAPSHOT_END, encodeCount, encodeHeader, loadSnapshot, readHeader,
} from '../../../src/store/generations/snapshot.ts';
import { writeSnapshot } from '../../../src/store/generations/snapshot-writer.ts';
import { silentLogger } from '../../../src/base/log.ts';
import { openStore } from '../../../src/store/store.ts';
import { IS_LONG, longTest } from '../../support/long.ts';
import { below, createRandom } from '../../support/random.ts';
import { createTemporaryFolder } from '../../support/temporary-folder.ts';

const MEBIBYTE = 1 << 20;
const files = createNodeFiles();
const spec = { name: 'books', key: 'id' } as const;
const header = { collection: 'books', generation: 2, sequence: 9, collections: ['books'] };

function makeCollection(records: readonly string[]): StoredCollection {
  const collection = new StoredCollection(spec);
  for (const [index, text] of records.entries()) {
    const id = `k${String(index).padStart(6, '0')}`;
    const json = JSON.stringify({ id, text });
    collection.apply({ collection: 'books', id, bytes: Buffer.from(json) });
  }
  return collection;
}

async function write(collection: StoredCollection, path: string): Promise<void> {
  rmSync(path, { force: true });
  await writeSnapshot(files, path, header, collection.freeze(), () => false);
  collection.thaw();
}

async function load(path: string): Promise<StoredCollection> {
  const collection = new StoredCollection(spec);
  await loadSnapshot(files, path, collection);
  return collection;
}

function contentOf(collection: StoredCollection): string {
  const walk = collection.walk();
  const pieces: string[] = [];
  for (let runs = walk.nextSlices(MEBIBYTE); runs.length > 0; runs = walk.nextSlices(MEBIBYTE)) {
    pieces.push(Buffer.concat(runs).toString());
  }
  return pieces.join(',\n');
}

test('a snapshot of another format is refused with what to do', async () => {
  const path = join(createTemporaryFolder(), 'books.json');
  await write(makeCollection(['a']), path);
  const text = readFileSync(path, 'utf8');
  for (const format of ['1', '3', '20']) {
    writeFileSync(path, text.replace('hookshelf-snapshot-2', `hookshelf-snapshot-${format}`));
    await assert.rejects(readHeader(files, path), {
      code: 'damaged', message: new RegExp(`the format is hookshelf-snapshot-${format}, and this `
        + 'version reads hookshelf-snapshot-2 alone: go on with the hookshelf that wrote it'),
    });
  }
});

test('records are the same after writing and loading, wherever pieces of a file end', async () => {
  const path = join(createTemporaryFolder(), 'books.json');
  for (let shift = 0; shift < 48; shift += IS_LONG ? 1 : 5) {
    const collection = makeCollection(['x'.repeat(MEBIBYTE - 200 + shift), 'é', '', 'z']);
    await write(collection, path);
    assert.ok(contentOf(await load(path)) === contentOf(collection), `shifted by ${shift}`);
  }
});

const LARGE = [
  ['many small ones', Array.from({ length: 30_000 }, (_, index) => 'y'.repeat(index % 200))],
  ['one alone', ['x']],
  ['one of several mebibytes', ['a', 'x'.repeat(3 * MEBIBYTE + 7), 'b']],
  ['a very large last one', ['a', 'x'.repeat(2 * MEBIBYTE)]],
  ['several large ones', Array.from({ length: 5 }, (_, index) => 'x'.repeat(index * 700_000))],
] as const;

for (const [what, texts] of LARGE) {
  test(`a snapshot of ${what} comes back`, async () => {
    const path = join(createTemporaryFolder(), 'books.json');
    const collection = makeCollection(texts);
    await write(collection, path);
    const loaded = await load(path);
    assert.ok(contentOf(loaded) === contentOf(collection));
    assert.equal(loaded.size, texts.length);
    assert.equal(loaded.bytesTotal, collection.bytesTotal);
    // Records that were loaded are written again as they are.
    const again = `${path}.again`;
    await write(loaded, again);
    assert.ok(readFileSync(again).equals(readFileSync(path)));
  });
}

test('a snapshot is a picture of one moment, whatever is written meanwhile', async () => {
  const path = join(createTemporaryFolder(), 'books.json');
  const random = createRandom(5);
  const collection = makeCollection(Array.from({ length: 20_000 }, () => 'x'.repeat(100)));
  const before = contentOf(collection);
  const writing = writeSnapshot(files, path, header, collection.freeze(), () => false);
  let isDone = false;
  let changed = 0;
  void writing.then(() => {
    isDone = true;
  });
  while (!isDone) {
    for (let count = 0; count < 200; count += 1) {
      const id = `k${String(below(random, 30_000)).padStart(6, '0')}`;
      if (count % 3 === 0 && collection.find(id) !== undefined) {
        collection.apply({ collection: 'books', id, bytes: null });
      } else {
        const json = JSON.stringify({ id, text: 'new' });
        collection.apply({ collection: 'books', id, bytes: Buffer.from(json) });
      }
      changed += 1;
    }
    await new Promise(setImmediate);
  }
  collection.thaw();
  assert.ok(changed >= 400, `${changed} changes meanwhile`);
  assert.ok(contentOf(collection) !== before);
  assert.ok(contentOf(await load(path)) === before);
});

test('writing a snapshot lays scattered records side by side and frees what is dead', async () => {
  const path = join(createTemporaryFolder(), 'books.json');
  const random = createRandom(5);
  const collection = makeCollection(Array.from({ length: 5000 }, () => 'x'.repeat(300)));
  for (let count = 0; count < 20_000; count += 1) {
    const id = `k${String(below(random, 5000)).padStart(6, '0')}`;
    const json = JSON.stringify({ id, text: 'y'.repeat(300) });
    collection.apply({ collection: 'books', id, bytes: Buffer.from(json) });
  }
  const content = contentOf(collection);
  const garbageBefore = collection.table.arena.garbageBytes;
  await write(collection, path);
  assert.ok(contentOf(collection) === content);
  assert.ok(garbageBefore > 2 * MEBIBYTE, String(garbageBefore));
  // The chunk that is being filled stays, whatever has died in it.
  assert.ok(collection.table.arena.garbageBytes < 1.25 * MEBIBYTE);
  assert.equal(collection.walk().nextSlices(MEBIBYTE / 4).length, 1);
});

longTest('a change of any one byte of a large snapshot is found, and its line named', async () => {
  const path = join(createTemporaryFolder(), 'books.json');
  const random = createRandom(11);
  await write(makeCollection(Array.from({ length: 9000 }, () => 'x'.repeat(200))), path);
  const good = readFileSync(path);
  for (let round = 0; round < 25; round += 1) {
    const bad = Buffer.from(good);
    const offset = below(random, bad.length);
    bad[offset] = (bad[offset] ?? 0) ^ (1 << below(random, 8));
    writeFileSync(path, bad);
    await assert.rejects(load(path), {
      code: 'damaged', message: /^books\.json, line \d+, offset \d+: /,
    }, `at ${offset}`);
  }
  for (const bad of [good.subarray(0, -1), good.subarray(0, MEBIBYTE), Buffer.alloc(0),
    Buffer.concat([good, Buffer.from('\n')]), Buffer.alloc(5000)]) {
    writeFileSync(path, bad);
    await assert.rejects(load(path), { code: 'damaged' });
  }
});

longTest('transactions of several mebibytes are replayed', async () => {
  const directory = createTemporaryFolder();
  const open = () => openStore({ directory, files, specs: [spec], logger: silentLogger });
  const store = await open();
  const json = JSON.stringify({ id: 'a', text: 'x'.repeat(5 * MEBIBYTE) });
  await store.transact((transaction) => {
    transaction.put('books', 'a', json);
    for (let count = 0; count < 5000; count += 1) {
      transaction.put('books', `b${count}`, `{"id":"b${count}"}`);
    }
  });
  await store.close();
  const reopened = await open();
  assert.ok(reopened.collection('books').find('a')?.bytes.toString() === json);
  assert.equal(reopened.collection('books').size, 5001);
  await reopened.close();
});

test('a snapshot whose keys do not rise is damaged, though its checksum is right', async () => {
  const path = join(createTemporaryFolder(), 'books.json');
  for (const ids of [['b', 'a'], ['a', 'a'], ['a', 'c', 'b']]) {
    const records = ids.map((id) => `{"id":"${id}"}`).join(',\n');
    const content = `${encodeHeader(header)}${records}\n${encodeCount(ids.length)}`;
    const crc = crc32(content).toString(16).padStart(8, '0');
    writeFileSync(path, `${content}${crc}${SNAPSHOT_END}`);
    await assert.rejects(load(path), { code: 'damaged' }, ids.join());
  }
});
