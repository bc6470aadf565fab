/**
 * What shows a fault that is planted into the program: something breaks at the very moment at which
 * the fault matters. The program as it is keeps every promise in the same scenario.
 */
import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import type { NodeView } from '../../../src/nodes/node-routes.ts';
import { until } from '../../support/until.ts';
import { check } from '../checker/check.ts';
import { EMPTY } from '../checker/history.ts';
import type { Violation, Write } from '../checker/history.ts';
import type { PostgresRig } from '../life/engine-rigs.ts';
import type { Life, LifeOptions } from '../life/life.ts';
import type { Shelf } from '../life/shelf.ts';
import { PHANTOM, POSTGRES_FAULTS } from './postgres-faults.ts';
import { restoreOldBackup } from './restored-backup.ts';

export type Scenario = {
  readonly options?: (rig: PostgresRig) => Partial<LifeOptions>;
  readonly run: (life: Life, rig: PostgresRig) => Promise<unknown>;
  /** In place of all that the history says. */
  readonly judge?: (life: Life) => Promise<readonly Violation[]>;
};

const ALONE = (): Partial<LifeOptions> => ({ writers: 0, readers: 0, hooks: 0 });
const MISSED = 200;
const ROUNDS = 4;
const WRITES = 4;
/** Of a node that then counts on no others. */
const WRITES_ALONE = 12;
/** Longer than an answer takes that waits for nothing. */
const ANSWER_MS = 1500;
/** Longer than a read of another node may be old. */
const OLD_MS = 3000;
const WAIT_MS_MAX = 60_000;

/** A beat comes every five seconds: one that was not seen for so long is about to come. */
const BEFORE_BEAT_MS = 4000;
/** Others have taken over a second after that, and the owner has not given the engine up yet. */
const CUT_MS = 22_000;
const RETRY_S = 20;
const BOOKS_DUE = 8;

export const SCENARIOS: Readonly<Record<string, Scenario>> = {
  'everything is as ever': { run: (life) => life.progress(100) },
  'a webhook is made late': { run: missMuch },
  'a connection is cut before a commit was sent': { options: ALONE, run: cutBeforeCommit },
  'the answer to a commit is lost': { options: ALONE, run: loseAnswers },
  'a node does not hear of what another has written': { options: ALONE, run: askWhoIsBehind },
  'a phantom': {
    run: async (life, rig) => {
      await life.progress(60);
      await POSTGRES_FAULTS[PHANTOM]?.(life, rig);
    },
  },
  'a wait is cancelled, and a standby promoted': { options: ALONE, run: loseUnconfirmed },
  'a standby replays nothing': {
    options: (rig) => ({ writers: 0, environment: { TAILED: rig.cluster.at(1).url() } }),
    run: stopReplay,
  },
  'an old backup is restored while a node is away': {
    options: ALONE,
    run: (life, rig) => restoreOldBackup(life, rig, life.shelf(0)),
    judge: async (life) => {
      await life.settle();
      // What was acknowledged after the backup is lost: nobody can help that.
      const writes = life.workload.books.map((write): Write =>
        write.outcome === 'ok' ? { ...write, outcome: 'unknown' } : write);
      return check({ ...EMPTY, writes, images: await life.images() });
    },
  },
  'an owner is cut off until others have taken over': {
    options: () => ({
      writers: 0, readers: 0, hooks: 12, environment: {
        HOOKSHELF_OUTGOING_RETRY_SCHEDULE: JSON.stringify([RETRY_S, ...Array(99).fill(0.3)]),
      },
    }),
    run: outliveLease,
  },
};

/** Each of them misses more than one transaction of a backfill makes up for. */
async function missMuch(life: Life): Promise<void> {
  await life.progress(MISSED);
  life.lateHooks?.makeLate();
  await life.progress(MISSED);
  life.lateHooks?.makeLate();
  await life.progress(MISSED);
}

/** What was acknowledged by then is nowhere. */
async function cutBeforeCommit(life: Life): Promise<void> {
  const [proxy] = life.rig.proxies(1);
  for (let round = 0; round < ROUNDS; round += 1) {
    proxy?.hold('toServer');
    const writes = createSome(life, life.shelf(1));
    await Promise.race([writes, delay(ANSWER_MS)]);
    proxy?.reset();
    proxy?.heal();
    await writes;
  }
}

/** What was sent is there: who sends it again without a look writes it twice. */
async function loseAnswers(life: Life): Promise<void> {
  const [proxy] = life.rig.proxies(1);
  for (let round = 0; round < 2 * ROUNDS; round += 1) {
    const cut = proxy?.cutNextCommit('answered');
    await Promise.all([cut, createSome(life, life.shelf(1))]);
  }
}

