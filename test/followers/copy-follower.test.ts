import assert from 'node:assert/strict';
import { basename, dirname } from 'node:path';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { AppError } from '../../src/base/errors.ts';
import { silentLogger } from '../../src/base/log.ts';
import { CopyFollower } from '../../src/followers/copy-follower.ts';
import { Followers } from '../../src/followers/followers.ts';
import { verifyDirectory } from '../../src/store/backup/verify.ts';
import { EPOCHS } from '../../src/store/epochs.ts';
import { recoverState } from '../../src/store/generations/recovery.ts';
import { JournalLineEncoder } from '../../src/store/journal/journal-line-encoder.ts';
import type { OpenedStore } from '../../src/store/store.ts';
import { about, imagesOf, sample } from '../support/crashes.ts';
import {
  COPY, SPECS, addBook, createCopyDisk, createFollower, openCopyOn, openServer,
} from '../support/followed-store.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { Disk } from '../support/simulated-disk.ts';
import { SimulatedFiles } from '../support/simulated-files.ts';

async function readIds(files: SimulatedFiles): Promise<readonly string[]> {
  const { collections } = await recoverState({ directory: COPY, files, specs: SPECS });
  const walk = collections.get('books')?.walk();
  const ids: string[] = [];
  for (let slot = walk?.next() ?? -1; slot !== -1; slot = walk?.next() ?? -1) {
    ids.push(collections.get('books')?.idAt(slot) ?? '');
  }
  return ids;
}

/** Books whose ids are in the order in which they are added. */
async function addBooks(store: OpenedStore, from: number, to: number): Promise<void> {
  for (let number = from; number < to; number += 1) {
    await addBook(store, String(number).padStart(5, '0'), 'x'.repeat(number % 40));
  }
}

async function becomeLevel(
  files: SimulatedFiles, server: Awaited<ReturnType<typeof openServer>>, chunkBytes?: number,
): Promise<readonly string[]> {
  const copy = await openCopyOn(files);
  const { follower, notes } = createFollower(copy, server, server.clock, chunkBytes);
  try {
    await follower.becomeLevel();
    assert.equal(copy.sequence, server.store.statistics.sequence);
  } finally {
    await copy.close();
  }
  return notes;
}

/** Lets time pass until something is so. */
async function passTime(
  clock: ManualClock, isSo: () => boolean, notes: readonly string[],
): Promise<void> {
  for (let turn = 0; turn < 2000 && !isSo(); turn += 1) {
    await new Promise(setImmediate);
    if (turn % 10 === 9) await clock.advance(200);
  }
  assert.ok(isSo(), notes.join('\n'));
}

/** A server whose disk went back to `earlier`, and that has written since. */
async function openRestored(earlier: Disk, clock: ManualClock) {
  const server = await openServer(new SimulatedFiles(earlier.crash({ kind: 'kept' })), clock);
  await addBooks(server.store, 100, 103);
  return server;
}

for (const chunkBytes of [1, 7, 1 << 16]) {
  test(`a copy takes everything, however the network cuts it (${chunkBytes})`, async () => {
    const server = await openServer(new SimulatedFiles(new Disk()));
    await addBooks(server.store, 0, 20);
    await server.store.compact();
    await addBooks(server.store, 20, 30);
    const files = createCopyDisk();
    await becomeLevel(files, server, chunkBytes);
    assert.equal((await readIds(files)).length, 30);
    await addBooks(server.store, 30, 40);
    await server.store.transact((transaction) => transaction.delete('books', '00003'));
    await becomeLevel(files, server, chunkBytes);
    assert.equal((await readIds(files)).length, 39);
    assert.deepEqual(files.openPaths, []);
    await server.store.close();
  });
}

