/**
 * What deliveries are measured against: payloads from an array are signed and sent by http.request
 * with an Agent, and each has a line of its result in a group commit. argv[2] is the plan. Prints
 * the result as a line of JSON.
 */
import { createHmac, randomUUID } from 'node:crypto';
import * as http from 'node:http';
import { createGroupCommit } from './bare-group-commit.ts';
import { makeBook } from './books.ts';
import type { RateSample } from './harness.ts';

export type BareDeliveryPlan = {
  readonly url: string;
  readonly secret: string;
  readonly count: number;
  readonly atOnce: number;
  /** `both`: the two signatures that ours sends; `one`: X-Signature alone. */
  readonly signatures: 'one' | 'both';
};

/** Of each result, with its line feed. */
const RESULT_LINE_BYTES = 350;
/** Which tenths of the deliveries are measured: the first compiles the code. */
const [FIRST_SHARE, LAST_SHARE] = [0.1, 0.9];

const plan: BareDeliveryPlan = JSON.parse(process.argv[2] ?? '');
const { hostname, port, pathname } = new URL(plan.url);
const agent = new http.Agent({ keepAlive: true, maxSockets: plan.atOnce });
const target = { agent, host: hostname, port, path: pathname, method: 'POST' };
const payloads = Array.from({ length: plan.count }, (_, index) =>
  Buffer.from(JSON.stringify(makeBook(index))));
const append = createGroupCommit();
let sentCount = 0;
let durableCount = 0;
let startedAt = 0;
let cpuAtStart = process.cpuUsage();

for (let lane = 0; lane < plan.atOnce; lane += 1) sendNext();

function sendNext(): void {
  const payload = payloads[sentCount];
  if (payload === undefined) return;
  sentCount += 1;
  const id = randomUUID();
  const startedMs = Date.now();
  const outgoing = http.request({ ...target, headers: makeHeaders(id, payload) }, (response) => {
    if (response.statusCode !== 200) throw new Error(`status ${response.statusCode}`);
    response.resume();
    response.on('end', () => {
      append(makeResultLine(id, startedMs), countDurable);
      sendNext();
    });
  });
  outgoing.end(payload);
}

function makeHeaders(id: string, payload: Buffer): http.OutgoingHttpHeaders {
  const timestamp = String(Math.floor(Date.now() / 1000));
  const headers: http.OutgoingHttpHeaders = {
    'content-type': 'application/json', 'content-length': payload.length,
    'webhook-id': id, 'webhook-timestamp': timestamp,
    'x-signature': `sha256=${createHmac('sha256', plan.secret).update(payload).digest('hex')}`,
  };
  if (plan.signatures === 'one') return headers;
  const mac = createHmac('sha256', plan.secret).update(`${id}.${timestamp}.`).update(payload);
  return { ...headers, 'webhook-signature': `v1,${mac.digest('base64')}` };
}

function makeResultLine(id: string, startedMs: number): string {
  const at = new Date(startedMs).toISOString();
  const record = JSON.stringify({
    identifier: id, status: 'delivered',
    attempts: [{
      at, durationMs: Date.now() - startedMs, statusCode: 200, error: null, response: '',
    }],
  });
  return `${record.padEnd(RESULT_LINE_BYTES - 1)}\n`;
}

function countDurable(): void {
  durableCount += 1;
  if (durableCount === plan.count * FIRST_SHARE) {
    startedAt = performance.now();
    cpuAtStart = process.cpuUsage();
  } else if (durableCount === plan.count * LAST_SHARE) {
    const measuredCount = plan.count * (LAST_SHARE - FIRST_SHARE);
    const { user, system } = process.cpuUsage(cpuAtStart);
    const result: RateSample = {
      perSecond: measuredCount / ((performance.now() - startedAt) / 1000),
      cpuMicros: (user + system) / measuredCount,
    };
    process.stdout.write(`${JSON.stringify(result)}\n`);
  } else if (durableCount === plan.count) {
    agent.destroy();
  }
}
