/**
 * Runs contestants side by side: rounds alternate, so that a machine whose speed drifts disturbs
 * all alike; each is pinned to core 0 and the load to core 1 where `taskset` exists. Prints medians
 * and ratios against the first contestant, the bare program. Never decides a test.
 */
import { spawn, spawnSync } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { LoadPlan, LoadResult } from './load.ts';

export type Contestant = {
  readonly name: string;
  /** Arguments for node; must print a line ending in `:<port>` or a URL once it listens. */
  readonly command: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  /** Raw requests, when they differ from the scenario's. */
  readonly requests?: (port: number) => readonly string[] | Promise<readonly string[]>;
};

export type Scenario = {
  readonly title: string;
  readonly target: string;
  readonly contestants: readonly Contestant[];
  readonly connections: number;
  readonly expectedStatus: number;
  readonly rounds?: number;
  readonly durationMs?: number;
  /** Processes beside it that never pause: none when not given. */
  readonly hogs?: number;
  /** The fewest before it is measured, beside the second that each has. */
  readonly warmupRequests?: number;
};

// On a busy machine a second is a few hundred requests, and what they cost is compiling the code:
// 239 µs a durable POST after one second, 53 after this many (the bare program: 114 and 40).
export const WARM = { warmupRequests: 20_000 } as const;
/** What makes a scenario one of a busy machine. */
export const BUSY = { hogs: 4, rounds: 2, ...WARM } as const;
export const BESIDE = ', beside four processes that never pause';

export type Running = { readonly port: number; readonly child: ChildProcess };

const HERE = import.meta.dirname;
const CLOCK_TICKS_PER_SECOND = 100;
// SQLite takes minutes for a million books.
const START_MS_MAX = 600_000;
const HOG_MS_MAX = 900_000;
const hasTaskset = spawnSync('taskset', ['-V']).status === 0;

export type Sample = LoadResult & { readonly cpuMicros: number };

/** Measures every contestant `rounds` times in turn and prints a table of medians and ratios. */
export async function compare(scenario: Scenario): Promise<void> {
  const { contestants, rounds = 3 } = scenario;
  const samples = new Map<Contestant, Sample[]>(contestants.map((one) => [one, []]));
  await beside(scenario.hogs ?? 0, async () => {
    for (let round = 0; round < rounds; round += 1) {
      for (const contestant of contestants) {
        samples.get(contestant)?.push(await measure(scenario, contestant));
      }
    }
  });
  printTable(scenario, samples);
}

/** Runs beside so many processes that never pause. */
export async function beside(hogCount: number, run: () => Promise<void>): Promise<void> {
  const hogs = Array.from({ length: hogCount }, startHog);
  try {
    await run();
  } finally {
    for (const hog of hogs) hog.kill('SIGKILL');
  }
}

/** A process that takes all the time it is given; it ends by itself if we are killed. */
function startHog(): ChildProcess {
  const program = `const end = Date.now() + ${HOG_MS_MAX}; while (Date.now() < end);`;
  return spawn(process.execPath, ['-e', program], { stdio: 'ignore' });
}

async function measure(scenario: Scenario, contestant: Contestant): Promise<Sample> {
  const server = await start(contestant.command, contestant.environment);
  try {
    return await load(server, await contestant.requests?.(server.port) ?? [], {
      connections: scenario.connections,
      warmupMs: 1000,
      warmupRequests: scenario.warmupRequests ?? 0,
      durationMs: scenario.durationMs ?? 3000,
      expectedStatus: scenario.expectedStatus,
    });
  } finally {
    await stop(server);
  }
}

/** Starts `node …command`, with our own Node or another; waits until it says where it listens. */
export async function start(
  command: readonly string[], environment: Readonly<Record<string, string>> = {},
  core: number | 'any' = 0, node: string = process.execPath,
): Promise<Running> {
  const child = spawnPinned(core, command, environment, node);
  const line = await firstLine(child, START_MS_MAX);
  const port = Number(/:(\d+)\/?\s*$/.exec(line)?.[1]);
  if (!Number.isInteger(port)) throw new Error(`no port in ${JSON.stringify(line)}`);
  return { port, child };
}

export async function stop(server: Running): Promise<void> {
  if (server.child.exitCode !== null) return;
  const exited = once(server.child, 'exit');
  server.child.kill('SIGTERM');
  await exited;
}

/** Sends raw requests in turn, from a process of its own; what they cost the server. */
export function load(
  server: Running, requests: readonly string[], plan: Omit<LoadPlan, 'ports' | 'requestsPath'>,
): Promise<Sample> {
  return loadTogether([server], requests, plan);
}

