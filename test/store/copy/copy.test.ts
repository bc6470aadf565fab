import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { silentLogger } from '../../../src/base/log.ts';
import { encodeTar } from '../../../src/store/backup/backup.ts';
import { EPOCHS } from '../../../src/store/epochs.ts';
import { openStore } from '../../../src/store/store.ts';
import {
  COPY, SPECS, addBook, createCopyDisk, openCopyOn, openServer,
} from '../../support/followed-store.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { Disk } from '../../support/simulated-disk.ts';
import { SimulatedFiles } from '../../support/simulated-files.ts';

/** A backup of a server with some books, as it is sent. */
async function makeBackup(): Promise<readonly Buffer[]> {
  const { store, followers } = await openServer(new SimulatedFiles(new Disk()));
  for (const id of ['a', 'b', 'c']) await addBook(store, id, 'text');
  const backup = await followers.openBackup({ mayFollow: () => true });
  const pieces: Buffer[] = [];
  for (let piece = await backup.pull(); piece !== null; piece = await backup.pull()) {
    pieces.push(...piece);
  }
  backup.close();
  await store.close();
  return pieces;
}

async function* sent(pieces: readonly Buffer[]): AsyncGenerator<Buffer> {
  yield* pieces;
}

async function makeCopy(): Promise<SimulatedFiles> {
  const files = createCopyDisk();
  const copy = await openCopyOn(files);
  assert.equal(copy.position, null);
  assert.equal(await copy.replace(sent(await makeBackup()), false), null);
  assert.equal(copy.sequence, 4);
  await copy.close();
  return files;
}

test('a copy is a data directory, which a server that reads leaves a copy', async () => {
  const files = await makeCopy();
  const store = await openStore({ directory: COPY, files, specs: SPECS, logger: silentLogger });
  assert.equal(store.collection('books').size, 3);
  await store.close();
  const copy = await openCopyOn(files);
  assert.equal(copy.sequence, 4);
  await copy.close();
});

test('a copy that something was written to is none any more, and is left as it is', async () => {
  const files = await makeCopy();
  const store = await openStore({ directory: COPY, files, specs: SPECS, logger: silentLogger });
  await addBook(store, 'own');
  await store.close();
  await assert.rejects(openCopyOn(files), { code: 'conflict', message: /writes of its own/ });
  assert.deepEqual(files.openPaths, []);
  const again = await openStore({ directory: COPY, files, specs: SPECS, logger: silentLogger });
  assert.equal(again.collection('books').size, 4);
  await again.close();
});

test('data that no follower has brought is refused', async () => {
  const files = createCopyDisk();
  const store = await openStore({ directory: COPY, files, specs: SPECS, logger: silentLogger });
  await store.close();
  await assert.rejects(openCopyOn(files), { code: 'conflict', message: /no data:follow brought/ });
});

test('a backup that was cut, changed or is none leaves the copy as it is', async () => {
  const pieces = await makeBackup();
  const whole = Buffer.concat(pieces);
  const changed = Buffer.from(whole);
  // Within the text of a record: the checksums of the lines are checked as well.
  const at = changed.indexOf('"text":"text"');
  changed[at + 9] = 0x78;
  // The files are those of a start, and not those of the manifest.
  const summed = Buffer.from(whole);
  const sumAt = summed.indexOf('"sha256":"') + 10;
  summed[sumAt] = summed[sumAt] === 0x30 ? 0x31 : 0x30;
  const lengthened = Buffer.concat([whole.subarray(0, 1024), whole.subarray(512)]);
  for (const bytes of [
    whole.subarray(0, 700), whole.subarray(0, whole.length - 1024), changed, summed, lengthened,
    Buffer.from('{"type":"error"}'), Buffer.alloc(4096, 'x'), Buffer.alloc(2048),
  ]) {
    const files = await makeCopy();
    const names = files.disk.paths;
    const copy = await openCopyOn(files);
    await assert.rejects(copy.replace(sent([bytes]), true), { code: 'damaged' });
    await copy.recover();
    assert.equal(copy.sequence, 4, 'it goes on as before');
    await copy.close();
    assert.deepEqual(files.disk.paths.toSorted(), names.toSorted());
  }
});

