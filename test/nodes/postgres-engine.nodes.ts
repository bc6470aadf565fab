/** PostgreSQL as an engine, with a real server and two synchronous standbys. */
import assert from 'node:assert/strict';
import { createHash, randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { AppError } from '../../src/base/errors.ts';
import type { EngineSession, LogEntry, LogPosition } from '../../src/store/engines/engine.ts';
import { createPostgresEngine } from '../../src/store/engines/postgres/postgres-engine.ts';
import { until } from '../support/until.ts';
import { postgresMissing } from './support/driver.ts';
import { START, appendMany, entryAfter, newHead } from './support/log.ts';
import { PostgresCluster } from './support/postgres-cluster.ts';

const skip = postgresMissing;
const NO_FILES = { passwordFile: null, passFile: null };
let cluster: PostgresCluster;
let sessions: EngineSession[] = [];

before(async () => {
  if (skip === false) cluster = await PostgresCluster.start({ standbys: 2 });
});
after(async () => {
  for (const session of sessions) await session.close();
  if (skip === false) await cluster.stop();
});

async function connect(url = cluster.primary.url()): Promise<EngineSession> {
  const session = await createPostgresEngine(url, NO_FILES).connect();
  sessions.push(session);
  return session;
}

/** A log of its own, and two sessions with it. */
async function newLog(): Promise<{ log: string; one: EngineSession; other: EngineSession }> {
  for (const session of sessions) await session.close();
  sessions = [];
  cluster.primary.query('drop schema if exists hookshelf cascade');
  const [one, other] = [await connect(), await connect()];
  const head = newHead();
  assert.equal(await one.create(head), true);
  return { log: head.log, one, other };
}

test('a log is made once, whoever is first', { skip }, async () => {
  const { log, one, other } = await newLog();
  assert.equal(await other.create(newHead()), false);
  assert.deepEqual(await other.head(), { log, format: 1, floor: 0, ...START });
  assert.deepEqual(await one.barrier(randomUUID()), await other.head());
});

test('nodes that start at once on an empty database make its tables once', { skip }, async () => {
  await newLog();
  cluster.primary.query('drop schema hookshelf cascade');
  const found = await Promise.all([connect(), connect(), connect(), connect()]);
  for (const session of found) assert.equal(await session.head(), null);
});

test('who only follows a log makes no tables for one', { skip }, async () => {
  await newLog();
  cluster.primary.query('drop schema hookshelf cascade');
  const engine = createPostgresEngine(cluster.primary.url(), NO_FILES);
  await assert.rejects(engine.connect(false), { code: 'not_found', message: /holds no log/ });
  assert.equal(cluster.primary.query("select to_regnamespace('hookshelf') is null"), 't');
});

test('an entry comes back byte for byte, and only directly after its place', { skip }, async () => {
  const { log, one, other } = await newLog();
  const lines = `{"text":"é\\u0000 \u{1f4da} ' \\\\ $1"}\n`.repeat(3);
  const entry = entryAfter(START, lines, 3);
  assert.equal(await one.append(log, START, entry), true);
  assert.deepEqual(await other.readAfter(0, 10), [entry]);
  assert.deepEqual(await other.findBatch(entry.batchId), entry);
  assert.equal(await other.findBatch(randomUUID()), null);
  for (const [where, place] of [
    [log, START], [log, { ...entry, chain: 'another' }], [randomUUID(), entry],
  ] as const) {
    assert.equal(await other.append(where, place, entryAfter(place)), false);
  }
  assert.deepEqual(await other.head(), {
    log, format: 1, floor: 0, sequence: 3, chain: entry.chain,
  });
});

test('what is sent again is found to be there, and stands there once', { skip }, async () => {
  const { log, one, other } = await newLog();
  const entry = entryAfter(START);
  assert.equal(await one.append(log, START, entry), true);
  assert.equal(await other.append(log, START, entry), true);
  await appendMany(other, log, entry, 2);
  assert.equal(await one.append(log, START, entry), true);
  assert.equal((await one.readAfter(0, 10)).length, 3);
});

test('a batch of 8 MiB goes in, and an answer holds several only up to a size', { skip },
  async () => {
    const { log, one, other } = await newLog();
    const large = entryAfter(START, `${'x'.repeat((8 << 20) - 1)}\n`);
    assert.equal(await one.append(log, START, large), true);
    let at = large;
    for (let index = 0; index < 3; index += 1) {
      const next = entryAfter(at, large.lines.toString());
      assert.equal(await one.append(log, at, next), true);
      at = next;
    }
    const page = await other.readAfter(0, 64);
    assert.deepEqual(page.map(({ sequence }) => sequence), [1, 2]);
    assert.ok(page[0]?.lines.equals(large.lines));
    assert.deepEqual((await other.readAfter(2, 64)).map(({ sequence }) => sequence), [3, 4]);
  });

test('after a conflict others wait until what was missed is answered', { skip }, async () => {
  const { log, one, other } = await newLog();
  const at = await appendMany(one, log, START, 100);
  const seen: number[] = [];
  let waited: Promise<boolean> | null = null;
  const entry = await other.appendLocked(log, START, (missed, head) => {
    seen.push(...missed.map(({ sequence }) => sequence));
    assert.equal(head.sequence, 100);
    waited = one.append(log, at, entryAfter(at));
    return entryAfter(head);
  });
  assert.deepEqual(seen, Array.from({ length: 100 }, (_, index) => index + 1));
  assert.equal(entry?.sequence, 101);
  assert.equal(await waited, false, 'who waited came too late');
  assert.equal((await one.head())?.sequence, 101);
});

test('who has missed much lets others go on while it reads', { skip }, async () => {
  const { log, one, other } = await newLog();
  cluster.primary.query('insert into hookshelf.journal select s, s, gen_random_uuid(), '
    + "'c' || s, 'x' from generate_series(1, 5000) s");
  cluster.primary.query("update hookshelf.head set sequence = 5000, chain = 'c5000'");
  let isBuilt = false;
  const behind = other.appendLocked(log, START, (missed, head) => {
    isBuilt = true;
    assert.equal(missed.at(-1)?.sequence, head.sequence);
    return entryAfter(head);
  });
  let at: LogPosition = { sequence: 5000, chain: 'c5000' };
  let appended = 0;
  while (!isBuilt) {
    const entry = entryAfter(at);
    if (!await one.append(log, at, entry)) break;
    at = entry;
    appended += 1;
  }
  assert.ok(appended >= 5, `${appended} appends meanwhile`);
  assert.ok(await behind !== null);
});

test('batches are packed by LZ4 where the server has it', { skip }, async () => {
  const { log, one } = await newLog();
  assert.equal(await one.append(log, START, entryAfter(START, `${'lines '.repeat(2000)}\n`)), true);
  const [has, found] = [
    "select enumvals::text like '%lz4%' from pg_settings where name = 'default_toast_compression'",
    'select pg_column_compression(lines) from hookshelf.journal',
  ].map((text) => cluster.primary.query(text));
  assert.equal(found, has === 't' ? 'lz4' : 'pglz');
});

test('nothing is committed when nothing is built, or building fails', { skip }, async () => {
  const { log, one, other } = await newLog();
  await appendMany(one, log, START, 2);
  assert.equal(await other.appendLocked(log, START, () => null), null);
  await assert.rejects(other.appendLocked(log, START, () => {
    throw new AppError('conflict', 'as planned');
  }), /as planned/);
  const head = await one.head();
  assert.equal(head?.sequence, 2);
  assert.equal(await one.append(log, { sequence: 2, chain: head.chain }, entryAfter(head)), true);
});

test('others are woken by an append, and its writer is not', { skip }, async () => {
  const { log, one, other } = await newLog();
  let [own, foreign] = [0, 0];
  one.watch(() => void (own += 1));
  const end = other.watch(() => void (foreign += 1));
  const at = await appendMany(one, log, START, 5);
  await until('the other session is woken', () => foreign === 5, { seen: () => String(foreign) });
  assert.equal(own, 0);
  end();
  await appendMany(one, log, at, 1);
  await one.barrier(randomUUID());
  await other.head();
  assert.equal(foreign, 5);
});

test('who watches again is told that something may have come', { skip }, async () => {
  const { log, one, other } = await newLog();
  other.watch(() => undefined)();
  const at = await appendMany(one, log, START, 1);
  let wakes = 0;
  other.watch(() => void (wakes += 1));
  await until('it is woken for what came before', () => wakes === 1, { seen: () => String(wakes) });
  await appendMany(one, log, at, 2);
  await until('it is woken for each', () => wakes === 3, { seen: () => String(wakes) });
});

test('trimming keeps the entry that is the floor, and all after it', { skip }, async () => {
  const { log, one, other } = await newLog();
  const at = await appendMany(one, log, START, 30);
  await one.trim(20);
  const left = await other.readAfter(0, 64);
  assert.deepEqual([left[0]?.sequence, left.length], [20, 11]);
  assert.equal((await other.head())?.floor, 20);
  await other.trim(10);
  assert.equal((await one.head())?.floor, 20, 'it never goes back');
  assert.equal(await one.append(log, at, entryAfter(at)), true);
});

const digest = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

test('a snapshot is there with all of its parts, or not at all', { skip }, async () => {
  const { log, one, other } = await newLog();
  const [first] = [await appendMany(one, log, START, 1)];
  const parts = [
    Buffer.from('{"é":1}\n'), Buffer.from([0xff, 0, 0xc3]), Buffer.from('base64: or not'),
    Buffer.alloc(1 << 20, 'é'), Buffer.alloc(0),
  ];
  await one.snapshots.writePart(first, 0, { sha256: 'x', bytes: Buffer.from('an earlier one') });
  for (const [index, bytes] of parts.entries()) {
    assert.deepEqual(await other.snapshots.list(), []);
    await one.snapshots.writePart(first, index, { sha256: digest(bytes), bytes });
  }
  await one.snapshots.complete(first, parts.length);
  const { sequence, chain } = first;
  assert.deepEqual(await other.snapshots.list(), [{ sequence, chain, parts: parts.length }]);
  for (const [index, bytes] of parts.entries()) {
    assert.deepEqual(await other.snapshots.readPart(first, index),
      { sha256: digest(bytes), bytes });
  }
  await other.snapshots.remove(first);
  assert.deepEqual(await one.snapshots.list(), []);
  assert.equal(cluster.primary.query('select count(*) from hookshelf.snapshot_part'), '0');
});

test('an attempt that others have outrun cannot complete without its parts', { skip }, async () => {
  const { log, one, other } = await newLog();
  const first: LogEntry = entryAfter(START);
  await one.append(log, START, first);
  const second = entryAfter(first);
  await one.append(log, first, second);
  const content = { sha256: digest(Buffer.from('x')), bytes: Buffer.from('x') };
  await one.snapshots.writePart(first, 0, content);
  await other.snapshots.writePart(second, 0, content);
  await other.snapshots.complete(second, 1);
  await one.snapshots.writePart(first, 1, content);
  await assert.rejects(one.snapshots.complete(first, 2), /have been removed/);
  assert.deepEqual((await one.snapshots.list()).map(({ sequence }) => sequence), [2]);
});

test('of three that append to one place one wins, each time', { skip }, async () => {
  const { log, one, other } = await newLog();
  const writers = [one, other, await connect()];
  let at: LogPosition = START;
  for (let round = 0; round < 50; round += 1) {
    const place = at;
    const entries = writers.map(() => entryAfter(place));
    const won = await Promise.all(writers.map((writer, index) =>
      writer.append(log, place, entries[index] ?? assert.fail())));
    assert.equal(won.filter(Boolean).length, 1);
    at = entries[won.indexOf(true)] ?? assert.fail();
  }
  assert.equal((await one.head())?.sequence, 50);
});

test('three that take the lock first take turns, and leave one chain', { skip }, async () => {
  const { log, one, other } = await newLog();
  const writers = [one, other, await connect()];
  const order: number[] = [];
  await Promise.all(writers.map(async (writer, index) => {
    let at: LogPosition = START;
    for (let count = 0; count < 60; count += 1) {
      const entry = await writer.appendLocked(log, at, (missed, head) => {
        let end = at;
        for (const { first, sequence, chain } of missed) {
          assert.equal(first, end.sequence + 1);
          end = { sequence, chain };
        }
        assert.deepEqual([end.sequence, end.chain], [head.sequence, head.chain]);
        return entryAfter(head);
      });
      at = entry ?? assert.fail();
      order.push(index);
    }
  }));
  assert.equal((await one.head())?.sequence, 180);
  const half = order.slice(0, 90);
  for (const index of [0, 1, 2]) {
    const share = half.filter((each) => each === index).length / half.length;
    assert.ok(share >= 0.2, `writer ${index} has ${share} of the first half`);
  }
});