test('a crash of a follower at any moment leaves a beginning of what is there', async () => {
  const server = await openServer(new SimulatedFiles(new Disk()));
  await addBooks(server.store, 0, 8);
  const files = createCopyDisk();
  await becomeLevel(files, server);
  await addBooks(server.store, 8, 14);
  await becomeLevel(files, server);
  // Another process writes the next ones, so that the copy takes an epoch.
  const images = imagesOf(files, { seeds: 2, pageBytes: 512, tornEvery: 97 });
  const counts = new Set<number>();
  for (const { disk, origin } of sample(images, 600, 3)) {
    await about(origin, async () => {
      const report = await verifyDirectory({
        directory: COPY, files: new SimulatedFiles(disk.clone()), specs: SPECS,
      });
      const ids = await readIds(new SimulatedFiles(disk.clone()));
      counts.add(ids.length);
      assert.deepEqual(ids, ids.map((_, index) => String(index).padStart(5, '0')));
      assert.ok(ids.length === 0 || ids.length >= 8, `${ids.length} books`);
      assert.ok(report.sequence <= server.store.statistics.sequence);
    });
  }
  assert.ok(counts.has(0) && counts.has(8) && counts.has(14), [...counts].join());
  for (const { disk, origin } of sample(images, 60, 4)) {
    await about(origin, async () => {
      const later = new SimulatedFiles(disk.clone());
      if (later.disk.find(COPY) === undefined) return;
      await becomeLevel(later, server);
      assert.equal((await readIds(later)).length, 14);
    });
  }
  await server.store.close();
});

test('a full disk stops the copy, which goes on once there is room', async () => {
  const server = await openServer(new SimulatedFiles(new Disk()));
  await addBooks(server.store, 0, 30);
  const files = createCopyDisk();
  files.bytesMax = 1000;
  await assert.rejects(becomeLevel(files, server), { code: 'storage_full' });
  assert.ok(files.disk.paths.every((path) => !path.includes('replacing.tmp')), 'nothing is left');
  files.bytesMax = Infinity;
  await becomeLevel(files, server);
  await addBooks(server.store, 30, 60);
  files.bytesMax = files.disk.bytesUsed + 300;
  await assert.rejects(becomeLevel(files, server), { code: 'storage_full' });
  const count = (await readIds(files)).length;
  assert.ok(count >= 30 && count < 60, `${count} books`);
  // The log goes on without it: it begins anew, and keeps what it has as long as there is no room.
  for (let times = 0; times < 3; times += 1) await server.store.compact();
  await assert.rejects(becomeLevel(files, server), { code: 'storage_full' });
  assert.equal((await readIds(files)).length, count);
  files.bytesMax = Infinity;
  await becomeLevel(files, server);
  assert.equal((await readIds(files)).length, 60);
  await server.store.close();
});

test('where the log does not go back so far, the copy begins anew and leaves nothing', async () => {
  const serverFiles = new SimulatedFiles(new Disk());
  const server = await openServer(serverFiles);
  await addBooks(server.store, 0, 10);
  const files = createCopyDisk();
  await becomeLevel(files, server);
  await addBooks(server.store, 10, 20);
  for (let times = 0; times < 20; times += 1) {
    await server.store.compact();
    await addBook(server.store, `z${times}`);
  }
  const notes = await becomeLevel(files, server);
  assert.match(notes.join('\n'), /does not go back so far/);
  assert.ok(!files.disk.paths.some((path) => path.includes('before-')), 'it is a part of the new');
  assert.equal((await readIds(files)).length, 40);
  await server.store.close();
});

test('a server that went back to an earlier state, however, is another history', async () => {
  const serverFiles = new SimulatedFiles(new Disk());
  const first = await openServer(serverFiles);
  await addBooks(first.store, 0, 10);
  const files = createCopyDisk();
  await becomeLevel(files, first);
  // The disk of the machine as it was then: it knows the copy's epoch.
  const snapshot = serverFiles.disk.clone();
  await addBooks(first.store, 10, 20);
  await becomeLevel(files, first);
  await first.store.close();
  const second = await openServer(new SimulatedFiles(snapshot.crash({ kind: 'kept' })));
  // As many transactions, some of them the same.
  await addBooks(second.store, 10, 30);
  const notes = await becomeLevel(files, second);
  assert.match(notes.join('\n'), /another history/);
  const kept = files.disk.paths.filter((path) => path.startsWith(`${COPY}/before-`));
  assert.ok(kept.some((path) => path.endsWith('.jsonl')));
  assert.equal((await readIds(files)).length, 30);
  await second.store.close();
});

test('a copy takes the epochs of a server that is started again, and stays a copy', async () => {
  const serverFiles = new SimulatedFiles(new Disk());
  const files = createCopyDisk();
  for (let life = 0; life < 4; life += 1) {
    const server = await openServer(serverFiles);
    await addBooks(server.store, life * 3, life * 3 + 3);
    const notes = await becomeLevel(files, server);
    if (life > 0) assert.ok(!notes.some((note) => note.includes('anew')), notes.join());
    await server.store.close();
  }
  assert.equal((await readIds(files)).length, 12);
  const { collections } = await recoverState({ directory: COPY, files, specs: SPECS });
  assert.equal(collections.get(EPOCHS.name)?.size, 4);
});

