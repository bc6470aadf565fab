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
import { heading, load, median, print, printTable, start, stop } from './harness.ts';
import type { Running, Sample } from './harness.ts';

const CONNECTIONS = 64;
const BODIES = 2000;
const ROUNDS = 3;
const READ_BOOKS = 10_000;
const START_BOOKS = 100_000;
const PROBES = 500;
const DURATION_MS = 3000;
const WARM_UP_MS = 1000;
// Of each node: one of three gets a third of the requests, and compiles as much code as one alone.
// After 16,000 of each that still was a tenth of what a request cost, on a busy machine.
const WARM_UP_REQUESTS = 20_000;
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
  readonly name: string;
  readonly size: number;
  readonly isShared: boolean;
  /** To all of its nodes together. */
  readonly connections: number;
};

// With as many connections to each of three nodes as to one alone, each has batches as large; with
// as many together, three appends carry what one does, and each costs as much.
const GROUPS: readonly Group[] = [
  { name: 'files', size: 1, isShared: false, connections: CONNECTIONS },
  { name: 'one node', size: 1, isShared: true, connections: CONNECTIONS },
  { name: 'three nodes, 64 each', size: 3, isShared: true, connections: 3 * CONNECTIONS },
  { name: 'three nodes, 64 together', size: 3, isShared: true, connections: CONNECTIONS },
];

async function posts(cluster: PostgresCluster): Promise<void> {
  const samples = new Map<Group, Sample[]>(GROUPS.map((group) => [group, []]));
  const lags = new Map<Group, number[]>(GROUPS.map((group) => [group, []]));
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const group of GROUPS) {
      await withNodes(cluster, group, async (servers) => {
        await warmUp(group, servers);
        const measured = measureTogether(group, servers);
        const [first, , last] = servers;
        const probed = first !== undefined && last !== undefined
          ? probe(first.port, last.port) : Promise.resolve([]);
        samples.get(group)?.push(await measured);
        lags.get(group)?.push(...await probed);
      });
    }
  }
  printTable({
    title: 'POST durable to nodes on PostgreSQL with a standby, 64 connections',
    target: 'one node 0.5 of files; three nodes together as much as one',
  }, samples);
  heading('Seen on another node, from the answer to a POST, under that load', 'p99 20 ms');
  for (const [{ name }, found] of lags) {
    const lagsMs = found.toSorted((left, right) => left - right);
    if (lagsMs.length === 0) continue;
    print(`${name}: p50 ${at(lagsMs, 0.5)} ms, p99 ${at(lagsMs, 0.99)} ms of ${lagsMs.length}`);
  }
}

function bodies(): string[] {
  return Array.from({ length: BODIES }, (_, index) =>
    rawPost('/api/books', JSON.stringify(makeBook(index))));
}

function spread({ connections, size }: Group): { connections: number; expectedStatus: number } {
  return { connections: Math.ceil(connections / size), expectedStatus: 201 };
}

async function warmUp(group: Group, servers: readonly Running[]): Promise<void> {
  const requests = bodies();
  await Promise.all(servers.map((server) => load(server, requests, {
    ...spread(group), warmupMs: 0, warmupRequests: WARM_UP_REQUESTS, durationMs: 1,
  })));
}

async function measureTogether(group: Group, servers: readonly Running[]): Promise<Sample> {
  const requests = bodies();
  const all = await Promise.all(servers.map((server) => load(server, requests, {
    ...spread(group), warmupMs: WARM_UP_MS, durationMs: DURATION_MS,
  })));
  const sum = (of: (sample: Sample) => number): number =>
    all.reduce((total, sample) => total + of(sample), 0);
  return {
    requests: sum(({ requests }) => requests), wrong: sum(({ wrong }) => wrong),
    perSecond: sum(({ perSecond }) => perSecond),
    cpuMicros: sum(({ cpuMicros, requests }) => cpuMicros * requests)
      / Math.max(1, sum(({ requests }) => requests)),
    p50Ms: Math.max(...all.map(({ p50Ms }) => p50Ms)),
    p99Ms: Math.max(...all.map(({ p99Ms }) => p99Ms)),
    p999Ms: Math.max(...all.map(({ p999Ms }) => p999Ms)),
    maxMs: Math.max(...all.map(({ maxMs }) => maxMs)),
  };
}

/**
 * How long after its answer each of some books is there on another node, which is asked once, with
 * the sequence to wait for: asked again and again, it would be measured under a load of our own.
 */
async function probe(from: number, to: number): Promise<number[]> {
  const agent = new Agent({ keepAlive: true });
  const lagsMs: number[] = [];
  await delay(WARM_UP_MS);
  const endsAt = performance.now() + DURATION_MS;
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
  empty(cluster);
  const places = GROUPS.slice(0, 2).map((group) => {
    const { folder } = inEnvironment(group, cluster, () => makeCatalog(READ_BOOKS));
    return { group, folder };
  });
  const samples = new Map<Group, Sample[]>(places.map(({ group }) => [group, []]));
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const { group, folder } of places) {
      const server = await startNode(cluster, group, folder);
      samples.get(group)?.push(await load(server, await requestsForAll(server.port), {
        connections: CONNECTIONS, warmupMs: WARM_UP_MS, durationMs: DURATION_MS,
        expectedStatus: 200,
      }));
      await stop(server);
    }
  }
  for (const { folder } of places) rmSync(folder, { recursive: true });
  printTable({
    title: 'GET one book of 10 000 from a node, 64 connections', target: '0.97 of files',
  }, samples);
}

async function startFromSnapshot(cluster: PostgresCluster): Promise<void> {
  const [, group] = GROUPS;
  if (group === undefined) return;
  empty(cluster);
  const { folder } = inEnvironment(group, cluster, () => makeCatalog(START_BOOKS));
  rmSync(folder, { recursive: true });
  const tookMs: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const place = temporaryFolder();
    const startedAt = performance.now();
    const server = await startNode(cluster, group, place);
    await getJson(server.port, '/api/books?limit=1');
    tookMs.push(performance.now() - startedAt);
    await stop(server);
    rmSync(place, { recursive: true });
  }
  heading('A new node starts from the snapshot of 100 000 books on PostgreSQL', '3 s');
  print(`${median(tookMs).toFixed(0)} ms`);
}

async function withNodes(
  cluster: PostgresCluster, group: Group, use: (servers: readonly Running[]) => Promise<void>,
): Promise<void> {
  empty(cluster);
  const folders = Array.from({ length: group.size }, temporaryFolder);
  const servers: Running[] = [];
  try {
    for (const [index, folder] of folders.entries()) {
      servers.push(await startNode(cluster, group, folder, index % CORES));
    }
    await use(servers);
  } finally {
    await Promise.all(servers.map(stop));
    for (const folder of folders) rmSync(folder, { recursive: true });
  }
}

function startNode(
  cluster: PostgresCluster, group: Group, folder: string, core = 0,
): Promise<Running> {
  return start([MAIN, 'serve', '--port', '0', '--data', folder], environmentOf(group, cluster),
    core);
}

/** Each group begins with nothing. */
function empty(cluster: PostgresCluster): void {
  cluster.primary.query('drop schema if exists hookshelf cascade');
}

function environmentOf({ isShared }: Group, cluster: PostgresCluster): Record<string, string> {
  return isShared ? { HOOKSHELF_STORE_URL: cluster.primary.url() } : {};
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

function at(sorted: readonly number[], share: number): string {
  return (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0).toFixed(1);
}
