/** What a million books cost: to open, to hold, to compact and to search. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { MAIN, getJson, makeCatalog, runCommand } from './books.ts';
import { ours } from './catalog.ts';
import {
  heading, median, print, residentBytes, spawnPinned, start, stop,
} from './harness.ts';
import type { Running } from './harness.ts';

const BOOKS = 1_000_000;
const MEGABYTE = 1e6;
const ROUNDS = 7;
const QUERIES = ['silent river 4', 'glass harbour atlas', 'bor cal hist', 'ursula poetry 77'];

/** The bare opener: reads the file into one buffer and indexes ids, as fast as we know how. */
const BARE_OPEN = `
  const fs = require('node:fs');
  const b = fs.readFileSync(process.argv[1]);
  const ids = new Map(); const offsets = new Float64Array(1 << 21); let n = 0, s = 0;
  for (;;) { const e = b.indexOf(10, s); if (e < 0) break;
    if (b[s] === 123) { offsets[n] = s; ids.set(b.latin1Slice(s + 7, s + 43), n++); } s = e + 1; }
  console.log(n);`;

export async function million(): Promise<void> {
  const { folder, importSeconds } = makeCatalog(BOOKS);
  heading('Import by book:import', '20 000 books a second (for 100 000 books)');
  const rate = Math.round(BOOKS / importSeconds);
  print(`${BOOKS} books in ${importSeconds.toFixed(1)} s: ${rate} a second`);
  const snapshot = newestSnapshot(folder);
  await open(folder, snapshot);
  await serve(folder, statSync(snapshot).size);
  rmSync(folder, { recursive: true });
}

async function open(folder: string, snapshot: string): Promise<void> {
  const path = `/api/books/${firstId(folder)}`;
  for (const core of ['any', 0] as const) {
    const bareMs: number[] = [];
    const oursMs: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      bareMs.push(await timed(async () => {
        await once(spawnPinned(core, ['-e', BARE_OPEN, snapshot]), 'close');
      }));
      let server: Running | undefined;
      oursMs.push(await timed(async () => {
        server = await start(ours(folder).command, {}, core);
        await getJson(server.port, path);
      }));
      if (server !== undefined) await stop(server);
    }
    const cores = core === 'any' ? 'any core' : 'one core';
    heading(`Open 1 000 000 books, first GET by id answered, ${cores}`, '0.5 × the bare program');
    print(`bare ${median(bareMs).toFixed(0)} ms, hookshelf ${median(oursMs).toFixed(0)} ms: `
      + `${(median(oursMs) / median(bareMs)).toFixed(2)} ×`);
  }
}

async function serve(folder: string, fileBytes: number): Promise<void> {
  const server = await start(ours(folder).command);
  const ids = await pageOfIds(server.port);
  heading('Resident memory, 1 000 000 books open, no search yet', '1.5 × file size + 150 MB');
  const limit = 1.5 * fileBytes + 150 * MEGABYTE;
  const resident = residentBytes(server.child.pid);
  print(`${megabytes(resident)} of ${megabytes(limit)} (file ${megabytes(fileBytes)})`);
  const compaction = compactElsewhere(folder);
  const slowestMs = await slowestGet(server.port, ids, compaction);
  heading('GET by id while 1 000 000 books are compacted', 'slowest answer 50 ms');
  print(`slowest ${slowestMs.toFixed(1)} ms`);
  const before = residentBytes(server.child.pid);
  const firstMs = await timed(async () => {
    await getJson(server.port, `/api/books?limit=20&q=${encodeURIComponent(QUERIES[0] ?? '')}`);
  });
  heading('The first q after the start, 1 000 000 books', '2.5 s');
  print(`${(firstMs / 1000).toFixed(2)} s`);
  const restMs = await timed(() => untilIndexed(server.port));
  heading('q search over 1 000 000 books, three words', '20 ms; index at most 400 MB');
  print(`index built in ${((firstMs + restMs) / 1000).toFixed(1)} s, resident memory grew by `
    + megabytes(residentBytes(server.child.pid) - before));
  for (const query of QUERIES) {
    const path = `/api/books?limit=20&q=${encodeURIComponent(query)}`;
    await getJson(server.port, path);
    const samples: number[] = [];
    for (let count = 0; count < 9; count += 1) {
      const startedAt = performance.now();
      await getJson(server.port, path);
      samples.push(performance.now() - startedAt);
    }
    print(`${query}: median ${median(samples).toFixed(1)} ms`);
  }
  await stop(server);
}

/** Runs data:compact in a process of its own; resolves when it has ended. */
async function compactElsewhere(folder: string): Promise<void> {
  const child = spawn(process.execPath, [MAIN, 'data:compact', '--data', folder], {
    stdio: 'ignore',
  });
  await new Promise((resolve) => {
    child.once('exit', resolve);
  });
}

async function slowestGet(
  port: number, ids: readonly string[], until: Promise<void>,
): Promise<number> {
  let isOver = false;
  void until.then(() => { isOver = true; });
  let slowestMs = 0;
  for (let count = 0; !isOver; count += 1) {
    const startedAt = performance.now();
    await getJson(port, `/api/books/${ids[count % ids.length]}`);
    slowestMs = Math.max(slowestMs, performance.now() - startedAt);
  }
  return slowestMs;
}

/** A search that finds nothing is answered when every book is indexed, as it may be corrected. */
async function untilIndexed(port: number): Promise<void> {
  await getJson(port, '/api/books?limit=1&q=qqqqqqqq');
}

async function pageOfIds(port: number): Promise<readonly string[]> {
  const page = await getJson(port, '/api/books?limit=1000');
  if (!Array.isArray(page)) throw new Error('no array');
  return page.map((book: { readonly id: string }) => book.id);
}

function firstId(folder: string): string {
  const [first]: readonly { readonly id: string }[] =
    JSON.parse(runCommand('book:list', '--limit', '1', '--json', '--data', folder));
  return first?.id ?? '';
}

function newestSnapshot(folder: string): string {
  const names = readdirSync(folder).filter((name) => name.startsWith('books-')).sort();
  return join(folder, names.at(-1) ?? '');
}

async function timed(run: () => Promise<void>): Promise<number> {
  const startedAt = performance.now();
  await run();
  return performance.now() - startedAt;
}

function megabytes(bytes: number): string {
  return `${Math.round(bytes / MEGABYTE)} MB`;
}
