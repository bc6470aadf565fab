/** The webhook relay under load, beside bare node:http. */
import { createHmac } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { getText, makeBook, rawPost, runCommand, temporaryFolder } from './books.ts';
import { bare, ours } from './catalog.ts';
import { measure } from './client.ts';
import { emitMany } from './emit.ts';
import {
  BESIDE, BUSY, beside, compare, heading, median, print, start, stop, whole,
} from './harness.ts';
import type { Running, Scenario } from './harness.ts';

export const SECRET = 'topsecret';
const BODY_BYTES = 1024;
const DELIVERIES = 100_000;
const DELIVERY_ROUNDS = 3;
const DELIVERIES_BUSY = 20_000;

export const NOTHING_ACTION = `export default class Nothing {
  static identifier() { return 'nothing'; }
  static label() { return 'Does nothing'; }
  execute(payload, context, options, { ActionResult }) { return ActionResult.ok(); }
}
`;

export function makeBody(n = 42): string {
  const event = { event: 'book.updated', data: makeBook(n), previous: makeBook(n + 1), note: '' };
  const room = BODY_BYTES - Buffer.byteLength(JSON.stringify(event));
  return JSON.stringify({ ...event, note: 'n'.repeat(room) });
}

export function signedRequest(body: string): string {
  const signature = createHmac('sha256', SECRET).update(body).digest('hex');
  return rawPost('/webhook/in/x', body, `X-Signature: sha256=${signature}\r\n`);
}

/** A data directory with a signed hook `x` that runs `action` with `options`. */
export function makeRelay(
  action: string, options: object, hookOptions: readonly string[] = [],
): string {
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'actions'), { mode: 0o700 });
  writeFileSync(join(folder, 'actions/nothing.mjs'), NOTHING_ACTION, { mode: 0o600 });
  const secretPath = join(folder, 'secret.txt');
  writeFileSync(secretPath, SECRET, { mode: 0o600 });
  const data = ['--data', folder];
  runCommand('actionconfig:create', '--action', action, '--options', JSON.stringify(options),
    '--identifier', 'bench', ...data);
  runCommand('incomingwebhook:create', '--path-segment', 'x', '--action-config', 'bench',
    '--secret-file', secretPath, ...hookOptions, ...data);
  return folder;
}

export async function incoming(): Promise<void> {
  await compareIncoming('', {});
}

export async function incomingBusy(): Promise<void> {
  await compareIncoming(BESIDE, BUSY);
}

async function compareIncoming(
  what: string, more: Pick<Scenario, 'hogs' | 'rounds'>,
): Promise<void> {
  const requests = (): readonly string[] => [signedRequest(makeBody())];
  await compare({
    title: 'Incoming POST, 1 KB JSON, HMAC verified, action that does nothing, 64 connections'
      + what,
    target: `${what === '' ? '1.2' : '0.9'} of bare node:http with createHmac and no more`,
    contestants: [
      { ...bare('hook', { SECRET }), requests },
      { ...ours(makeRelay('nothing', {})), requests },
    ],
    connections: 64,
    expectedStatus: 200,
    ...more,
  });
}

export async function forward(): Promise<void> {
  const sink = await startSink();
  const requests = (): readonly string[] => [signedRequest(makeBody())];
  const url = `http://127.0.0.1:${sink.port}/`;
  await compare({
    title: 'http-forward end to end, 64 connections',
    target: '0.85 of a bare node:http program that verifies and forwards with http.request',
    contestants: [
      { ...bare('forward', { SECRET, TARGET_PORT: String(sink.port) }), requests },
      { ...ours(makeRelay('http-forward', { url })), requests },
    ],
    connections: 64,
    expectedStatus: 200,
  });
  await stop(sink);
}

