import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLogger } from '../../src/base/log.ts';
import { Follower } from '../../src/followers/follower.ts';
import { Followers } from '../../src/followers/followers.ts';
import { EPOCHS, listEpochs } from '../../src/store/epochs.ts';
import { parseLine } from '../../src/store/journal/journal-line.ts';
import { SPECS, addBook, openServer } from '../support/followed-store.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { openSharedStore } from '../support/open-shared-store.ts';
import { Disk } from '../support/simulated-disk.ts';
import { SimulatedEngine } from '../support/simulated-engine.ts';
import { SimulatedFiles } from '../support/simulated-files.ts';

const PLACE = { copy: 'c', name: 'box', address: '::1' };

async function open() {
  const server = await openServer(new SimulatedFiles(new Disk()));
  await server.store.beginEpochs();
  const [epoch] = listEpochs(server.store.collection(EPOCHS.name));
  let cuts = 0;
  const connect = (copy: string, sequence = 1, mayFollow = () => true) =>
    server.followers.open({ ...PLACE, copy }, { epoch: epoch?.id ?? '', sequence }, {
      mayFollow, cut: () => void (cuts += 1),
    });
  return { ...server, connect, cuts: () => cuts };
}

function kindsOf(pieces: readonly Buffer[] | null): readonly string[] {
  const lines = Buffer.concat(pieces ?? []).toString().split('\n').filter((line) => line !== '');
  return lines.map((line) => {
    const parsed = parseLine(Buffer.from(line), 0, Buffer.byteLength(line));
    return `${parsed?.kind} ${parsed?.sequence}`;
  });
}

test('the log begins with its start, and says where all was sent', async () => {
  const { store, followers, clock, connect } = await open();
  await addBook(store, 'a');
  await addBook(store, 'b');
  const log = await connect('c');
  assert.deepEqual(kindsOf(await log.pull()), ['start 1']);
  assert.deepEqual(kindsOf(await log.pull()), ['ops 2', 'ops 3']);
  assert.deepEqual(kindsOf(await log.pull()), ['mark 3']);
  const next = log.pull();
  await addBook(store, 'd');
  await addBook(store, 'e');
  await clock.advance(100);
  assert.deepEqual(kindsOf(await next), ['ops 4', 'ops 5'], 'sent together after a tenth');
  assert.deepEqual(kindsOf(await log.pull()), ['mark 5']);
  const heartbeat = log.pull();
  await clock.advance(5000);
  assert.deepEqual(kindsOf(await heartbeat), ['mark 5']);
  followers.close();
  assert.equal(await log.pull(), null);
  await store.close();
});

test('a follower that is silent for a minute is cut, and so is one whose token is revoked',
  async () => {
    const { store, followers, clock, connect, cuts } = await open();
    const log = await connect('c');
    await log.pull();
    await log.pull();
    await clock.advance(30_000);
    followers.confirm('c', 1);
    await clock.advance(50_000);
    await addBook(store, 'a');
    await clock.advance(100);
    assert.equal(cuts(), 0, 'it was heard');
    await clock.advance(20_000);
    await addBook(store, 'b');
    await clock.advance(100);
    assert.equal(cuts(), 1);
    assert.equal(await log.pull(), null);
    let isGood = true;
    const other = await connect('d', 1, () => isGood);
    await other.pull();
    isGood = false;
    assert.equal(await other.pull(), null);
    await store.close();
  });

test('a log whose next transactions compaction has deleted ends, and is gone', async () => {
  const { store, followers, connect } = await open();
  const log = await connect('c');
  await log.pull();
  await log.pull();
  for (let times = 0; times < 20; times += 1) {
    await addBook(store, `b${times}`);
    await store.compact();
  }
  let pieces = await log.pull();
  for (let count = 0; count < 30 && pieces !== null; count += 1) pieces = await log.pull();
  assert.equal(pieces, null);
  await assert.rejects(connect('c'), { code: 'gone' });
  followers.close();
  await store.close();
});

test('a copy that connects again takes the place of its earlier connection', async () => {
  const { store, followers, connect, cuts } = await open();
  const first = await connect('c');
  const second = await connect('c');
  assert.equal(cuts(), 1);
  followers.leave('c', first);
  assert.equal(followers.list()[0]?.isConnected, true);
  followers.leave('c', second);
  assert.deepEqual(followers.list().map(({ isConnected }) => isConnected), [false]);
  await store.close();
});

test('sixteen followers may be connected, and no more', async () => {
  const { store, followers, connect } = await open();
  for (let number = 0; number < 16; number += 1) await connect(`c${number}`);
  await assert.rejects(connect('c16'), { code: 'unavailable' });
  await connect('c3');
  followers.close();
  await assert.rejects(connect('c17'), { code: 'unavailable', message: /stopping/ });
  await store.close();
});

test('those that have gone are remembered, up to a number', async () => {
  const { store, followers, connect } = await open();
  for (let number = 0; number < 40; number += 1) {
    followers.leave(`c${number}`, await connect(`c${number}`));
  }
  const copies = followers.list().map(({ copy }) => copy);
  assert.deepEqual([copies.length, copies[0], copies.at(-1)], [32, 'c8', 'c39']);
  await store.close();
});

test('a log in an engine is not followed, and begins no epochs', async () => {
  const files = new SimulatedFiles(new Disk());
  const clock = new ManualClock();
  const store = await openSharedStore(new SimulatedEngine(), { specs: SPECS, clock });
  const followers = new Followers({ store, files, clock, logger: silentLogger });
  const message = /cannot be followed.*data:backup/;
  const connection = { mayFollow: () => true, cut() {} };
  await assert.rejects(followers.openBackup(connection), { code: 'conflict', message });
  await assert.rejects(followers.open(PLACE, { epoch: 'e', sequence: 0 }, connection),
    { code: 'conflict', message });
  await store.beginEpochs();
  assert.equal(store.collection(EPOCHS.name).size, 0);
  await store.close();
});

