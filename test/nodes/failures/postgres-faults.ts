/** What can break of PostgreSQL with two standbys. */
import { setTimeout as delay } from 'node:timers/promises';
import { until } from '../../support/until.ts';
import type { PostgresRig } from '../life/engine-rigs.ts';
import type { Life } from '../life/life.ts';
import { NODE_FAULTS } from './node-faults.ts';
import type { Fault } from './node-faults.ts';

/** Long enough for appends to wait for a standby. */
const WAITING_MS = 1500;
/** A node says five seconds after it last heard of the engine that it is not ready. */
const READY_MS_MAX = 30_000;

export const POSTGRES_FAULTS: Readonly<Record<string, Fault<PostgresRig>>> = {
  'nothing breaks': (life) => life.progress(300),
  ...NODE_FAULTS,
  'the primary is killed and comes back': async (_, { primary }) => {
    await primary.kill();
    await primary.start();
  },
  'the primary is killed, a standby is promoted, the old one comes back': promote,
  'both standbys are killed and come back': async (_, rig) => {
    const { standbys } = rig;
    await Promise.all(standbys.map((standby) => standby.kill()));
    await delay(WAITING_MS);
    for (const standby of standbys) await standby.start();
  },
  'one standby is killed': async (life, { standbys }) => {
    await standbys[0]?.kill();
    await life.progress(50);
    await standbys[0]?.start();
  },
  'the primary and a standby are killed and come back': async (_, rig) => {
    const { primary, standbys: [standby] } = rig;
    await Promise.all([primary.kill(), standby?.kill()]);
    await primary.start();
    await standby?.start();
  },
  'both standbys stand still for a while': async (_, { standbys }) => {
    for (const standby of standbys) standby.signal('SIGSTOP');
    await delay(8000);
    for (const standby of standbys) standby.signal('SIGCONT');
  },
  'the old primary comes back as it was, and a node is led to it': meetOldPrimary,
  'the primary stands still for a while': async (_, { primary }) => {
    primary.signal('SIGSTOP');
    await delay(8000);
    primary.signal('SIGCONT');
  },
  'everything is killed at once': async (life, { cluster }) => {
    await Promise.all([
      ...life.shelves.map((shelf) => shelf.stop('SIGKILL')),
      ...cluster.servers.map((server) => server.kill()),
    ]);
    for (const server of cluster.servers) await server.start();
    await Promise.all(life.shelves.map((shelf) => shelf.start()));
  },
  'a phantom: what waited is seen after a crash, and lost by a promotion': phantom,
  'a false success: a wait is cancelled, then the standbys come back': async (_, rig) => {
    const { standbys } = rig;
    await Promise.all(standbys.map((standby) => standby.kill()));
    await delay(WAITING_MS);
    cancelWaiting(rig);
    await delay(WAITING_MS);
    for (const standby of standbys) await standby.start();
  },
};

async function promote(life: Life, rig: PostgresRig): Promise<void> {
  const { primary } = rig;
  await primary.kill();
  await rig.promote();
  await life.progress(20);
  await rig.rejoin(primary);
}

/** It takes itself for the primary, and nobody follows it: a node there acknowledges nothing. */
async function meetOldPrimary(life: Life, rig: PostgresRig): Promise<void> {
  const { primary } = rig;
  await primary.kill();
  await rig.promote();
  await life.progress(20);
  await primary.start();
  for (const proxy of rig.proxies(0)) proxy.mislead(primary.port);
  await until('its node is not ready', async () => !await life.shelf(0).isReady(),
    { msMax: READY_MS_MAX });
  await life.progress(30);
  await primary.kill();
  await rig.rejoin(primary);
  for (const proxy of rig.proxies(0)) proxy.mislead(null);
}

async function phantom(life: Life, rig: PostgresRig): Promise<void> {
  const { standbys, primary } = rig;
  await Promise.all(standbys.map((standby) => standby.kill()));
  await delay(WAITING_MS);
  await primary.kill();
  await primary.start();
  await delay(2 * WAITING_MS);
  await primary.kill();
  for (const standby of standbys) await standby.start();
  await rig.promote();
  await life.progress(20);
  await rig.rejoin(primary);
}

function cancelWaiting({ primary }: PostgresRig): void {
  primary.query("select pg_cancel_backend(pid) from pg_stat_activity where wait_event = 'SyncRep'");
}
