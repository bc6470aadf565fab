import assert from 'node:assert/strict';
import { linkSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { systemClock } from '../../../src/base/clock.ts';
import type { Clock } from '../../../src/base/clock.ts';
import { silentLogger } from '../../../src/base/log.ts';
import { createNodeFiles } from '../../../src/store/disk/files.ts';
import { deleteGradually } from '../../../src/store/generations/gradual-deletion.ts';
import { openStore } from '../../../src/store/store.ts';
import type { OpenedStore } from '../../../src/store/store.ts';
import { imagesOf } from '../../support/crashes.ts';
import { Disk } from '../../support/simulated-disk.ts';
import { SimulatedFiles } from '../../support/simulated-files.ts';
import { inFolder } from '../../support/temporary-folder.ts';
import { someTurns } from '../../support/turns.ts';
import { longTest } from '../../support/long.ts';

const PATH = '/data/books-000002.json';
const CONTENT = Buffer.from('0123456789');

function withFile(): SimulatedFiles {
  const disk = new Disk();
  const files = new SimulatedFiles(disk);
  files.makeDirectorySync('/data');
  files.syncDirectorySync('/');
  disk.replace(PATH, CONTENT);
  return new SimulatedFiles(disk);
}

function deleteIt(
  files: SimulatedFiles, skipThrottling = () => false, clock: Clock = systemClock,
): Promise<void> {
  return deleteGradually(PATH, { files, clock, chunkBytes: 3, skipThrottling });
}

test('a file is cut off from its end, each cut synced, without its name', async () => {
  const files = withFile();
  await deleteIt(files);
  assert.deepEqual(files.history.map((one) =>
    one.kind === 'truncate' ? `${one.path} to ${one.length}` : `${one.kind} ${one.path}`), [
    `rename ${PATH}`, 'sync-directory /data',
    `${PATH} to 7`, `datasync ${PATH}`, `${PATH} to 4`, `datasync ${PATH}`,
    `${PATH} to 1`, `datasync ${PATH}`, `unlink ${PATH}.tmp`,
  ]);
  assert.deepEqual(files.listSync('/data'), []);
  assert.deepEqual(files.openPaths, []);
});

test('no crash leaves a file that is cut under its name', async () => {
  const files = withFile();
  await deleteIt(files);
  const found = new Set<string>();
  for (const { disk, origin } of imagesOf(files, { seeds: 20, pageBytes: 2 })) {
    const isThere = disk.find(PATH) !== undefined;
    if (isThere) assert.deepEqual(disk.read(PATH), CONTENT, origin);
    found.add(`${isThere} ${disk.find(`${PATH}.tmp`) !== undefined}`);
  }
  assert.deepEqual([...found].sort(), ['false false', 'false true', 'true false']);
});

test('who is in a hurry deletes the rest at once', async () => {
  const files = withFile();
  let asked = 0;
  await deleteIt(files, () => (asked += 1) > 2);
  assert.deepEqual(files.history.map(({ kind }) => kind),
    ['rename', 'sync-directory', 'truncate', 'datasync', 'unlink']);
  const hurried = withFile();
  await deleteIt(hurried, () => true);
  assert.deepEqual(hurried.history.map(({ kind }) => kind), ['unlink']);
  const small = withFile();
  await deleteGradually(PATH,
    { files: small, clock: systemClock, chunkBytes: 10, skipThrottling: () => false });
  assert.deepEqual(small.history.map(({ kind }) => kind), ['unlink']);
});

test('a portion that stood still for hours is followed by a short pause', async () => {
  const files = withFile();
  const pauses: number[] = [];
  let nowMs = 0;
  await deleteIt(files, () => false, {
    ...systemClock,
    monotonicMs: () => (nowMs += 3_600_000),
    startTimer(delayMs, run) {
      pauses.push(delayMs);
      return systemClock.startTimer(0, run);
    },
  });
  assert.deepEqual(pauses, [100, 100, 100]);
});

test('what may not be written is deleted none the less', async () => {
  const files = withFile();
  files.onCall = ({ kind }) => kind === 'open' ? { code: 'EACCES' } : null;
  await deleteIt(files);
  assert.deepEqual(files.history.map(({ kind }) => kind), ['unlink']);
});

test('what has another name keeps its content there', async () => {
  await inFolder(async (folder) => {
    const path = join(folder, 'books-000002.json');
    writeFileSync(path, CONTENT);
    linkSync(path, join(folder, 'kept'));
    const files = createNodeFiles();
    const options = { files, clock: systemClock, chunkBytes: 3, skipThrottling: () => false };
    await deleteGradually(path, options);
    assert.deepEqual(readdirSync(folder), ['kept']);
    assert.deepEqual(readFileSync(join(folder, 'kept')), CONTENT);
  });
});

test('a file is gone although it could not be cut, and what failed is said', async () => {
  for (const kind of ['truncate', 'datasync', 'sync-directory']) {
    const files = withFile();
    files.onCall = (call) => call.kind === kind ? { code: 'EIO' } : null;
    await assert.rejects(deleteIt(files), { code: 'EIO' });
    assert.deepEqual(files.listSync('/data'), []);
    assert.deepEqual(files.openPaths, []);
  }
});

function open(files: SimulatedFiles): Promise<OpenedStore> {
  return openStore({
    directory: '/data', files, specs: [{ name: 'books', key: 'id' }], logger: silentLogger,
  });
}

function write(store: OpenedStore, mebibytes: number): Promise<unknown> {
  return store.transact((transaction) => transaction.put('books', 'a',
    JSON.stringify({ id: 'a', text: 'a'.repeat(mebibytes << 20) })));
}

function cutsOf(files: SimulatedFiles): string[] {
  return files.history.filter(({ kind }) => kind === 'truncate').map(({ path }) => path);
}

/** Runs `meanwhile` while the first cut of an old file, which would be cut thrice, is under way. */
async function inFirstCut(
  meanwhile: (store: OpenedStore) => Promise<unknown>,
): Promise<SimulatedFiles> {
  const files = new SimulatedFiles();
  const store = await open(files);
  await write(store, 15);
  for (let count = 0; count < 2; count += 1) await store.compact();
  const truncate = files.truncate.bind(files);
  let goOn = (): void => {};
  const mayGoOn = new Promise<void>((resolve) => { goOn = resolve; });
  let begin = (): void => {};
  const hasBegun = new Promise<void>((resolve) => { begin = resolve; });
  files.truncate = async (descriptor, length) => {
    begin();
    await mayGoOn;
    return truncate(descriptor, length);
  };
  const compacted = store.compact();
  await hasBegun;
  const ended = meanwhile(store);
  await Promise.race([ended, someTurns(20)]);
  goOn();
  await Promise.all([compacted, ended]);
  await store.close();
  return files;
}

longTest('what is written faster than it is deleted is not cut any further', async () => {
  const files = await inFirstCut(async (store) => {
    for (let count = 0; count < 3; count += 1) await write(store, 9);
  });
  assert.deepEqual(cutsOf(files), ['/data/books-000002.json']);
});

test('a stop does not wait until old files are cut', async () => {
  const files = await inFirstCut((store) => store.close());
  assert.deepEqual(cutsOf(files), ['/data/books-000002.json']);
  assert.ok(!files.existsSync('/data/books-000002.json'));
  assert.deepEqual(files.openPaths, []);
});

longTest('old files that a compaction cannot delete are deleted by the next', async () => {
  const files = new SimulatedFiles();
  const store = await open(files);
  await write(store, 9);
  for (let count = 0; count < 2; count += 1) await store.compact();
  files.onCall = ({ kind }) => kind === 'unlink' ? { code: 'EIO' } : null;
  await store.compact();
  assert.equal(store.statistics.generation, 4);
  assert.ok(files.listSync('/data').includes('books-000002.json.tmp'));
  files.onCall = () => null;
  await store.compact();
  assert.deepEqual(files.listSync('/data').filter((name) => name.startsWith('books')).sort(),
    ['books-000004.json', 'books-000005.json']);
  await store.close();
});

test('a start does not wait until old files are cut', async () => {
  const files = new SimulatedFiles();
  const store = await open(files);
  await write(store, 9);
  for (let count = 0; count < 2; count += 1) await store.compact();
  await store.close();
  files.closeSync(files.openSync('/data/journal-000003.unsynced', 'create'));
  const reopened = await open(files);
  assert.equal(reopened.statistics.generation, 4);
  assert.ok(!files.existsSync('/data/books-000002.json'));
  assert.deepEqual(cutsOf(files), []);
  await reopened.close();
});

longTest('compaction cuts what nobody can have open, nothing a backup or reader has', async () => {
  const files = new SimulatedFiles();
  const store = await open(files);
  let cut: string[] = [];
  files.onCall = ({ kind, path }) => {
    const name = path.replace('/data/', '');
    if (kind === 'truncate' && cut.at(-1) !== name) cut.push(name);
    return null;
  };
  const compactAfterAll = async (): Promise<readonly string[]> => {
    cut = [];
    // Of two such journals that no start reads one is kept.
    await write(store, 9);
    await store.compact();
    return cut;
  };
  assert.deepEqual(await compactAfterAll(), []);
  const backup = await store.openBackupSources();
  const names = backup.files.map(({ name }) => name);
  assert.deepEqual(names, ['books-000002.json', 'journal-000002.jsonl']);
  assert.deepEqual(await compactAfterAll(), []);
  assert.deepEqual(await compactAfterAll(), [], 'what was there then may be open elsewhere too');
  assert.ok(!files.existsSync('/data/books-000002.json'));
  assert.ok(!files.existsSync('/data/journal-000001.jsonl'));
  for (const { descriptor, bytes } of backup.files) assert.ok(files.sizeSync(descriptor) >= bytes);
  backup.close();
  const reader = await store.changes.since(2);
  assert.equal((await reader?.next(3))?.length, 1, 'it reads journal 3');
  assert.deepEqual(await compactAfterAll(), [], 'so it is with what was there before');
  assert.deepEqual(await compactAfterAll(), ['books-000004.json']);
  assert.equal((await reader?.next(4))?.length, 1, 'it has gone on to journal 4');
  reader?.close();
  assert.deepEqual(await compactAfterAll(), ['books-000005.json']);
  assert.deepEqual(await compactAfterAll(), ['books-000006.json', 'journal-000005.jsonl']);
  assert.deepEqual(files.listSync('/data').sort(), [
    'books-000007.json', 'books-000008.json', 'journal-000006.jsonl', 'journal-000007.jsonl',
    'journal-000008.jsonl',
  ]);
  await store.close();
});
