/** Deliveries to one webhook whose target is fast, beside a bare program that sends as many. */
import type { BareDeliveryPlan } from './bare-deliveries.ts';
import { getText, runCommand, temporaryFolder } from './books.ts';
import { ours } from './catalog.ts';
import { runSender, startTarget } from './client.ts';
import { emitMany } from './emit.ts';
import { BESIDE, BUSY, beside, cpuSeconds, heading, printRates, start, stop } from './harness.ts';
import type { RateSample, Running } from './harness.ts';
import { SECRET, writeSecret } from './relay.ts';

const COUNT = 50_000;
const COUNT_BUSY = 20_000;
const ROUNDS = 3;
const LOOK_MS = 100;
const LOOKS_MAX = 6000;

export async function deliver(): Promise<void> {
  for (const [atOnce, aim] of [[64, '1.0'], [8, '0.95']] as const) {
    await compareDeliveries(`, ${atOnce} at once`, aim, { count: COUNT, rounds: ROUNDS, atOnce });
  }
}

export async function deliverBusy(): Promise<void> {
  await beside(BUSY.hogs, () => compareDeliveries(BESIDE, '0.9',
    { count: COUNT_BUSY, rounds: BUSY.rounds, atOnce: 64 }));
}

type DeliveryPlan = {
  readonly count: number;
  readonly rounds: number;
  /** To the one webhook there is, whose default is 8. */
  readonly atOnce: number;
};

async function compareDeliveries(what: string, aim: string, plan: DeliveryPlan): Promise<void> {
  const contestants: Readonly<Record<string, () => Promise<RateSample>>> = {
    'bare, X-Signature': () => deliverBare(plan, 'one'),
    'bare, both signatures, as ours': () => deliverBare(plan, 'both'),
    'hookshelf': () => deliverOurs(plan),
  };
  const samples = new Map<string, RateSample[]>(
    Object.keys(contestants).map((name) => [name, []]));
  for (let round = 0; round < plan.rounds; round += 1) {
    for (const [name, run] of Object.entries(contestants)) samples.get(name)?.push(await run());
  }
  heading(`Deliveries to a fast local target${what}, each signed, its result on disk`,
    `${aim} of bare http.request with an Agent, HMAC and group commit`);
  printRates(samples);
}

async function deliverBare(
  { count, atOnce }: DeliveryPlan, signatures: BareDeliveryPlan['signatures'],
): Promise<RateSample> {
  const target = await startTarget('http');
  const plan: BareDeliveryPlan = { url: urlOf(target), count, atOnce, signatures, secret: SECRET };
  const rate = await runSender('bare-deliveries.ts', plan, { BENCH_DIRECTORY: temporaryFolder() });
  await stop(target);
  return rate;
}

async function deliverOurs({ count, atOnce }: DeliveryPlan): Promise<RateSample> {
  const folder = temporaryFolder();
  const absentTarget = await startTarget('http');
  await stop(absentTarget);
  runCommand('outgoingwebhook:create', '--target-url', urlOf(absentTarget), '--trigger-event',
    'bench', '--secret-file', writeSecret(folder), '--max-in-flight', String(atOnce),
    '--data', folder);
  // Nobody listens while they are queued, so that what follows is delivery and nothing else.
  const queueing = await start(ours(folder).command);
  await emitMany(queueing.port, count);
  await stop(queueing);
  const target = await startTarget('http', absentTarget.port);
  const server = await start(ours(folder).command);
  const rate = await measureSteadily(server, count);
  await stop(server);
  await stop(target);
  return rate;
}

function urlOf({ port }: Running): string {
  return `http://127.0.0.1:${port}/`;
}

/**
 * Measures while from nine to one tenth of them is left: the queue first has to learn that the
 * target is well, and the last ones wait for the retry of an attempt made too early.
 */
async function measureSteadily({ port, child }: Running, count: number): Promise<RateSample> {
  let first: Look | null = null;
  for (let looks = 0; looks < LOOKS_MAX; looks += 1) {
    const look = await lookAtQueue(port, child.pid);
    if (look.pending <= count * 0.9) first ??= look;
    if (first !== null && look.pending <= count * 0.1) {
      const delivered = first.pending - look.pending;
      return {
        perSecond: delivered / ((look.atMs - first.atMs) / 1000),
        cpuMicros: (look.cpuSeconds - first.cpuSeconds) * 1e6 / delivered,
      };
    }
    await new Promise((resolve) => {
      setTimeout(resolve, LOOK_MS);
    });
  }
  throw new Error('the deliveries did not end');
}

type Look = { readonly pending: number; readonly atMs: number; readonly cpuSeconds: number };

async function lookAtQueue(port: number, pid: number | undefined): Promise<Look> {
  const metrics = await getText(port, '/metrics');
  const pending = Number(/^hookshelf_deliveries_pending (\d+)$/m.exec(metrics)?.[1]);
  return { pending, atMs: performance.now(), cpuSeconds: cpuSeconds(pid) };
}
