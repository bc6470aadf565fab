/** PostgreSQL as an engine, with a real server and two synchronous standbys. */
import assert from 'node:assert/strict';
import { createHash, randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import type { EngineSession, LogEntry, LogPosition } from '../../src/store/engines/engine.ts';
import { createPostgresEngine } from '../../src/store/engines/postgres/postgres-engine.ts';
import { until } from '../support/until.ts';
import { postgresMissing } from './support/driver.ts';
import { START, entryAfter, newHead, testEngine } from './support/engine-suite.ts';
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

testEngine('PostgreSQL', skip, async () => {
  await dropLog();
  return () => createPostgresEngine(cluster.primary.url(), NO_FILES);
});

async function dropLog(): Promise<void> {
  for (const session of sessions) await session.close();
  sessions = [];
  cluster.primary.query('drop schema if exists hookshelf cascade');
}

async function connect(url = cluster.primary.url()): Promise<EngineSession> {
  const session = await createPostgresEngine(url, NO_FILES).connect();
  sessions.push(session);
  return session;
}

/** A log of its own, and two sessions with it. */
async function newLog(): Promise<{ log: string; one: EngineSession; other: EngineSession }> {
  await dropLog();
  const [one, other] = [await connect(), await connect()];
  const head = newHead();
  assert.equal(await one.create(head), true);
  return { log: head.log, one, other };
}

/** Appends `count` entries of one transaction, one after the other. */
async function appendMany(
  session: EngineSession, log: string, from: LogPosition, count: number, text?: string,
): Promise<LogPosition> {
  let at = from;
  for (let index = 0; index < count; index += 1) {
    const entry = entryAfter(at, 1, text);
    assert.equal(await session.append(log, at, entry), true);
    at = entry;
  }
  return at;
}

test('nodes that start at once on an empty database make its tables once', { skip }, async () => {
  await dropLog();
  const found = await Promise.all([connect(), connect(), connect(), connect()]);
  for (const session of found) assert.equal(await session.head(), null);
});

test('who only follows a log makes no tables for one', { skip }, async () => {
  await dropLog();
  const engine = createPostgresEngine(cluster.primary.url(), NO_FILES);
  await assert.rejects(engine.connect(false), { code: 'not_found', message: /holds no log/ });
  assert.equal(cluster.primary.query("select to_regnamespace('hookshelf') is null"), 't');
});

test('an answer holds several entries only up to a size', { skip }, async () => {
  const { log, one, other } = await newLog();
  await appendMany(one, log, START, 4, 'x'.repeat((8 << 20) - 1));
  for (const [after, found] of [[0, [1, 2]], [2, [3, 4]]] as const) {
    const page = await other.readAfter(after, 64);
    assert.deepEqual(page.map(({ sequence }) => sequence), found);
  }
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
  assert.equal(await one.append(log, START, entryAfter(START, 1, 'lines '.repeat(2000))), true);
  const [has, found] = [
    "select enumvals::text like '%lz4%' from pg_settings where name = 'default_toast_compression'",
    'select pg_column_compression(lines) from hookshelf.journal',
  ].map((text) => cluster.primary.query(text));
  assert.equal(found, has === 't' ? 'lz4' : 'pglz');
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
  await until('it is woken for what came before', () => wakes > 0, { seen: () => String(wakes) });
  const earlier = wakes;
  await appendMany(one, log, at, 2);
  await until('it is woken for each', () => wakes >= earlier + 2, { seen: () => String(wakes) });
});

const digest = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

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
