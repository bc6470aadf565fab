/** What it costs to start, and to sit there with an empty directory. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BARE_HELLO } from '../support/bare-hello.ts';
import { MAIN, getJson } from './books.ts';
import { ours } from './catalog.ts';
import { heading, median, print, residentBytes, start, stop } from './harness.ts';
import type { Running } from './harness.ts';

const ROUNDS = 15;
const IDLE_ROUNDS = 3;
const WITHOUT_CACHE = { NODE_DISABLE_COMPILE_CACHE: '1' };
// By then V8 has given back what only the start needed.
const IDLE_MS = 10_000;

export async function startUp(): Promise<void> {
  version();
  const folder = mkdtempSync(join(tmpdir(), 'hookshelf-bench-'));
  try {
    list(folder);
    await firstAnswer(folder);
    await idle(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function version(): void {
  const bareMs: number[] = [];
  const oursMs: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    bareMs.push(timed(['-e', '0']));
    oursMs.push(timed([MAIN, '--version']));
  }
  heading('--version', '1.2 × node -e 0');
  printRatio('ms', median(bareMs), median(oursMs));
}

/** What the compile cache (src/cli/process/compile-cache.ts) saves a command, from Node 22.1 on. */
function list(folder: string): void {
  const command = [MAIN, 'book:list', '--data', folder];
  const cachelessMs: number[] = [];
  const cachedMs: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    cachelessMs.push(timed(command, WITHOUT_CACHE));
    cachedMs.push(timed(command));
  }
  heading('book:list of no books', 'less with the compile cache than without');
  print(`without ${median(cachelessMs).toFixed(1)} ms, with ${median(cachedMs).toFixed(1)} ms`);
}

async function firstAnswer(folder: string): Promise<void> {
  const bareMs: number[] = [];
  const oursMs: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [command, samples, path] of [
      [['-e', BARE_HELLO], bareMs, null], [ours(folder).command, oursMs, '/healthz'],
    ] as const) {
      const startedAt = performance.now();
      const server = await start(command);
      if (path !== null) await getJson(server.port, path);
      samples.push(performance.now() - startedAt);
      await stop(server);
    }
  }
  heading('From start to the first answer, empty directory', '2.2 ×; bare: until it listens');
  printRatio('ms', median(bareMs), median(oursMs));
}

async function idle(folder: string): Promise<void> {
  const bareMegabytes: number[] = [];
  const oursMegabytes: number[] = [];
  for (let round = 0; round < IDLE_ROUNDS; round += 1) {
    const servers = [await start(['-e', BARE_HELLO]), await start(ours(folder).command)] as const;
    await new Promise((resolve) => {
      setTimeout(resolve, IDLE_MS);
    });
    bareMegabytes.push(residentMegabytes(servers[0]));
    oursMegabytes.push(residentMegabytes(servers[1]));
    await Promise.all(servers.map(stop));
  }
  heading(`Resident memory after ${IDLE_MS / 1000} s with an empty directory`,
    '1.25 × node -e serving hello');
  printRatio('MB', median(bareMegabytes), median(oursMegabytes));
}

function residentMegabytes({ child }: Running): number {
  return residentBytes(child.pid) / 1e6;
}

function timed(
  words: readonly string[], environment: Readonly<Record<string, string>> = {},
): number {
  const startedAt = performance.now();
  spawnSync(process.execPath, words, { env: { ...process.env, ...environment } });
  return performance.now() - startedAt;
}

function printRatio(unit: string, bare: number, measured: number): void {
  print(`bare ${bare.toFixed(1)} ${unit}, hookshelf ${measured.toFixed(1)} ${unit}: `
    + `${(measured / bare).toFixed(2)} ×`);
}
