/**
 * A hundred thousand requests that are kept, each with the delivery of its route, and as many
 * events, each delivered to a webhook: what they take of memory, and how fast pages of them come.
 * The first page of each filter counts as well: after a start nothing is compiled or indexed yet.
 */
import { get } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { until } from '../support/until.ts';
import { getText, runCommand, temporaryFolder } from './books.ts';
import { ours } from './catalog.ts';
import { startTarget } from './client.ts';
import { emitMany } from './emit.ts';
import {
  cpuSeconds, heading, median, print, residentBytes, start, stop, whole,
} from './harness.ts';
import { ROOM, sendMany } from './inbox.ts';
import { makeRelay } from './relay.ts';

const COUNT = Number(process.env['KEPT_COUNT'] ?? 100_000);
const PAGES = 30;
const LIMITS = [20, 100];
const MEGABYTE = 1e6;
const LOOK_MS = 200;
const WAIT_MS_MAX = 600_000;
/** All is kept: what is measured is the keeping, not what it pushes out. */
const ENVIRONMENT = {
  ...ROOM, HOOKSHELF_OUTGOING_RETENTION_COUNT: '10000000',
  HOOKSHELF_OUTGOING_RETENTION_BYTES: String(8 * 2 ** 30),
};

const PAST = '2020-01-01T00:00:00Z';
const FUTURE = '2120-01-01T00:00:00Z';
const TIMES = [`since=${PAST}`, `since=${FUTURE}`, `until=${PAST}`];
/** The filters of each list; some match all that is kept, and some nothing. */
const FILTERS: Readonly<Record<string, readonly string[]>> = {
  requests: [
    '', 'status=done', 'status=pending', 'status=failed', 'status=rejected', 'hook=incoming',
    'event=none', 'eventId=none', ...TIMES, 'hook=incoming&status=done',
  ],
  deliveries: [
    '', 'order=newest', 'kind=webhook', 'kind=forward', 'kind=route', 'kind=all',
    'status=delivered', 'status=pending', 'status=failed', 'status=cancelled', 'hook=outgoing',
    'event=bench', 'event=none', ...TIMES, 'kind=route&status=failed',
    'kind=route&hook=incoming', 'kind=all&event=none', 'kind=all&order=newest&status=delivered',
  ],
  events: [
    '', 'name=bench', 'name=*', 'name=none', 'source=api', 'source=catalog', 'heard=true',
    'heard=false', 'key=none', ...TIMES,
  ],
};

export async function inboxKept(): Promise<void> {
  const folder = await makeKeptRecords();
  heading(`Memory of ${whole(COUNT)} kept requests and as many events, each with a delivery`,
    '1.35 × the bytes of their records');
  await measureMemory(folder);
  heading('A page of them, the first of each filter after a start, and later ones',
    'none slower than 10 ms');
  for (const list of Object.keys(FILTERS)) await measureList(folder, list);
}

async function makeKeptRecords(): Promise<string> {
  const folder = makeRelay('nothing', {}, ['--inbox', 'all', '--name', 'incoming']);
  const target = await startTarget('http');
  runCommand('outgoingwebhook:create', '--target-url', `http://127.0.0.1:${target.port}/`,
    '--trigger-event', 'bench', '--name', 'outgoing', '--max-in-flight', '64', '--data', folder);
  const server = await start(ours(folder).command, ENVIRONMENT);
  await sendMany(server.port, COUNT);
  await emitMany(server.port, COUNT);
  await untilDelivered(server.port);
  await stop(server);
  await stop(target);
  runCommand('data:compact', '--data', folder);
  return folder;
}

async function untilDelivered(port: number): Promise<void> {
  await until('all is delivered', async () => {
    await delay(LOOK_MS);
    return /^hookshelf_deliveries_pending 0$/m.test(await getText(port, '/metrics'));
  }, { msMax: WAIT_MS_MAX });
}

async function measureMemory(folder: string): Promise<void> {
  const empty = await measureServer(temporaryFolder());
  const { memoryBytes, recordBytes } = await measureServer(folder);
  const takenBytes = memoryBytes - empty.memoryBytes;
  print(`${(takenBytes / MEGABYTE).toFixed(0)} MB for ${(recordBytes / MEGABYTE).toFixed(0)} MB: `
    + `${(takenBytes / recordBytes).toFixed(2)} ×`);
}

type ServerSize = { readonly memoryBytes: number; readonly recordBytes: number };

/** Measures a server over that folder after its first answer. */
async function measureServer(folder: string): Promise<ServerSize> {
  const server = await start(ours(folder).command, ENVIRONMENT);
  await getText(server.port, '/api/requests?limit=1&status=done');
  const memoryBytes = residentBytes(server.child.pid);
  const metrics = await getText(server.port, '/metrics');
  await stop(server);
  const recordBytes = [...metrics.matchAll(/record_bytes\{collection="[\w-]+"\} (\d+)/g)]
    .reduce((sum, [, bytes]) => sum + Number(bytes), 0);
  return { memoryBytes, recordBytes };
}

async function measureList(folder: string, list: string): Promise<void> {
  print(`\n| /api/${list} | first ms | later ms | slowest ms | later CPU ms | next page ms |`);
  print('|---|---:|---:|---:|---:|---:|');
  const server = await start(ours(folder).command, ENVIRONMENT);
  for (const limit of LIMITS) {
    for (const filter of FILTERS[list] ?? []) {
      const query = `limit=${limit}${filter === '' ? '' : `&${filter}`}`;
      const times: number[] = [];
      let next: string | null = null;
      let cpuAtStart = 0;
      for (let page = 0; page <= PAGES; page += 1) {
        if (page === 1) cpuAtStart = cpuSeconds(server.child.pid);
        const { ms, nextPath } = await timePage(server.port, `/api/${list}?${query}`);
        times.push(ms);
        next = nextPath;
      }
      const cpuMs = (cpuSeconds(server.child.pid) - cpuAtStart) * 1000 / PAGES;
      const nextMs = next === null ? '–' : (await timePage(server.port, next)).ms.toFixed(1);
      const [first = 0, ...later] = times;
      print(`| ${query} | ${first.toFixed(1)} | ${median(later).toFixed(1)} `
        + `| ${Math.max(...later).toFixed(1)} | ${cpuMs.toFixed(1)} | ${nextMs} |`);
    }
  }
  await stop(server);
}

type TimedPage = { readonly ms: number; readonly nextPath: string | null };

function timePage(port: number, path: string): Promise<TimedPage> {
  const startedAt = performance.now();
  return new Promise((resolve, reject) => {
    get({ host: '127.0.0.1', port, path, agent: false }, (response) => {
      if (response.statusCode !== 200) reject(new Error(`${path} got ${response.statusCode}`));
      response.resume();
      response.on('end', () => {
        const [, url] = /<([^>]*)>/.exec(String(response.headers.link)) ?? [];
        resolve({
          ms: performance.now() - startedAt,
          nextPath: url === undefined ? null : url.replace(/^https?:\/\/[^/]*/, ''),
        });
      });
    }).on('error', reject);
  });
}
