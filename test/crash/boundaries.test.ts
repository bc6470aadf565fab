import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { silentLogger } from '../../src/base/log.ts';
import { createNodeFiles, type Files } from '../../src/store/disk/files.ts';
import type { Store } from '../../src/store/store-port.ts';
import { openStore } from '../../src/store/store.ts';
import { below, createRandom, type Random } from '../support/random.ts';
import { createTemporaryFolder } from '../support/temporary-folder.ts';
import { COLLECTIONS } from '../support/workload.ts';

const root = createTemporaryFolder();

const KEYS = 1500;
const LENGTHS = [0, 300, 3_000, 60_000, 1_500_000];
const SHARES = [0.6, 0.9, 0.98, 0.999, 1];

/** Real files whose reads and writes take any part of what they are asked for. */
function createShortFiles(random: Random): Files {
  const files = createNodeFiles();
  const part = (bytes: Uint8Array): Uint8Array =>
    bytes.subarray(0, random() < 0.5 ? bytes.length : 1 + below(random, bytes.length));
  return {
    ...files,
    readSync: (descriptor, target, at) => files.readSync(descriptor, part(target), at),
    read: (descriptor, target, at) => files.read(descriptor, part(target), at),
    writeSync: (descriptor, source, at) => files.writeSync(descriptor, part(source), at),
    write: (descriptor, source, at) => files.write(descriptor, part(source), at),
  };
}

function open(directory: string, files: Files): Promise<Store> {
  return openStore({ directory, files, specs: COLLECTIONS, logger: silentLogger });
}

/** Puts and deletes of records of very different lengths, several in flight. */
async function write(
  store: Store, model: Map<string, string>, random: Random, count: number,
): Promise<void> {
  const pending: Promise<void>[] = [];
  for (let index = 0; index < count; index++) {
    const id = `b${below(random, KEYS)}`;
    const draw = random();
    const length = LENGTHS[SHARES.findIndex((share) => draw < share)] ?? 0;
    const isDeletion = random() < 0.2;
    const line = JSON.stringify({ id, text: 'é'.repeat(below(random, length / 2 + 1)), index });
    if (isDeletion) model.delete(id);
    else model.set(id, line);
    pending.push(store.transact((transaction) => {
      if (isDeletion) transaction.delete('books', id);
      else transaction.put('books', id, line);
    }));
    if (pending.length >= 20) await Promise.all(pending.splice(0));
  }
  await Promise.all(pending);
}

function checkEqual(store: Store, model: ReadonlyMap<string, string>): void {
  const books = store.collection('books');
  assert.equal(books.size, model.size);
  for (const [id, line] of model) {
    assert.ok(books.find(id)?.bytes.equals(Buffer.from(line)), id);
  }
}

test('records of any length, over many pieces of reading and writing, come back from both files',
  async () => {
    const random = createRandom(131);
    const files = createShortFiles(random);
    const directory = join(root, 'data');
    const model = new Map<string, string>();
    for (let round = 0; round < 4; round++) {
      const store = await open(directory, files);
      checkEqual(store, model);
      await write(store, model, random, 400);
      const compacted = round % 2 === 1 ? store.compact() : null;
      await write(store, model, random, 400);
      await compacted;
      await write(store, model, random, 200);
      checkEqual(store, model);
      await store.close();
    }
    const store = await open(directory, files);
    checkEqual(store, model);
    assert.ok(model.size > 500, `${model.size} records are left`);
    await store.close();
  });