test('a follower without end goes on after whatever passes', async () => {
  const serverFiles = new SimulatedFiles(new Disk());
  const clock = new ManualClock();
  const server = await openServer(serverFiles, clock);
  await addBooks(server.store, 0, 5);
  const files = createCopyDisk();
  const copy = await openCopyOn(files, clock);
  const { follower, notes } = createFollower(copy, server, clock);
  const following = follower.follow().catch((thrown: unknown) => thrown);
  const until = (isSo: () => boolean) => passTime(clock, isSo, notes);
  await until(() => copy.sequence === server.store.statistics.sequence);
  files.bytesMax = files.disk.bytesUsed;
  await addBooks(server.store, 5, 12);
  await until(() => notes.some((note) => note.includes('free some room')));
  files.bytesMax = Infinity;
  await until(() => copy.sequence === server.store.statistics.sequence);
  await until(() => server.followers.list()[0]?.behindTransactions === 0);
  server.followers.close();
  await until(() => notes.some((note) => note.includes('the server is stopping')));
  assert.equal(server.followers.list()[0]?.isConnected, false);
  await server.store.close();
  await copy.close();
  void following;
});

/** A copy that has 20 books of a server, which then is one that had 10 of them, and has others. */
async function followRestored() {
  const clock = new ManualClock();
  const serverFiles = new SimulatedFiles(new Disk());
  const first = await openServer(serverFiles, clock);
  await addBooks(first.store, 0, 10);
  const files = createCopyDisk();
  await becomeLevel(files, first);
  const earlier = serverFiles.disk.clone();
  await addBooks(first.store, 10, 20);
  await becomeLevel(files, first);
  await first.store.close();
  const address = await openRestored(earlier, clock);
  const copy = await openCopyOn(files, clock);
  const { follower, notes } = createFollower(copy, address, clock);
  return {
    files, copy, address, notes, clock, follow: () => follower.follow(),
    until: (isSo: () => boolean) => passTime(clock, isSo, notes),
  };
}

/** From the time on when the copy notes that it begins anew, nothing in it can be opened. */
function failOpening(files: SimulatedFiles): () => boolean {
  let hasFailed = false;
  files.onCall = ({ kind, path }) => {
    hasFailed ||= kind === 'open' && path.startsWith(`${COPY}/copy.json`);
    return hasFailed && kind === 'open' && dirname(path) === COPY ? { code: 'EMFILE' } : null;
  };
  return () => hasFailed;
}

test('a copy that cannot be reopened for a while keeps what a restored server replaces',
  async () => {
    const { files, copy, address, notes, follow, until } = await followRestored();
    const hasFailed = failOpening(files);
    let ended: unknown = null;
    const following = follow().catch((thrown: unknown) => {
      ended = thrown;
    });
    await until(() => hasFailed() && notes.some((note) => note.includes('trying again')));
    files.onCall = () => null;
    await until(() => ended !== null || copy.sequence === address.store.statistics.sequence);
    assert.equal(ended, null);
    assert.equal((await readIds(files)).length, 13);
    const kept = files.disk.paths.filter((path) => path.startsWith(`${COPY}/before-`));
    assert.ok(kept.some((path) => path.endsWith('.jsonl')), notes.join('\n'));
    address.followers.close();
    await copy.close();
    await address.store.close();
    void following;
  });

test('a copy that is damaged when it is reopened ends with that, and nothing of it is deleted',
  async () => {
    const { files, copy, address, notes, follow, until } = await followRestored();
    const hasFailed = failOpening(files);
    let ended: unknown = null;
    const following = follow().catch((thrown: unknown) => {
      ended = thrown;
    });
    await until(() => hasFailed() && (ended !== null || notes.length > 1));
    const names = files.disk.paths.filter((path) => /^journal|^books/.test(basename(path)));
    files.onCall = ({ kind, path }) => {
      const isJournal = kind === 'read' && basename(path).startsWith('journal');
      return isJournal ? { bytes: 0 } : null;
    };
    await until(() => ended !== null);
    await following;
    assert.ok(ended instanceof AppError && ended.code === 'damaged', String(ended));
    assert.ok(names.length > 0 && names.every((path) => files.disk.find(path) !== undefined));
    await copy.close();
    address.followers.close();
    await address.store.close();
  });