test('two may begin at once, and each backup gives its files back', async () => {
  const files = new SimulatedFiles(new Disk());
  const { store, followers } = await openServer(files);
  await addBook(store, 'a');
  const openPaths = files.openPaths;
  const begin = () => followers.openBackup({ mayFollow: () => true });
  const backups = [await begin(), await begin()];
  await assert.rejects(begin(), { code: 'unavailable' });
  for (const { close } of backups) close();
  backups[0]?.close();
  (await begin()).close();
  assert.deepEqual(files.openPaths, openPaths);
  assert.equal(store.backupMs, null, 'it is none that an operator has asked for');
  await store.close();
});

test('a backup ends when the token of the follower is revoked', async () => {
  const { store, followers } = await open();
  let isGood = true;
  const backup = await followers.openBackup({ mayFollow: () => isGood });
  assert.notEqual(await backup.pull(), null);
  isGood = false;
  await assert.rejects(backup.pull(), { code: 'forbidden' });
  backup.close();
  await store.close();
});

test('the lag of a copy that fails goes on, however often it connects', async () => {
  const { store, followers, clock, connect } = await open();
  for (let times = 0; times < 6; times += 1) {
    const log = await connect('c');
    await addBook(store, `b${times}`);
    await clock.advance(1000);
    followers.leave('c', log);
    await clock.advance(9000);
  }
  await connect('c');
  assert.equal(followers.list()[0]?.behindSeconds, 60);
  followers.confirm('c', store.statistics.sequence);
  assert.equal(followers.list()[0]?.behindSeconds, 0);
  followers.close();
  await store.close();
});

test('a copy that comes back is behind since it was heard last', async () => {
  const { store, followers, clock, connect } = await open();
  followers.leave('c', await connect('c'));
  await addBook(store, 'a');
  await clock.advance(60_000);
  await connect('c');
  assert.equal(followers.list()[0]?.behindSeconds, 60);
  followers.close();
  await store.close();
});

test('two followers with one copy are told so, and one of them goes on', async () => {
  const { store, followers, clock, connect, cuts } = await open();
  for (let times = 0; times < 4; times += 1) await connect('c');
  assert.equal(cuts(), 3);
  await assert.rejects(connect('c'), { code: 'unavailable', message: /was cloned/ });
  assert.equal(cuts(), 3, 'the one that is connected goes on');
  await clock.advance(10_000);
  await connect('c');
  followers.close();
  await store.close();
});

test('not even those that come at once are more than sixteen', async () => {
  const { store, followers, connect } = await open();
  const results = await Promise.allSettled(
    Array.from({ length: 20 }, (_, number) => connect(`c${number}`)));
  assert.equal(results.filter(({ status }) => status === 'rejected').length, 4);
  assert.equal(followers.list().filter(({ isConnected }) => isConnected).length, 16);
  followers.close();
  await store.close();
});

/** What is shown at that time. */
function lagAt(follower: Follower, headSequence: number, nowMs: number): readonly number[] {
  const { behindTransactions, behindSeconds } = follower.view(headSequence, nowMs);
  return [behindTransactions, behindSeconds];
}

test('a follower is behind for as long as its disk lacks the oldest transaction', () => {
  const follower = new Follower(PLACE, 10, 0, 0);
  assert.deepEqual(lagAt(follower, 10, 5000), [0, 0]);
  follower.recordCommit(11, 6000);
  follower.recordCommit(12, 7000);
  assert.deepEqual(lagAt(follower, 12, 8000), [2, 2]);
  follower.confirm(11, 12, 8000, 0);
  assert.deepEqual(lagAt(follower, 12, 9000), [1, 2]);
  follower.confirm(12, 12, 9000, 0);
  assert.deepEqual(lagAt(follower, 12, 60_000), [0, 0]);
});

test('a follower that is never quite level under load is behind by what it really is', () => {
  const follower = new Follower(PLACE, 0, 0, 0);
  for (let second = 1; second <= 600; second += 1) {
    const head = second * 100;
    for (let sequence = head - 99; sequence <= head; sequence += 1) {
      follower.recordCommit(sequence, second * 1000 + (sequence % 100) * 10);
    }
    // Its disk has what was there a second before.
    follower.confirm(head - 100, head, second * 1000 + 999, 0);
    const [transactions = 0, seconds = 0] = lagAt(follower, head, second * 1000 + 999);
    assert.equal(transactions, 100);
    assert.ok(seconds >= 0.7 && seconds <= 1.3, `${seconds} s after ${second}`);
  }
});

test('a follower that is stuck for hours takes no more memory, and its lag grows', () => {
  const follower = new Follower(PLACE, 0, 0, 0);
  for (let sequence = 1; sequence <= 20_000; sequence += 1) {
    follower.recordCommit(sequence, sequence * 1000);
  }
  assert.deepEqual(lagAt(follower, 20_000, 20_001_000), [20_000, 20_000]);
  follower.confirm(19_999, 20_000, 20_001_000, 0);
  assert.equal(lagAt(follower, 20_000, 20_001_000)[0], 1);
});

test('one that has gone is shown with when it was heard', () => {
  const follower = new Follower(PLACE, 3, 0, 0);
  follower.confirm(4, 4, 1000, Date.UTC(2026, 0, 2));
  follower.isConnected = false;
  assert.deepEqual(follower.view(6, 5000), {
    ...PLACE, isConnected: false, sequence: 4, behindTransactions: 2, behindSeconds: 4,
    seenAt: '2026-01-02T00:00:00.000Z',
  });
});
