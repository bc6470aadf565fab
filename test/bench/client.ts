/** The shared HTTP client beside bare http.request with an Agent: POST 1 KB, 64 at once. */
import { once } from 'node:events';
import { join } from 'node:path';
import type { ClientLoadPlan, ClientLoadResult } from './client-load.ts';
import { heading, median, print, spawnPinned, stop, whole } from './harness.ts';
import type { Running } from './harness.ts';

const ROUNDS = 5;
const HERE = import.meta.dirname;

type Kind = ClientLoadPlan['kind'];

export async function client(): Promise<void> {
  heading('Client: POST 1 KB over keep-alive, 64 at once, http and https',
    '1.3 of bare http.request with an Agent');
  print('| what | requests/s (min – max) | ratio | CPU µs | CPU ratio |');
  print('|---|---:|---:|---:|---:|');
  for (const scheme of ['http', 'https']) {
    const target = await startTarget(scheme);
    const url = `${scheme}://127.0.0.1:${target.port}/sink`;
    const samples: Record<Kind, ClientLoadResult[]> = { bare: [], ours: [] };
    for (let round = 0; round < ROUNDS; round += 1) {
      // Who goes first changes, too: a machine that slows down would favour the first.
      const order: readonly Kind[] = round % 2 === 0 ? ['bare', 'ours'] : ['ours', 'bare'];
      for (const kind of order) samples[kind].push(await measure(kind, url));
    }
    await stop(target);
    for (const kind of ['bare', 'ours'] as const) {
      printRow(`${scheme}, ${kind}`, samples[kind], samples.bare);
    }
  }
}

/** The target is on core 1: the client must be what limits. */
async function startTarget(scheme: string): Promise<Running> {
  const program = join(HERE, 'client-target.ts');
  const child = spawnPinned(1, ['--import', 'tsx', program, scheme]);
  if (child.stdout === null) throw new Error('no output to read');
  const [line]: unknown[] = await once(child.stdout, 'data');
  return { child, port: Number(String(line)) };
}

export async function measure(kind: Kind, url: string): Promise<ClientLoadResult> {
  const plan: ClientLoadPlan = { kind, url, concurrency: 64, warmupMs: 1000, durationMs: 2000 };
  const program = join(HERE, 'client-load.ts');
  const child = spawnPinned(0, ['--import', 'tsx', program, JSON.stringify(plan)]);
  let output = '';
  child.stdout?.on('data', (chunk: Buffer) => {
    output += chunk.toString();
  });
  await once(child, 'close');
  return JSON.parse(output);
}

function printRow(
  name: string, rows: readonly ClientLoadResult[], bare: readonly ClientLoadResult[],
): void {
  const rates = rows.map((row) => row.perSecond);
  // Ratios of one round each: what disturbs a round disturbs both.
  const ratio = median(rows.map((row, round) => row.perSecond / (bare[round]?.perSecond ?? 0)));
  const cpu = median(rows.map((row) => row.cpuMicros));
  const cpuRatio = median(rows.map((row, round) => (bare[round]?.cpuMicros ?? 0) / row.cpuMicros));
  print(`| ${name} | ${whole(median(rates))} (${whole(Math.min(...rates))} – `
    + `${whole(Math.max(...rates))}) | ${ratio.toFixed(2)} | ${cpu.toFixed(1)} `
    + `| ${cpuRatio.toFixed(2)} |`);
}