test('a backup names no file outside the copy', async () => {
  const files = createCopyDisk();
  const outside = new SimulatedFiles(new Disk());
  outside.closeSync(outside.openSync('/evil', 'create'));
  const source = { name: '../evil', descriptor: outside.openSync('/evil', 'read'), offset: 0,
    bytes: 0 };
  const pieces: Buffer[] = [];
  const sources = { files: [source], contents: null, close() {} };
  for await (const piece of encodeTar(outside, sources, 0, [])) pieces.push(piece);
  const copy = await openCopyOn(files);
  await assert.rejects(copy.replace(sent(pieces), true), { code: 'damaged' });
  assert.ok(!files.disk.paths.some((path) => path.includes('evil')));
});

test('a copy that takes many epochs at once is a copy at the next start', async () => {
  const files = await makeCopy();
  const copy = await openCopyOn(files);
  await copy.append(Array.from({ length: 1000 }, (_, index) => {
    const id = randomUUID();
    const bytes = Buffer.from(JSON.stringify({ id, after: 4 + index }));
    return { sequence: 5 + index, operations: [{ collection: EPOCHS.name, id, bytes }] };
  }));
  await copy.close();
  const again = await openCopyOn(files);
  assert.equal(again.sequence, 1004);
  await again.close();
});

for (const [code, expected] of [['EIO', 'unavailable'], ['ENOSPC', 'storage_full']] as const) {
  test(`a copy that the disk does not open (${code}) says so`, async () => {
    const files = await makeCopy();
    for (const kind of ['list', 'open', 'write'] as const) {
      const broken = new SimulatedFiles(kind === 'write' ? createCopyDisk().disk : files.disk);
      broken.onCall = (call) => call.kind === kind ? { code } : null;
      await assert.rejects(openCopyOn(broken), { name: 'AppError', code: expected });
    }
  });
}

test('transactions that do not continue the copy are refused', async () => {
  const files = await makeCopy();
  const copy = await openCopyOn(files);
  const operations = [{ collection: 'books', id: 'x', bytes: Buffer.from('{"id":"x"}') }];
  for (const sequences of [[4], [6], [5, 7], [5, 5]]) {
    const transactions = sequences.map((sequence) => ({ sequence, operations }));
    await assert.rejects(copy.append(transactions), { code: 'unavailable' });
  }
  await assert.rejects(copy.append([{ sequence: 5, operations: [
    { collection: 'unknown', id: 'x', bytes: Buffer.from('{"id":"x"}') },
  ] }]), { code: 'damaged', message: /newer hookshelf/ });
  assert.equal(copy.sequence, 4);
  await copy.append([{ sequence: 5, operations }]);
  await copy.close();
});

test('old states are kept up to a limit, and then nothing is replaced until some are removed',
  async () => {
    const files = await makeCopy();
    const clock = new ManualClock();
    const folders: string[] = [];
    for (let count = 0; count < 8; count += 1) {
      // Each is another history, and a process of its own takes it.
      await clock.advance(1000);
      const copy = await openCopyOn(files, clock);
      folders.push(await copy.replace(sent(await makeBackup()), true) ?? '');
      await copy.close();
    }
    assert.equal(new Set(folders).size, 8);
    await clock.advance(1000);
    const copy = await openCopyOn(files, clock);
    const names = files.disk.paths;
    await assert.rejects(copy.replace(sent(await makeBackup()), true),
      { code: 'conflict', message: /8 folders before-.*remove those/ });
    assert.deepEqual(files.disk.paths, names);
    assert.equal(copy.sequence, 4);
    assert.equal(await copy.replace(sent(await makeBackup()), false), null);
    const [oldest = ''] = folders;
    for (const name of files.listSync(oldest)) files.unlinkSync(`${oldest}/${name}`);
    files.removeDirectorySync(oldest);
    assert.notEqual(await copy.replace(sent(await makeBackup()), true), null);
    await copy.close();
  });