/**
 * It is asked for what it would refuse by what it knows, and what is none the less right. As it has
 * written alone for a while, it does not expect others and does not take the lock first.
 */
async function askWhoIsBehind(life: Life): Promise<void> {
  const { workload } = life;
  const [first, last] = [life.shelf(0), life.shelf(2)];
  const [proxy] = life.rig.proxies(2);
  for (let round = 0; round < ROUNDS; round += 1) {
    const known = keyOf(await workload.create(last));
    const held = keyOf(await workload.takeName(last, `name-${round}`));
    await workload.create(first);
    for (let count = 0; count < WRITES_ALONE; count += 1) await workload.create(last);
    proxy?.hold('toClient');
    const fresh = keyOf(await workload.create(first));
    await workload.change(first, 'replace', known);
    await workload.giveName(first, held);
    const asked = Promise.all([
      workload.change(last, 'replace', fresh), workload.change(last, 'replace', known),
      workload.takeName(last, `name-${round}`),
    ]);
    await Promise.race([asked, delay(ANSWER_MS)]);
    proxy?.heal();
    await asked;
  }
}

/** What was told to be committed was on one machine alone, which is gone. */
async function loseUnconfirmed(life: Life, rig: PostgresRig): Promise<void> {
  const { standbys, primary } = rig;
  // What is cancelled shows, and they would read it: nobody can help that.
  const others = [...rig.proxies(0), ...rig.proxies(2)];
  for (const proxy of others) proxy.refuse();
  await Promise.all(standbys.map((standby) => standby.kill()));
  const writes = createSome(life, life.shelf(1));
  await until('a commit waits', () => primary.query(WAITS) !== '0', { msMax: WAIT_MS_MAX });
  primary.query(`select pg_cancel_backend(pid) ${WAITING}`);
  await Promise.race([writes, delay(ANSWER_MS)]);
  await primary.kill();
  for (const standby of standbys) await standby.start();
  await rig.promote();
  await rig.rejoin(primary);
  for (const proxy of others) proxy.heal();
  await writes;
}

const WAITING = "from pg_stat_activity where wait_event = 'SyncRep' "
  + "and application_name <> 'probe'";
const WAITS = `select count(*) ${WAITING}`;

/** It confirms commits, and shows none of them. */
async function stopReplay(life: Life, rig: PostgresRig): Promise<void> {
  const standby = rig.cluster.at(1);
  standby.query('select pg_wal_replay_pause()');
  for (let round = 0; round < ROUNDS; round += 1) {
    await life.workload.create(life.shelf(1));
    await delay(OLD_MS);
  }
  standby.query('select pg_wal_replay_resume()');
}

/**
 * Deliveries come due one after the other, around the time at which others take over: whoever
 * still attempts them then does so beside the new owner.
 */
async function outliveLease(life: Life): Promise<void> {
  const { receiver, workload } = life;
  const [first, second] = [life.shelf(0), life.shelf(1)];
  receiver.isFailing = true;
  for (let book = 0; book < BOOKS_DUE; book += 1) {
    await workload.create(second);
    await delay(1000);
  }
  Object.assign(receiver, { quickMs: 4000, slowMs: 4500 });
  const heardMs = lastHeard(first, second);
  await until('a beat is about to come', async () => Date.now() - await heardMs() > BEFORE_BEAT_MS,
    { msMax: WAIT_MS_MAX });
  const [proxy] = life.rig.proxies(0);
  proxy?.hold('toServer', 'toClient');
  await delay(CUT_MS);
  proxy?.heal();
  Object.assign(receiver, { quickMs: 0, slowMs: 20, isFailing: false });
}

/** When `other` last heard of `shelf`, by the clock that both have. */
function lastHeard(shelf: Shelf, other: Shelf): () => Promise<number> {
  const nodesOf = async (one: Shelf): Promise<readonly NodeView[]> => {
    const answer = await one.ask('GET', '/api/nodes');
    assert.ok(typeof answer !== 'string' && answer.status === 200, one.log);
    return JSON.parse(answer.body);
  };
  const own = nodesOf(shelf).then((nodes) => nodes.find(({ isSelf }) => isSelf)?.identifier);
  return async () => {
    const id = await own;
    const found = (await nodesOf(other)).find(({ identifier }) => identifier === id);
    return Date.parse(found?.lastHeardAt ?? '');
  };
}

function createSome({ workload }: Life, shelf: Shelf): Promise<readonly Write[]> {
  return Promise.all(Array.from({ length: WRITES }, () => workload.create(shelf)));
}

function keyOf({ key, outcome }: Write): string {
  assert.ok(outcome === 'ok' && key !== null);
  return key;
}
