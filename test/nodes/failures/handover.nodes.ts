/** Whose webhooks a node's are when it is killed, frozen or stopped, with real processes. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import type { NodeView } from '../../../src/nodes/node-routes.ts';
import { until } from '../../support/until.ts';
import { createTemporaryFolder } from '../../support/temporary-folder.ts';
import { Shelf, nowMs } from '../life/shelf.ts';
import { postgresMissing } from '../support/driver.ts';
import { PostgresCluster } from '../support/postgres-cluster.ts';

/** `http.timeout` is 5 s. */
const LENGTH_MS = 15_000;
const WAIT_MS = 60_000;
const NODES = 3;
const skip = postgresMissing;

async function withShelves(use: (shelves: readonly [Shelf, Shelf, Shelf]) => Promise<void>):
Promise<void> {
  const folder = createTemporaryFolder();
  const cluster = await PostgresCluster.start({ standbys: 0 });
  const url = cluster.primary.url(undefined, '?sslmode=disable&durability=primary');
  const shelfOf = (name: string): Shelf => new Shelf({
    name, directory: join(folder, name), environment: { HOOKSHELF_STORE_URL: url },
  });
  const shelves = [shelfOf('n0'), shelfOf('n1'), shelfOf('n2')] as const;
  try {
    for (const shelf of shelves) await shelf.startReady();
    for (const shelf of shelves) await untilSpread(shelf, NODES);
    await use(shelves);
  } finally {
    for (const shelf of shelves) await shelf.stop('SIGKILL');
    await cluster.stop();
  }
}

async function viewsOf(shelf: Shelf): Promise<readonly NodeView[]> {
  const answer = await shelf.ask('GET', '/api/nodes');
  assert.ok(typeof answer !== 'string' && answer.status === 200, `${String(answer)} ${shelf.log}`);
  return JSON.parse(answer.body);
}

/** Identifier of the node by what it says of itself. */
async function idOf(shelf: Shelf): Promise<string> {
  return (await viewsOf(shelf)).find(({ isSelf }) => isSelf)?.identifier ?? '';
}

/** Waits until the shards are spread over so many nodes, as `shelf` sees it. */
async function untilSpread(shelf: Shelf, count: number): Promise<void> {
  await until(`the shards are spread over ${count}`, async () => {
    const owners = (await viewsOf(shelf)).filter(({ shards }) => shards.length > 0);
    const counts = owners.map(({ shards }) => shards.length);
    const sum = counts.reduce((total, own) => total + own, 0);
    return counts.length === count && sum === 16 && Math.max(...counts) - Math.min(...counts) <= 1;
  }, { msMax: WAIT_MS });
}

test('a node that is killed or frozen keeps its shards until its lease is over; one that stops '
  + 'hands them over', { skip }, () =>
  withShelves(async ([first, second, third]) => {
    await killOne(first, third);
    await third.startReady();
    await untilSpread(first, NODES);
    await freezeOne(first, second);
    await stopOne(first, third);
  }));

async function killOne(first: Shelf, third: Shelf): Promise<void> {
  const id = await idOf(third);
  const killedMs = nowMs();
  await third.stop('SIGKILL');
  await untilLost(first, id);
  // Its last beat was at most five seconds before it was killed.
  assert.ok(nowMs() - killedMs >= LENGTH_MS + 1000 - 5500, 'not before the lease was over');
  await untilSpread(first, 2);
}

async function freezeOne(first: Shelf, second: Shelf): Promise<void> {
  const id = await idOf(second);
  second.freeze();
  await untilLost(first, id);
  second.thaw();
  await until('it has found out',
    () => /another node has taken over a shard of ours/.test(second.log), { msMax: WAIT_MS });
  await untilSpread(second, NODES);
}

/** Who stops takes its record along, and with it leaves its shards to the others. */
async function stopOne(first: Shelf, third: Shelf): Promise<void> {
  const id = await idOf(third);
  await third.stop('SIGTERM');
  await until('it is gone',
    async () => (await viewsOf(first)).every(({ identifier }) => identifier !== id),
    { msMax: WAIT_MS });
  await untilSpread(first, 2);
}

/** Waits until others have a node's shards, as `shelf` sees it. */
function untilLost(shelf: Shelf, id: string): Promise<void> {
  return until('its shards are taken over', async () => (await viewsOf(shelf))
    .every(({ identifier, shards }) => identifier !== id || shards.length === 0),
  { msMax: WAIT_MS });
}
