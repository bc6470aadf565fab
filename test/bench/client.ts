/** The shared HTTP client beside bare http.request with an Agent: POST 1 KB, 64 at once. */
import { once } from 'node:events';
import { join } from 'node:path';
import type { ClientLoadPlan } from './client-load.ts';
import { heading, print, printRates, spawnPinned, stop } from './harness.ts';
import type { RateSample, Running } from './harness.ts';

const ROUNDS = 5;
const HERE = import.meta.dirname;

type Kind = ClientLoadPlan['kind'];

export async function client(): Promise<void> {
  heading('Client: POST 1 KB over keep-alive, 64 at once, http and https',
    '1.3 of bare http.request with an Agent');
  for (const scheme of ['http', 'https']) {
    const target = await startTarget(scheme);
    const url = `${scheme}://127.0.0.1:${target.port}/sink`;
    const samples: Record<Kind, RateSample[]> = { bare: [], ours: [] };
    for (let round = 0; round < ROUNDS; round += 1) {
      // Who goes first changes, too: a machine that slows down would favour the first.
      const order: readonly Kind[] = round % 2 === 0 ? ['bare', 'ours'] : ['ours', 'bare'];
      for (const kind of order) samples[kind].push(await measure(kind, url));
    }
    await stop(target);
    print(`${scheme}:\n`);
    printRates(new Map([['bare', samples.bare], ['ours', samples.ours]]));
  }
}

/** The target is on core 1: the client must be what limits. */
export async function startTarget(scheme: string, port = 0): Promise<Running> {
  const program = join(HERE, 'client-target.ts');
  const child = spawnPinned(1, ['--import', 'tsx', program, scheme, String(port)]);
  if (child.stdout === null) throw new Error('no output to read');
  const [line]: unknown[] = await once(child.stdout, 'data');
  return { child, port: Number(String(line)) };
}

function measure(kind: Kind, url: string): Promise<RateSample> {
  const plan: ClientLoadPlan = { kind, url, concurrency: 64, warmupMs: 1000, durationMs: 2000 };
  return runSender('client-load.ts', plan);
}

/** Runs a program of this folder that sends by a plan, and prints at what rate and cost. */
export async function runSender(
  name: string, plan: object, environment: Readonly<Record<string, string>> = {},
): Promise<RateSample> {
  const program = join(HERE, name);
  const child = spawnPinned(0, ['--import', 'tsx', program, JSON.stringify(plan)], environment);
  let output = '';
  child.stdout?.on('data', (chunk: Buffer) => {
    output += chunk.toString();
  });
  await once(child, 'close');
  return JSON.parse(output);
}