test('two servers behind one address are told from a restored one, and fill no disk', async () => {
  const { files, copy, address, clock } = await followRestored();
  const other = await openServer(new SimulatedFiles(new Disk()), clock);
  await addBooks(other.store, 0, 3);
  // Each request reaches another one than the last.
  let requests = 0;
  const balancer = {
    get followers() {
      requests += 1;
      return requests % 2 === 0 ? address.followers : other.followers;
    },
  };
  const { follower } = createFollower(copy, balancer, clock);
  await assert.rejects(follower.follow(), { code: 'conflict', message: /two servers/ });
  const folders = files.disk.paths.filter((path) => dirname(path) === COPY
    && basename(path).startsWith('before-'));
  assert.equal(folders.length, 1);
  await copy.close();
  for (const { followers, store } of [address, other]) {
    followers.close();
    await store.close();
  }
});

for (const [code, isFinal] of [
  ['malformed', true], ['misdirected', true], ['unauthorized', true], ['damaged', true],
  ['internal', false], ['unavailable', false], ['storage_full', false],
] as const) {
  test(`an answer of the server that is ${code} ${isFinal ? 'ends the follower' : 'passes'}`,
    async () => {
      const clock = new ManualClock();
      const copy = await openCopyOn(createCopyDisk(), clock);
      let requests = 0;
      const answer = async (): Promise<never> => {
        requests += 1;
        if (requests === 3) throw new AppError('forbidden', 'at last');
        throw new AppError(code, 'at first');
      };
      const follower = new CopyFollower({
        client: { request: answer, stream: answer }, copy, clock, name: 'box', note: () => {},
      });
      let ended: unknown = null;
      const following = follower.follow().catch((thrown: unknown) => {
        ended = thrown;
      });
      await passTime(clock, () => ended !== null, []);
      await following;
      assert.ok(ended instanceof AppError);
      assert.equal(ended.message, isFinal ? 'at first' : 'at last');
      await copy.close();
    });
}

test('a follower asks again where the server has fallen silent, or does not know it', async () => {
  const clock = new ManualClock();
  // Its clock stands still, so it sends no heartbeats.
  const server = await openServer(new SimulatedFiles(new Disk()), new ManualClock());
  const address = { followers: server.followers };
  const copy = await openCopyOn(createCopyDisk(), clock);
  const { follower, notes } = createFollower(copy, address, clock);
  const following = follower.follow().catch((thrown: unknown) => thrown);
  const until = (isSo: () => boolean) => passTime(clock, isSo, notes);
  await until(() => notes.some((note) => note.includes('nothing has come from the server for 15')));
  await until(() => notes.filter((note) => note.includes('is level')).length === 2);
  const deps = { store: server.store, files: new SimulatedFiles(), clock, logger: silentLogger };
  address.followers = new Followers(deps);
  await until(() => notes.some((note) => note.includes('has lost the connection')));
  await until(() => address.followers.list()[0]?.isConnected === true);
  address.followers.close();
  await copy.close();
  await server.store.close();
  void following;
});

test('what a newer server implies, and this version does not, ends the follower with what to do',
  async () => {
    const server = await openServer(new SimulatedFiles(new Disk()));
    const files = createCopyDisk();
    await becomeLevel(files, server);
    const copy = await openCopyOn(files);
    const { sequence } = copy;
    const encoder = new JournalLineEncoder();
    const bytes = Buffer.from('{"id":"a"}');
    encoder.addTransaction(sequence + 1, sequence, [
      { collection: 'books', id: 'a', bytes },
      { collection: 'books', id: 'b', bytes, isImplied: true },
    ]);
    const follower = new CopyFollower({
      client: {
        stream: () => Promise.resolve(Readable.from([Buffer.from(encoder.bytes)])),
        request: () => Promise.resolve(null),
      },
      copy, clock: new ManualClock(), name: 'box', note: () => {},
    });
    await assert.rejects(follower.follow(), { code: 'misconfigured', message: /of its release/ });
    assert.equal(copy.sequence, sequence);
    await copy.close();
    await server.store.close();
  });