/** The same to several servers, from one process, which compiles its own code once. */
export async function loadTogether(
  servers: readonly Running[], requests: readonly string[],
  plan: Omit<LoadPlan, 'ports' | 'requestsPath'>,
): Promise<Sample> {
  const folder = mkdtempSync(join(tmpdir(), 'hookshelf-bench-'));
  try {
    const requestsPath = join(folder, 'requests.json');
    writeFileSync(requestsPath, JSON.stringify(requests));
    const ports = servers.map(({ port }) => port);
    return await runLoad(servers, { ...plan, ports, requestsPath });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function runLoad(servers: readonly Running[], plan: LoadPlan): Promise<Sample> {
  const cpuOfAll = (): number =>
    servers.reduce((total, { child }) => total + cpuSeconds(child.pid), 0);
  const child = spawnPinned(1, ['--import', 'tsx', join(HERE, 'load.ts'), JSON.stringify(plan)]);
  let output = '';
  let cpuAtStart = 0;
  child.stdout?.on('data', (chunk: Buffer) => {
    output += chunk.toString();
    if (cpuAtStart === 0) cpuAtStart = cpuOfAll();
  });
  await once(child, 'close');
  const cpuAtEnd = cpuOfAll();
  const result: LoadResult = JSON.parse(output.trim().split('\n').at(-1) ?? '');
  if (result.wrong > 0) throw new Error(`${result.wrong} wrong answers`);
  const cpuMicros = (cpuAtEnd - cpuAtStart) * 1e6 / Math.max(1, result.requests);
  return { ...result, cpuMicros };
}

export function spawnPinned(
  core: number | 'any', command: readonly string[],
  environment: Readonly<Record<string, string>> = {}, node: string = process.execPath,
): ChildProcess {
  const words = [node, ...command];
  const isPinned = hasTaskset && core !== 'any';
  const [program = '', ...rest] = isPinned ? ['taskset', '-c', String(core), ...words] : words;
  return spawn(program, rest, {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, HOOKSHELF_LOG_LEVEL: 'error', ...environment },
  });
}

function firstLine(child: ChildProcess, waitMs: number): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    const timer = setTimeout(() => reject(new Error('the server did not start')), waitMs);
    child.once('exit', (code) => reject(new Error(`the server ended with ${code}`)));
    child.stdout?.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      const end = text.indexOf('\n');
      if (end < 0) return;
      clearTimeout(timer);
      resolve(text.slice(0, end));
    });
  });
}

/** User and system time of a process in seconds, all its threads together. */
export function cpuSeconds(pid: number | undefined): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) / CLOCK_TICKS_PER_SECOND;
}

/** Resident memory of a process in bytes. */
export function residentBytes(pid: number | undefined): number {
  const status = readFileSync(`/proc/${pid}/status`, 'latin1');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) * 1024;
}

export function printTable(
  scenario: Pick<Scenario, 'title' | 'target'>,
  samples: ReadonlyMap<{ readonly name: string }, readonly Sample[]>,
): void {
  const [bare] = samples.values();
  const base = median((bare ?? []).map((sample) => sample.perSecond));
  const baseCpu = median((bare ?? []).map((sample) => sample.cpuMicros));
  heading(scenario.title, scenario.target);
  print('| what | requests/s (min – max) | ratio | CPU µs | CPU ratio | p50 ms | p99 ms |');
  print('|---|---:|---:|---:|---:|---:|---:|');
  for (const [{ name }, rows] of samples) {
    const rates = rows.map((row) => row.perSecond);
    const cpu = median(rows.map((row) => row.cpuMicros));
    print(`| ${name} | ${whole(median(rates))} (${whole(Math.min(...rates))} – `
      + `${whole(Math.max(...rates))}) | ${(median(rates) / base).toFixed(2)} | ${cpu.toFixed(1)} `
      + `| ${(baseCpu / cpu).toFixed(2)} | ${median(rows.map((row) => row.p50Ms)).toFixed(2)} `
      + `| ${median(rows.map((row) => row.p99Ms)).toFixed(2)} |`);
  }
}

export type RateSample = {
  readonly perSecond: number;
  /** User and system time of the process, all its threads, for each request. */
  readonly cpuMicros: number;
};

/** Prints medians, and the medians of the ratios to the first: a round disturbs all of it alike. */
export function printRates(samples: ReadonlyMap<string, readonly RateSample[]>): void {
  const [bare = []] = samples.values();
  print('| what | a second (min – max) | ratio | CPU µs | CPU ratio |');
  print('|---|---:|---:|---:|---:|');
  for (const [name, rows] of samples) {
    const rates = rows.map((row) => row.perSecond);
    const ratio = median(rows.map((row, round) => row.perSecond / (bare[round]?.perSecond ?? 0)));
    const cpu = median(rows.map((row) => row.cpuMicros));
    const cpuRatio =
      median(rows.map((row, round) => (bare[round]?.cpuMicros ?? 0) / row.cpuMicros));
    print(`| ${name} | ${whole(median(rates))} (${whole(Math.min(...rates))} – `
      + `${whole(Math.max(...rates))}) | ${ratio.toFixed(2)} | ${cpu.toFixed(1)} `
      + `| ${cpuRatio.toFixed(2)} |`);
  }
}

export function heading(title: string, target: string): void {
  print(`\n## ${title}\n\nTo reach: ${target}\n`);
}

export function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

export function whole(value: number): string {
  return Math.round(value).toLocaleString('en');
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((left, right) => left - right);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}
