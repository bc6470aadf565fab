/** What the indexes of the catalog cost: to be made, to be held, and with each POST. */
import { setTimeout as delay } from 'node:timers/promises';
import { getText, rawPost } from './books.ts';
import { ours } from './catalog.ts';
import { cpuSeconds, heading, load, median, print, start, stop, whole } from './harness.ts';
import type { Running } from './harness.ts';
import { makeVariedBook } from './varied-books.ts';

const POSTS = 2000;
const POST_ROUNDS = 3;
const POST_WARMUP_REQUESTS = 5000;
const POST_MS = 700;
const LOOK_MS = 20;
const LOOKS_MAX = 6000;
/** Nothing more is made once the indexes have not grown for so long. */
const QUIET_MS = 2000;
/** It has an aim of its own. */
const WORDS = 'words';

export type IndexMetrics = {
  /** Bytes of each index; none while there is none. */
  readonly bytes: ReadonlyMap<string, number>;
  /** The longest that the loop was held since the last reading. */
  readonly heldMs: number;
};

export async function readIndexMetrics({ port }: Running): Promise<IndexMetrics> {
  const metrics = await getText(port, '/metrics');
  const lines = metrics.matchAll(/^hookshelf_catalog_index_bytes\{index="([^"]+)"\} (\S+)$/gm);
  const lag = /^nodejs_eventloop_lag_max_seconds (\S+)$/m.exec(metrics)?.[1];
  return {
    bytes: new Map([...lines].map(([, index = '', bytes]) => [index, Number(bytes)])),
    heldMs: Number(lag ?? 0) * 1000,
  };
}

/** Starts a server that has no index yet, asks for `paths`, and waits until all are made. */
export async function printIndexes(
  { copy, node, paths, size }: {
    readonly copy: string; readonly node: string; readonly paths: readonly string[];
    readonly size: number;
  },
): Promise<void> {
  const server = await start(ours(copy).command, {}, 0, node);
  try {
    await getText(server.port, '/api/books?limit=20');
    const cpuAtStart = cpuSeconds(server.child.pid);
    const answers = Promise.all(paths.map((path) => fetchStatus(server.port, path)));
    const making = await untilMade(server);
    const refusals = (await answers).filter((status) => status !== 200).length;
    const cpuMs = (cpuSeconds(server.child.pid) - cpuAtStart) * 1000;
    const { bytes } = await readIndexMetrics(server);
    heading(`Making all indexes of ${whole(size)} books after a start`,
      '3 s a million without the words, turns of 20 ms, no request over 50 ms; 40 bytes a book');
    const othersBytes = [...bytes].filter(([index]) => index !== WORDS)
      .reduce((total, [, count]) => total + count, 0);
    const format = (value: string): string => bytes.size > 0 ? value : '–';
    print('| what | measured |\n|---|---:|');
    print(`| queries at once, of which refused | ${paths.length}, ${refusals} |`);
    print(`| until they have their size | ${format(`${whole(making.madeMs)} ms`)} |`);
    print(`| CPU, with the answers to the queries | ${format(`${whole(cpuMs)} ms`)} |`);
    print(`| slowest page by id meanwhile | ${format(`${whole(making.slowestMs)} ms`)} |`);
    print(`| the longest that the loop was held | ${format(`${whole(making.heldMs)} ms`)} |`);
    print(`| a book, without the words | ${format(`${(othersBytes / size).toFixed(1)} bytes`)} |`);
    for (const [index, count] of bytes) print(`| ${index} | ${whole(count)} bytes |`);
  } finally {
    await stop(server);
  }
}

async function fetchStatus(port: number, path: string): Promise<number> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`);
  await response.arrayBuffer();
  return response.status;
}

type Making = {
  readonly madeMs: number;
  readonly slowestMs: number;
  readonly heldMs: number;
};

/** When the indexes last grew, and until then: the slowest page, the longest hold of the loop. */
async function untilMade(server: Running): Promise<Making> {
  const startedAt = performance.now();
  let making: Making = { madeMs: 0, slowestMs: 0, heldMs: 0 };
  let slowestMs = 0;
  let heldMs = 0;
  let lastBytes = '';
  for (let look = 0; look < LOOKS_MAX; look += 1) {
    const askedAt = performance.now();
    await getText(server.port, '/api/books?limit=20');
    slowestMs = Math.max(slowestMs, performance.now() - askedAt);
    const metrics = await readIndexMetrics(server);
    heldMs = Math.max(heldMs, metrics.heldMs);
    const nowMs = performance.now() - startedAt;
    const bytes = JSON.stringify([...metrics.bytes]);
    if (bytes !== lastBytes) {
      making = { madeMs: nowMs, slowestMs, heldMs };
      lastBytes = bytes;
    }
    if (nowMs - making.madeMs > QUIET_MS) break;
    await delay(LOOK_MS);
  }
  return making;
}

/** CPU of a POST to a server that has made its indexes, and to one that has none. */
export async function printPosts(
  { copy, node, indexed }: {
    readonly copy: string; readonly node: string; readonly indexed: Running;
  },
): Promise<void> {
  const requests = Array.from({ length: POSTS }, (_, index) =>
    rawPost('/api/books', JSON.stringify(makeVariedBook(index))));
  const without = await start(ours(copy).command, {}, 0, node);
  const samples = new Map<Running, number[]>([[without, []], [indexed, []]]);
  try {
    for (let round = 0; round < POST_ROUNDS; round += 1) {
      for (const [server, micros] of samples) {
        const { cpuMicros } = await load(server, requests, {
          connections: 64, expectedStatus: 201, warmupMs: 300, durationMs: POST_MS,
          warmupRequests: round === 0 ? POST_WARMUP_REQUESTS : 0,
        });
        micros.push(cpuMicros);
      }
    }
  } finally {
    await stop(without);
  }
  heading('CPU of a POST with all indexes made, 64 clients', '1.3 × of without any');
  const [bare = 0, full = 0] = [...samples.values()].map(median);
  print(`without ${bare.toFixed(1)} µs, with all ${full.toFixed(1)} µs: `
    + `${(full / bare).toFixed(2)} ×`);
}
