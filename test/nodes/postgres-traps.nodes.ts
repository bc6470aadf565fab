/** What real servers do when they fail, and that a session never takes it for success. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { afterEach, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { AppError } from '../../src/base/errors.ts';
import type { EngineSession, LogEntry } from '../../src/store/engines/engine.ts';
import { createPostgresEngine } from '../../src/store/engines/postgres/postgres-engine.ts';
import { until } from '../support/until.ts';
import { postgresMissing } from './support/driver.ts';
import { START, entryAfter, newHead } from './support/engine-suite.ts';
import { PostgresCluster } from './support/postgres-cluster.ts';
import type { PostgresServer } from './support/postgres-cluster.ts';

const skip = postgresMissing;
const NO_FILES = { passwordFile: null, passFile: null };
const WAITS = "select count(*) from pg_stat_activity where wait_event = 'SyncRep'";
const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

type Place = {
  readonly cluster: PostgresCluster; readonly log: string; readonly session: EngineSession;
  /** Committed, on the standbys too. */
  readonly first: LogEntry;
};

async function connect(url: string): Promise<EngineSession> {
  const session = await createPostgresEngine(url, NO_FILES).connect();
  ends.push(() => session.close());
  return session;
}

async function begin(url = (server: PostgresServer): string => server.url()): Promise<Place> {
  const cluster = await PostgresCluster.start({ standbys: 2 });
  ends.push(() => cluster.stop());
  const session = await connect(url(cluster.primary));
  const head = newHead();
  assert.equal(await session.create(head), true);
  const first = entryAfter(START);
  assert.equal(await session.append(head.log, START, first), true);
  return { cluster, log: head.log, session, first };
}

/** An append that the primary has and no standby confirms; what becomes of it, as text. */
async function appendUnconfirmed(
  { cluster, log, session, first }: Place, entry: LogEntry,
): Promise<{ readonly outcome: Promise<string> }> {
  for (const standby of cluster.standbys) await standby.kill('SIGINT');
  const outcome = outcomeOf(session.append(log, first, entry));
  await until('the append waits for a standby', () => cluster.primary.query(WAITS) === '1');
  return { outcome };
}

function outcomeOf(promise: Promise<unknown>): Promise<string> {
  return promise.then(String, (thrown: unknown) =>
    thrown instanceof AppError ? thrown.code : String(thrown));
}

async function isPending(promise: Promise<unknown>, ms = 500): Promise<boolean> {
  const nothing = Symbol('nothing');
  return await Promise.race([promise.catch(() => null), delay(ms, nothing)]) === nothing;
}

const ROLES: readonly (readonly [string, readonly string[]])[] = [
  ['as it is installed', []],
  ['that hides warnings, cancels statements and confirms early for our user', [
    "alter role postgres set client_min_messages = 'error'",
    "alter role postgres set statement_timeout = '300ms'",
    'alter role postgres set synchronous_commit = off',
    "alter role postgres set default_transaction_isolation = 'serializable'",
  ]],
];
for (const [what, statements] of ROLES) {
  test(`false success: a cancelled wait is no success, on a server ${what}`, { skip }, async () => {
    const place = await begin();
    const { cluster, log, first } = place;
    for (const statement of statements) cluster.primary.query(statement);
    const session = await connect(cluster.primary.url());
    const entry = entryAfter(first);
    const { outcome } = await appendUnconfirmed({ ...place, session }, entry);
    cluster.primary.query('select pg_cancel_backend(pid) from pg_stat_activity '
      + "where wait_event = 'SyncRep'");
    assert.equal(await outcome, 'unknown_outcome');
    await assert.rejects(session.head(), /may|know|lost/, 'the session is of no use any more');

    const again = await connect(cluster.primary.url());
    const barrier = again.barrier(randomUUID());
    assert.ok(await isPending(barrier));
    for (const standby of cluster.standbys) await standby.start();
    assert.equal((await barrier)?.chain, entry.chain);
    assert.equal(await again.holds(entry), true);
    assert.equal(await again.append(log, first, entry), true, 'it is there, and is not repeated');
    assert.equal((await again.readAfter(0, 9)).length, 2);
  });
}

test('while an append waits for its standbys, others are refused, and reads go on', { skip },
  async () => {
    const place = await begin();
    const { cluster, log, session, first } = place;
    const other = await connect(cluster.primary.url());
    const { outcome } = await appendUnconfirmed(place, entryAfter(first));
    assert.equal(await outcomeOf(other.append(log, first, entryAfter(first))), 'unavailable');
    assert.equal(await outcomeOf(other.appendLocked(log, START, () => null)), 'unavailable');
    assert.equal((await session.readAfter(0, 9)).length, 1);
    assert.equal((await other.readAfter(0, 9)).length, 1);
    for (const standby of cluster.standbys) await standby.start();
    assert.equal(await outcome, 'true');
    assert.equal(await outcomeOf(other.append(log, first, entryAfter(first))), 'false');
  });

test('standbys that are taken out of the settings end the promise at the next append', { skip },
  async () => {
    const { cluster, log, session, first } = await begin();
    cluster.primary.set("synchronous_standby_names=''");
    let at: LogEntry = first;
    let outcome = 'true';
    for (let tries = 0; outcome === 'true' && tries < 200; tries += 1) {
      const entry = entryAfter(at);
      outcome = await outcomeOf(session.append(log, at, entry));
      at = entry;
    }
    assert.equal(outcome, 'unknown_outcome');
    await assert.rejects(createPostgresEngine(cluster.primary.url(), NO_FILES).connect(),
      /synchronous_standby_names is empty/);
  });
