/** The webhook relay under load, beside bare node:http. */
import { createHmac } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { makeBook, rawPost, runCommand, temporaryFolder } from './books.ts';
import { bare, ours } from './catalog.ts';
import { BESIDE, BUSY, WARM, compare, start, stop } from './harness.ts';
import type { Scenario } from './harness.ts';

export const SECRET = 'topsecret';
const BODY_BYTES = 1024;

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

/** Sends a raw request over a connection of its own, and fails when it is refused. */
export function sendRaw(port: number, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(text));
    socket.on('error', reject);
    socket.once('data', (answer: Buffer) => {
      socket.destroy();
      const head = answer.toString('latin1', 0, 'HTTP/1.1 200'.length);
      if (head.startsWith('HTTP/1.1 2')) resolve();
      else reject(new Error(`a request got ${head}`));
    });
  });
}

/** A data directory with a signed hook `x` that runs `action` with `options`. */
export function makeRelay(
  action: string, options: object, hookOptions: readonly string[] = [],
): string {
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'actions'), { mode: 0o700 });
  writeFileSync(join(folder, 'actions/nothing.mjs'), NOTHING_ACTION, { mode: 0o600 });
  const data = ['--data', folder];
  runCommand('actionconfig:create', '--action', action, '--options', JSON.stringify(options),
    '--identifier', 'bench', ...data);
  runCommand('incomingwebhook:create', '--path-segment', 'x', '--action-config', 'bench',
    '--secret-file', writeSecret(folder), ...hookOptions, ...data);
  return folder;
}

/** Writes the secret to a file in the folder, and returns its path. */
export function writeSecret(folder: string): string {
  const path = join(folder, 'secret.txt');
  writeFileSync(path, SECRET, { mode: 0o600 });
  return path;
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
    // A module would run in the action worker: see `customAction`.
    title: 'Incoming POST, 1 KB JSON, HMAC verified, an action that logs nothing, 64 connections'
      + what,
    target: `${what === '' ? '1.2' : '0.9'} of bare node:http with createHmac and no more`,
    contestants: [
      { ...bare('hook', { SECRET }), requests },
      { ...ours(makeRelay('log', { level: 'debug' })), requests },
    ],
    connections: 64,
    expectedStatus: 200,
    ...more,
  });
}

/** A module runs in the action worker: its calls cost copies and two changes of thread. */
export async function customAction(): Promise<void> {
  const requests = (): readonly string[] => [signedRequest(makeBody())];
  await compare({
    title: 'Incoming POST, 1 KB JSON, HMAC verified, an action of a module beside a built-in one '
      + 'that logs nothing, 64 connections',
    target: '60 µs of CPU a call more',
    contestants: [
      { ...ours(makeRelay('log', { level: 'debug' })), requests },
      { ...ours(makeRelay('nothing', {})), requests },
    ],
    connections: 64,
    expectedStatus: 200,
  });
}

export async function forward(): Promise<void> {
  // On the core of the load, so that what is measured has its own.
  const sink = await start(bare('sink', {}).command, {}, 1);
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
  const folder = temporaryFolder();
  // Nothing listens there: what is measured is the queueing, not the delivery.
  runCommand('outgoingwebhook:create', '--target-url', 'http://127.0.0.1:9/', '--trigger-event',
    'bench', '--data', folder);
  const requests = (): readonly string[] => Array.from({ length: 1000 }, (_, index) =>
    rawPost('/api/events', JSON.stringify({ name: 'bench', payload: makeBook(index) })));
  await compare({
    title: 'Enqueue (event to one hook), durable, 64 connections',
    target: '0.95 of bare node:http that writes the same by group commit',
    contestants: [
      { ...bare('enqueue', { BENCH_DIRECTORY: temporaryFolder() }), requests },
      { ...ours(folder), requests, environment: { HOOKSHELF_OUTGOING_MAX_PENDING: '10000000' } },
    ],
    connections: 64,
    expectedStatus: 202,
    ...WARM,
  });
}