export async function enqueue(): Promise<void> {
  const bodies = Array.from({ length: 1000 }, (_, index) => makeBook(index));
  const folder = temporaryFolder();
  // Nothing listens there: what is measured is the queueing, not the delivery.
  runCommand('outgoingwebhook:create', '--target-url', 'http://127.0.0.1:9/', '--trigger-event',
    'bench', '--data', folder);
  await compare({
    title: 'Enqueue (event to one hook), durable, 64 connections',
    target: '0.9 of the durable POST of a book',
    contestants: [
      {
        ...ours(temporaryFolder()),
        name: 'POST of a book',
        requests: () => bodies.map((body) => rawPost('/api/books', JSON.stringify(body))),
      },
      {
        ...ours(folder),
        name: 'POST of an event',
        expectedStatus: 202,
        environment: { HOOKSHELF_OUTGOING_MAX_PENDING: '10000000' },
        requests: () => bodies.map((body) =>
          rawPost('/api/events', JSON.stringify({ name: 'bench', payload: body }))),
      },
    ],
    connections: 64,
    expectedStatus: 201,
  });
}

export async function deliver(): Promise<void> {
  for (const [atOnce, aim] of [[64, '0.8'], [8, '0.6']] as const) {
    await measureDeliveries(`, ${atOnce} at once`, aim,
      { count: DELIVERIES, rounds: DELIVERY_ROUNDS, atOnce });
  }
}

export async function deliverBusy(): Promise<void> {
  await beside(BUSY.hogs, () => measureDeliveries(BESIDE, '0.6',
    { count: DELIVERIES_BUSY, rounds: BUSY.rounds, atOnce: 64 }));
}

type DeliveryPlan = {
  readonly count: number;
  readonly rounds: number;
  /** To the one webhook there is, whose default is 8. */
  readonly atOnce: number;
};

async function measureDeliveries(what: string, aim: string, plan: DeliveryPlan): Promise<void> {
  heading(`Deliveries a second to a fast local target${what}`,
    `${aim} of the client’s own POST rate, 64 at once`);
  const rounds: { readonly rate: number; readonly clientRate: number }[] = [];
  while (rounds.length < plan.rounds) rounds.push(await deliverOnce(plan));
  for (const { rate, clientRate } of rounds) {
    print(`${plan.count} deliveries: ${whole(rate)} a second, the client alone `
      + `${whole(clientRate)}: ${(rate / clientRate).toFixed(2)}`);
  }
  print(`median: ${median(rounds.map(({ rate, clientRate }) => rate / clientRate)).toFixed(2)}`);
}

/** The client is measured before and after, on both sides of what the machine does meanwhile. */
async function deliverOnce(
  { count, atOnce }: DeliveryPlan,
): Promise<{ readonly rate: number; readonly clientRate: number }> {
  const first = await startSink();
  const url = `http://127.0.0.1:${first.port}/`;
  const before = await measure('ours', url);
  await stop(first);
  const folder = temporaryFolder();
  runCommand('outgoingwebhook:create', '--target-url', url, '--trigger-event', 'bench',
    '--data', folder);
  // Nobody listens while they are queued, so that what follows is delivery and nothing else.
  const queueing = await start(ours(folder).command);
  await emitMany(queueing.port, count);
  await stop(queueing);
  const sink = await startSink(first.port);
  const server = await start(ours(folder).command, {
    HOOKSHELF_OUTGOING_MAX_IN_FLIGHT_PER_HOOK: String(atOnce),
  });
  const rate = await steadyRate(server.port, count);
  await stop(server);
  const after = await measure('ours', url);
  await stop(sink);
  return { rate, clientRate: (before.perSecond + after.perSecond) / 2 };
}

/** On the core of the load, so that what is measured has its own. */
function startSink(port = 0): Promise<Running> {
  return start(bare('sink', {}).command, { LISTEN_PORT: String(port) }, 1);
}

/**
 * Deliveries a second while from nine to one tenth of them is left: the queue first has to learn
 * that the target is well, and the last ones wait for the retry of an attempt made too early.
 */
async function steadyRate(port: number, count: number): Promise<number> {
  let first: { readonly pending: number; readonly atMs: number } | null = null;
  for (let looks = 0; looks < 6000; looks += 1) {
    const text = await getText(port, '/metrics');
    const pending = Number(/^hookshelf_deliveries_pending (\d+)$/m.exec(text)?.[1]);
    const atMs = performance.now();
    if (pending <= count * 0.9) first ??= { pending, atMs };
    if (first !== null && pending <= count * 0.1) {
      return (first.pending - pending) / ((atMs - first.atMs) / 1000);
    }
    await new Promise((resolve) => {
      setTimeout(resolve, 100);
    });
  }
  throw new Error('the deliveries did not end');
}
