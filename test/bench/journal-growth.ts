/**
 * How many bytes an accepted request with its result, and an event with its delivery and three
 * attempts, add to the journal, beside the line of the request or event alone.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { JournalLineEncoder } from '../../src/store/journal/journal-line-encoder.ts';
import { until } from '../support/until.ts';
import { getText, rawPost, runCommand, temporaryFolder } from './books.ts';
import { ours } from './catalog.ts';
import { heading, print, start, stop, whole } from './harness.ts';
import type { Running } from './harness.ts';
import { makeRelay, sendRaw, signedRequest, writeSecret } from './relay.ts';

/** The record of a request with such a body has 1.6 KB. */
const BODY_BYTES = 873;
const PAYLOAD_BYTES = 1024;
const ATTEMPTS = 3;
/** How many at once, and how many in all: one at a time, each waits for the one before. */
const ROWS = [[1, 40], [64, 1280]] as const;

export async function journalGrowth(): Promise<void> {
  heading('The journal of an accepted request of 1.6 KB, its result included',
    '1.4 × the line of the request alone');
  for (const [atOnce, count] of ROWS) await growthOfRequests(atOnce, count);
  heading('The journal of an event of 1 KB to one webhook, with three attempts',
    '2.2 × the line of the event alone');
  for (const [atOnce, count] of ROWS) await growthOfEvents(atOnce, count);
}

async function growthOfRequests(atOnce: number, count: number): Promise<void> {
  const folder = makeRelay('nothing', {}, ['--inbox', 'all', '--answer', 'accepted']);
  const server = await start(ours(folder).command);
  const request = signedRequest(makeText(BODY_BYTES));
  await printGrowth(folder, 'requests', { atOnce, count }, () =>
    sendAndAwait(server, request, atOnce));
  await stop(server);
}

async function growthOfEvents(atOnce: number, count: number): Promise<void> {
  const folder = temporaryFolder();
  const target = await startFailingTarget();
  runCommand('outgoingwebhook:create', '--target-url', target.url, '--trigger-event', 'bench',
    '--secret-file', writeSecret(folder), '--max-in-flight', '64',
    '--retry-schedule', Array(ATTEMPTS - 1).fill('0').join(','), '--data', folder);
  const server = await start(ours(folder).command);
  const event = rawPost('/api/events', `{"name":"bench","payload":${makeText(PAYLOAD_BYTES)}}`);
  await printGrowth(folder, 'events', { atOnce, count }, () =>
    sendAndAwait(server, event, atOnce));
  await stop(server);
  target.close();
  if (target.attemptCount() !== count * ATTEMPTS) throw new Error('not three attempts each');
}

/** A JSON object of that many bytes. */
function makeText(bytes: number): string {
  return JSON.stringify({ note: 'n'.repeat(bytes - '{"note":""}'.length) });
}

async function sendAndAwait(server: Running, request: string, atOnce: number): Promise<void> {
  await Promise.all(Array.from({ length: atOnce }, () => sendRaw(server.port, request)));
  await until('what was sent is done', async () => {
    const status: Status = JSON.parse(await getText(server.port, '/api/status'));
    return status.requests.pending === 0 && status.deliveries.pending === 0;
  });
}

type Status = Readonly<Record<'requests' | 'deliveries', { readonly pending: number }>>;

type Round = { readonly atOnce: number; readonly count: number };

/** Prints what rounds of `run` write, as a ratio to the lines of the `collection` alone. */
async function printGrowth(
  folder: string, collection: string, { atOnce, count }: Round, run: () => Promise<void>,
): Promise<void> {
  const bytesBefore = readJournal(folder).length;
  for (let done = 0; done < count; done += atOnce) await run();
  const grown = readJournal(folder).subarray(bytesBefore);
  const aloneBytes = measureAlone(grown, collection, count);
  print(`${atOnce} at a time: ${whole(grown.length / count)} bytes each, alone `
    + `${whole(aloneBytes / count)}: ${(grown.length / aloneBytes).toFixed(2)} ×`);
}

function readJournal(folder: string): Buffer {
  const names = readdirSync(folder).filter((name) => name.startsWith('journal-'));
  const [name = ''] = names;
  if (names.length !== 1) throw new Error('a compaction ran');
  return readFileSync(join(folder, name));
}

type Put = { readonly put?: string; readonly bytes: number };
type Line = { readonly seq: number; readonly ops?: readonly Put[] };

/** The bytes of `count` lines that hold nothing but the records of that collection. */
function measureAlone(journal: Buffer, collection: string, count: number): number {
  const encoder = new JournalLineEncoder();
  let recordCount = 0;
  for (const text of journal.toString().trimEnd().split('\n')) {
    const { seq, ops = [] }: Line = JSON.parse(text);
    for (const { bytes } of ops.filter(({ put }) => put === collection)) {
      encoder.addTransaction(seq, seq - 1, [{ collection, id: '', bytes: Buffer.alloc(bytes) }]);
      recordCount += 1;
    }
  }
  if (recordCount !== count) throw new Error(`${recordCount} records of ${count}`);
  return encoder.bytes.length;
}

type FailingTarget = {
  readonly url: string;
  attemptCount(): number;
  close(): void;
};

/** Answers 500 until the last attempt of a delivery, and then 200. */
async function startFailingTarget(): Promise<FailingTarget> {
  const attemptsById = new Map<string, number>();
  const server = createServer((request, response) => {
    const id = String(request.headers['webhook-id']);
    const attempts = (attemptsById.get(id) ?? 0) + 1;
    attemptsById.set(id, attempts);
    request.resume();
    request.on('end', () => response.writeHead(attempts === ATTEMPTS ? 200 : 500).end());
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/`,
    attemptCount: () => [...attemptsById.values()].reduce((sum, count) => sum + count, 0),
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
