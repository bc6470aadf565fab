/**
 * How cost grows: with the books, with the connections, and while a compaction runs. Sizes other
 * than the four: `GROWTH_BOOKS=10000,100000`.
 */
import { once } from 'node:events';
import { request } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { getJson, getText, makeBook, makeCatalog, rawGet, rawPost } from './books.ts';
import { ours } from './catalog.ts';
import { heading, load, median, print, residentBytes, start, stop, whole } from './harness.ts';
import type { Running, Sample } from './harness.ts';

const BOOKS = (process.env['GROWTH_BOOKS'] ?? '10000,100000,1000000,3000000')
  .split(',').map(Number);
const CONNECTIONS = [1, 64, 1000, 8000];
const ROUNDS = 3;
const PAGES = 30;
const DURATION_MS = 2000;
// What the first thousands cost is compiling the code, as harness.ts says of a busy machine.
const WARMUP_REQUESTS = 20_000;
const MIXED_MS = 8000;
const MEGABYTE = 1e6;
const POSTS = 2000;

type Row = Readonly<Record<string, string>>;

export async function growth(): Promise<void> {
  const rows: Row[] = [];
  const mixed: Row[] = [];
  let connected: readonly Row[] = [];
  for (const books of BOOKS) {
    const { folder } = makeCatalog(books);
    rows.push({ books: whole(books), ...await costs(folder) });
    mixed.push({ books: whole(books), ...await whileCompacting(folder) });
    if (connected.length === 0) connected = await costsByConnections(folder);
    rmSync(folder, { recursive: true });
  }
  heading('What grows with the books', 'a POST at the most books costs 1.2 × one at the fewest');
  printTable(rows);
  heading('By connections, at the fewest books', 'no more than they must');
  printTable(connected);
  heading('GET and POST by 16 connections each while compactions run, and without',
    'p99.9 of both 25 ms, the loop held 20 ms at most');
  printTable(mixed);
}

async function costs(folder: string): Promise<Row> {
  const startedAt = performance.now();
  const server = await start(ours(folder).command);
  const ids = await someIds(server.port);
  const startMs = performance.now() - startedAt;
  const resident = residentBytes(server.child.pid);
  try {
    const get = await medianLoad(server, gets(ids), 200, 64);
    const post = await medianLoad(server, posts(), 201, 64);
    const page = await slowness(server.port, '/api/books?limit=20');
    const sort = await slowness(server.port, '/api/books?limit=20&sort=title');
    const firstAt = performance.now();
    await getText(server.port, '/api/books?limit=20&q=silent%20river%204');
    const firstMs = performance.now() - firstAt;
    await untilIndexed(server.port);
    const search = await slowness(server.port, '/api/books?limit=20&q=silent%20river%204');
    const compactAt = performance.now();
    await compact(folder);
    return {
      'GET µs': get.cpuMicros.toFixed(1), 'POST µs': post.cpuMicros.toFixed(1),
      'page ms': page, 'sort ms': sort, 'first q s': (firstMs / 1000).toFixed(1), 'q ms': search,
      'compaction s': ((performance.now() - compactAt) / 1000).toFixed(1),
      'start s': (startMs / 1000).toFixed(2),
      'memory MB, × file': `${Math.round(resident / MEGABYTE)}, `
        + (resident / snapshotBytes(folder)).toFixed(2),
    };
  } finally {
    await stop(server);
  }
}

async function costsByConnections(folder: string): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (const connections of CONNECTIONS) {
    const server = await start(ours(folder).command);
    try {
      const get = await medianLoad(server, gets(await someIds(server.port)), 200, connections);
      const post = await medianLoad(server, posts(), 201, connections);
      rows.push({
        connections: whole(connections),
        'GET µs': get.cpuMicros.toFixed(1), 'GET p99 ms': get.p99Ms.toFixed(1),
        'POST µs': post.cpuMicros.toFixed(1), 'POST p99 ms': post.p99Ms.toFixed(1),
        'memory MB': whole(residentBytes(server.child.pid) / MEGABYTE),
      });
    } finally {
      await stop(server);
    }
  }
  return rows;
}

