/**
 * Nodes that share a journal on PostgreSQL with one synchronous standby, all on this machine,
 * beside one whose journal is files.
 */
import { rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import type { IncomingHttpHeaders } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { postgresMissing } from '../nodes/support/driver.ts';
import { PostgresCluster } from '../nodes/support/postgres-cluster.ts';
import {
  MAIN, getJson, makeBook, makeCatalog, rawPost, requestsForAll, temporaryFolder,
} from './books.ts';
import {
  heading, load, loadTogether, median, print, printTable, start, stop,
} from './harness.ts';
import type { Running, Sample } from './harness.ts';

const CONNECTIONS = 64;
const BODIES = 2000;
const READ_BOOKS = 10_000;
const READ_ROUNDS = 8;
const READ_MS = 3000;
const READ_WARM_UP_MS = 1000;
const START_BOOKS = 100_000;
const START_ROUNDS = 3;
const PROBES = 100;
// All that is compared runs side by side, in short turns one after the other: the machine changes
// by a third within a minute, and all of it alike within seconds.
const TURNS = 16;
const TURN_MS = 1500;
const WARM_UP_MS = 400;
// Of each node: one of three gets a third of the requests, and compiles as much code as one alone.
// After 30,000 of each that still was a tenth of what a request cost, after 130,000 a sixteenth.
const WARM_UP_REQUESTS = 60_000;
// Several nodes share them, as they share the machine with PostgreSQL.
const CORES = 2;

export async function nodes(): Promise<void> {
  if (postgresMissing !== false) {
    print(`\nskipped: nodes (${postgresMissing})`);
    return;
  }
  const cluster = await PostgresCluster.start({ standbys: 1 });
  try {
    await posts(cluster);
    await reads(cluster);
    await startFromSnapshot(cluster);
  } finally {
    await cluster.stop();
  }
}

type Group = {
  /** Of the nodes' database; null: one node whose journal is files. */
  readonly database: string | null;
  readonly size: number;
};

const FILES: Group = { database: null, size: 1 };
const ONE: Group = { database: 'one', size: 1 };
const THREE: Group = { database: 'three', size: 3 };

type Row = {
  readonly name: string;
  readonly group: Group;
  /** To all of the group's nodes together. */
  readonly connections: number;
};

const ONE_NODE: Row = { name: 'one node', group: ONE, connections: CONNECTIONS };
// With as many connections to each of three nodes as to one alone, each has batches as large; with
// as many together, three appends carry what one does, and each costs as much.
const ROWS: readonly Row[] = [
  { name: 'files', group: FILES, connections: CONNECTIONS },
  ONE_NODE,
  { name: 'three nodes, 64 each', group: THREE, connections: 3 * CONNECTIONS },
  { name: 'three nodes, 64 together', group: THREE, connections: CONNECTIONS },
];

async function posts(cluster: PostgresCluster): Promise<void> {
  const samples = new Map<Row, Sample[]>(ROWS.map((row) => [row, []]));
  const lags = new Map<Row, number[]>(ROWS.map((row) => [row, []]));
  await withNodes(cluster, [FILES, ONE, THREE], async (serversOf) => {
    for (const row of ROWS.slice(0, 3)) await warmUp(row, serversOf(row.group));
    for (let turn = 0; turn < TURNS; turn += 1) {
      // Whoever comes after itself finds its code in the caches.
      for (const row of [...ROWS.slice(turn % ROWS.length), ...ROWS.slice(0, turn % ROWS.length)]) {
        const servers = serversOf(row.group);
        const measured = measure(row, servers);
        const [first, , last] = servers;
        const probed = first !== undefined && last !== undefined
          ? probe(first.port, last.port) : Promise.resolve([]);
        samples.get(row)?.push(await measured);
        lags.get(row)?.push(...await probed);
      }
    }
  });
  printTable({
    title: 'POST durable to nodes on PostgreSQL with a standby, 64 connections',
    target: 'one node 0.5 of files; three nodes together as much as one',
  }, samples);
  printBesideOne(samples);
  heading('Seen on another node, from the answer to a POST, under that load', 'p99 20 ms');
  for (const [{ name }, found] of lags) {
    const lagsMs = found.toSorted((left, right) => left - right);
    if (lagsMs.length === 0) continue;
    print(`${name}: p50 ${at(lagsMs, 0.5)} ms, p99 ${at(lagsMs, 0.99)} ms of ${lagsMs.length}`);
  }
}

/** Turn by turn, which the machine's own changes leave alone. */
function printBesideOne(samples: ReadonlyMap<Row, readonly Sample[]>): void {
  const alone = samples.get(ONE_NODE) ?? [];
  heading('Three nodes together beside one', '1');
  for (const [{ name, group }, found] of samples) {
    if (group !== THREE) continue;
    const ratios = found.map(({ perSecond }, turn) => perSecond / (alone[turn]?.perSecond ?? 0))
      .toSorted((left, right) => left - right);
    print(`${name}: ${median(ratios).toFixed(2)} of one node's in the same turn, the middle half `
      + `of ${ratios.length} turns ${at(ratios, 0.25, 2)} – ${at(ratios, 0.75, 2)}`);
  }
}

function bodies(): string[] {
  return Array.from({ length: BODIES }, (_, index) =>
    rawPost('/api/books', JSON.stringify(makeBook(index))));
}

async function warmUp({ group, connections }: Row, servers: readonly Running[]): Promise<void> {
  await loadTogether(servers, bodies(), {
    connections, expectedStatus: 201, warmupMs: 0,
    warmupRequests: WARM_UP_REQUESTS * group.size, durationMs: 1,
  });
}

function measure({ connections }: Row, servers: readonly Running[]): Promise<Sample> {
  return loadTogether(servers, bodies(), {
    connections, expectedStatus: 201, warmupMs: WARM_UP_MS, durationMs: TURN_MS,
  });
}

/**
 * How long after its answer each of some books is there on another node, which is asked once, with
 * the sequence to wait for: asked again and again, it would be measured under a load of our own.
 */
async function probe(from: number, to: number): Promise<number[]> {
  const agent = new Agent({ keepAlive: true });
  const lagsMs: number[] = [];
  await delay(WARM_UP_MS);
  const endsAt = performance.now() + TURN_MS;
  for (let index = 0; index < PROBES && performance.now() < endsAt; index += 1) {
    const made = await ask(agent, from, 'POST', '/api/books', {}, JSON.stringify(makeBook(index)));
    const answeredAt = performance.now();
    const { id }: { readonly id: string } = JSON.parse(made.text);
    const awaited = { 'Hookshelf-Sequence': String(made.headers['hookshelf-sequence']) };
    const { status } = await ask(agent, to, 'GET', `/api/books/${id}`, awaited);
    if (status !== 200) throw new Error(`${status} where the book is due`);
    lagsMs.push(performance.now() - answeredAt);
  }
  agent.destroy();
  return lagsMs;
}

async function reads(cluster: PostgresCluster): Promise<void> {
  await beginOne(cluster);
  const rows = ROWS.slice(0, 2).map((row) => ({
    row, folder: inEnvironment(row.group, cluster, () => makeCatalog(READ_BOOKS)).folder,
  }));
  const samples = new Map<Row, Sample[]>(rows.map(({ row }) => [row, []]));
  for (let round = 0; round < READ_ROUNDS; round += 1) {
    // The one that comes second finds another machine than the first, by some hundredths.
    for (const { row, folder } of round % 2 === 0 ? rows : rows.toReversed()) {
      const server = await startNode(cluster, row.group, folder);
      samples.get(row)?.push(await load(server, await requestsForAll(server.port), {
        connections: CONNECTIONS, warmupMs: READ_WARM_UP_MS, durationMs: READ_MS,
        expectedStatus: 200,
      }));
      await stop(server);
    }
  }
  for (const { folder } of rows) rmSync(folder, { recursive: true });
  printTable({
    title: 'GET one book of 10 000 from a node, 64 connections', target: '0.97 of files',
  }, samples);
}

async function startFromSnapshot(cluster: PostgresCluster): Promise<void> {
  await beginOne(cluster);
  const { folder } = inEnvironment(ONE, cluster, () => makeCatalog(START_BOOKS));
  rmSync(folder, { recursive: true });
  const tookMs: number[] = [];
  for (let round = 0; round < START_ROUNDS; round += 1) {
    const place = temporaryFolder();
    const startedAt = performance.now();
    const server = await startNode(cluster, ONE, place);
    await getJson(server.port, '/api/books?limit=1');
    tookMs.push(performance.now() - startedAt);
    await stop(server);
    rmSync(place, { recursive: true });
  }
  heading('A new node starts from the snapshot of 100 000 books on PostgreSQL', '3 s');
  print(`${median(tookMs).toFixed(0)} ms`);
}

async function withNodes(
  cluster: PostgresCluster, groups: readonly Group[],
  use: (serversOf: (group: Group) => readonly Running[]) => Promise<void>,
): Promise<void> {
  empty(cluster);
  const folders: string[] = [];
  const serversOf = new Map<Group, Running[]>();
  try {
    for (const group of groups) {
      const servers: Running[] = [];
      serversOf.set(group, servers);
      for (let index = 0; index < group.size; index += 1) {
        const folder = temporaryFolder();
        folders.push(folder);
        servers.push(await startNode(cluster, group, folder, index % CORES));
      }
    }
    await use((group) => serversOf.get(group) ?? []);
  } finally {
    await Promise.all([...serversOf.values()].flat().map(stop));
    for (const folder of folders) rmSync(folder, { recursive: true });
  }
}

function startNode(
  cluster: PostgresCluster, group: Group, folder: string, core = 0,
): Promise<Running> {
  return start([MAIN, 'serve', '--port', '0', '--data', folder], environmentOf(group, cluster),
    core);
}

/** Each begins with nothing. */
function empty({ primary }: PostgresCluster): void {
  for (const { database } of [ONE, THREE]) {
    primary.query(`drop database if exists ${database}`);
    primary.query(`create database ${database}`);
  }
}

/** Commands begin no log. */
async function beginOne(cluster: PostgresCluster): Promise<void> {
  empty(cluster);
  const folder = temporaryFolder();
  await stop(await startNode(cluster, ONE, folder));
  rmSync(folder, { recursive: true });
}

function environmentOf({ database }: Group, { primary }: PostgresCluster): Record<string, string> {
  return database === null ? {}
    : { HOOKSHELF_STORE_URL: primary.url(undefined, '', database) };
}

/** Commands take it from ours. */
function inEnvironment<Result>(
  group: Group, cluster: PostgresCluster, run: () => Result,
): Result {
  Object.assign(process.env, environmentOf(group, cluster));
  try {
    return run();
  } finally {
    delete process.env['HOOKSHELF_STORE_URL'];
  }
}

type Answer = {
  readonly status: number; readonly headers: IncomingHttpHeaders; readonly text: string;
};

function ask(
  agent: Agent, port: number, method: string, path: string, given: Record<string, string>,
  body?: string,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const headers = { 'Content-Type': 'application/json', ...given };
    request({ host: '127.0.0.1', port, method, path, agent, headers }, (response) => {
      let text = '';
      response.on('data', (chunk: Buffer) => {
        text += chunk.toString();
      });
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text }));
    }).on('error', reject).end(body);
  });
}

function at(sorted: readonly number[], share: number, digits = 1): string {
  const index = Math.min(sorted.length - 1, Math.floor(sorted.length * share));
  return (sorted[index] ?? 0).toFixed(digits);
}