async function whileCompacting(folder: string): Promise<Row> {
  const server = await start(ours(folder).command);
  try {
    const ids = await someIds(server.port);
    const without = await mixedLoad(server, ids);
    // The histogram of the loop's delay begins anew with each reading.
    await getText(server.port, '/metrics');
    let compactions = 0;
    let isOver = false;
    const compacting = (async () => {
      for (; !isOver; compactions += 1) await compact(folder);
    })();
    const during = await mixedLoad(server, ids);
    isOver = true;
    const metrics = await getText(server.port, '/metrics');
    const lag = /^nodejs_eventloop_lag_max_seconds ([\d.e-]+)$/m.exec(metrics)?.[1];
    await compacting;
    return {
      'GET p50, p99.9, max ms': latencies(during.get), 'without': latencies(without.get),
      'POST p50, p99.9, max ms': latencies(during.post), 'without one': latencies(without.post),
      'loop held ms': (Number(lag) * 1000).toFixed(1), compactions: String(compactions),
    };
  } finally {
    await stop(server);
  }
}

async function mixedLoad(
  server: Running, ids: readonly string[],
): Promise<{ readonly get: Sample; readonly post: Sample }> {
  const plan = { connections: 16, warmupMs: 500, durationMs: MIXED_MS };
  const [get, post] = await Promise.all([
    load(server, gets(ids), { ...plan, expectedStatus: 200 }),
    load(server, posts(), { ...plan, expectedStatus: 201 }),
  ]);
  return { get, post };
}

function latencies({ p50Ms, p999Ms, maxMs }: Sample): string {
  return [p50Ms, p999Ms, maxMs].map((ms) => ms.toFixed(1)).join(', ');
}

/** The load whose CPU time is the median of some. */
async function medianLoad(
  server: Running, requests: readonly string[], expectedStatus: number, connections: number,
): Promise<Sample> {
  const samples: Sample[] = [];
  while (samples.length < ROUNDS) {
    samples.push(await load(server, requests, {
      connections, expectedStatus, warmupMs: 500, durationMs: DURATION_MS,
      warmupRequests: samples.length === 0 ? WARMUP_REQUESTS : 0,
    }));
  }
  const middle = median(samples.map(({ cpuMicros }) => cpuMicros));
  const found = samples.find(({ cpuMicros }) => cpuMicros === middle);
  if (found === undefined) throw new Error('no sample');
  return found;
}

/** Milliseconds of the first answer, and of the following ones. */
async function slowness(port: number, path: string): Promise<string> {
  const samples: number[] = [];
  while (samples.length <= PAGES) {
    const startedAt = performance.now();
    await getText(port, path);
    samples.push(performance.now() - startedAt);
  }
  return `${samples[0]?.toFixed(1)}, ${median(samples.slice(1)).toFixed(1)}`;
}

/** A search that finds nothing is answered when every book is indexed, as it may be corrected. */
async function untilIndexed(port: number): Promise<void> {
  await getText(port, '/api/books?limit=1&q=qqqqqqqq');
}

/** Returns when the snapshots are on disk, and what they replace is deleted. */
async function compact(folder: string): Promise<void> {
  const asked = request({
    socketPath: join(folder, 'control.sock'), method: 'POST', path: '/control/data/compact',
  }).end();
  const [answer]: IncomingMessage[] = await once(asked, 'response');
  if (answer?.statusCode !== 200) throw new Error(`no compaction: ${answer?.statusCode}`);
  answer.resume();
  await once(answer, 'end');
}

async function someIds(port: number): Promise<readonly string[]> {
  const books = await getJson(port, '/api/books?limit=1000');
  if (!Array.isArray(books)) throw new Error('no array');
  return books.map(({ id }: { readonly id: string }) => id);
}

function gets(ids: readonly string[]): readonly string[] {
  return ids.map((id) => rawGet(`/api/books/${id}`));
}

function posts(): readonly string[] {
  return Array.from({ length: POSTS }, (_, index) =>
    rawPost('/api/books', JSON.stringify(makeBook(index))));
}

function snapshotBytes(folder: string): number {
  const names = readdirSync(folder).filter((name) => name.startsWith('books-')).sort();
  return statSync(join(folder, names.at(-1) ?? '')).size;
}

function printTable(rows: readonly Row[]): void {
  const names = Object.keys(rows[0] ?? {});
  print(`| ${names.join(' | ')} |`);
  print(`|${names.map(() => '---:|').join('')}`);
  for (const row of rows) print(`| ${names.map((name) => row[name]).join(' | ')} |`);
}
