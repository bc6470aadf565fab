/**
 * Sends as fast as one process can, by our client or by bare http(s).request; argv[2] is the plan.
 * Prints the result as a line of JSON.
 */
import * as http from 'node:http';
import * as https from 'node:https';
import { systemClock } from '../../src/base/clock.ts';
import { createHttpClient } from '../../src/client/http-client.ts';
import type { RateSample } from './harness.ts';

export type ClientLoadPlan = {
  readonly kind: 'bare' | 'ours';
  readonly url: string;
  readonly concurrency: number;
  readonly warmupMs: number;
  readonly durationMs: number;
};

type Send = () => Promise<number>;

const BODY = Buffer.alloc(1024, 'x');
const CONTENT_TYPE = 'application/json';
const TIMEOUT_MS = 5000;

const plan: ClientLoadPlan = JSON.parse(process.argv[2] ?? '');
const send = plan.kind === 'bare' ? bare(plan) : ours(plan);
await run(send, plan.concurrency, plan.warmupMs);
const cpuAtStart = process.cpuUsage();
const startedAt = performance.now();
const requests = await run(send, plan.concurrency, plan.durationMs);
const perSecond = requests / (performance.now() - startedAt) * 1000;
const { user, system } = process.cpuUsage(cpuAtStart);
const result: RateSample = { perSecond, cpuMicros: (user + system) / requests };
process.stdout.write(`${JSON.stringify(result)}\n`, () => process.exit(0));

async function run(sendOne: Send, concurrency: number, durationMs: number): Promise<number> {
  const endMs = performance.now() + durationMs;
  let count = 0;
  const sendRest = async (): Promise<void> => {
    while (performance.now() < endMs) {
      const statusCode = await sendOne();
      if (statusCode !== 200) throw new Error(`status ${statusCode}`);
      count += 1;
    }
  };
  await Promise.all(Array.from({ length: concurrency }, sendRest));
  return count;
}

/** Prepared options, an Agent, no deadline: the least that sends the request. */
function bare({ url, concurrency }: ClientLoadPlan): Send {
  const { protocol, hostname, port, pathname } = new URL(url);
  const library = protocol === 'https:' ? https : http;
  const agent = new library.Agent({ keepAlive: true, maxSockets: concurrency });
  const headers = { 'Content-Type': CONTENT_TYPE, 'Content-Length': BODY.length };
  const options: https.RequestOptions = {
    agent, host: hostname, port, path: pathname, method: 'POST', headers,
    rejectUnauthorized: false,
  };
  return () => new Promise((resolve, reject) => {
    library.request(options, (response) => {
      response.resume();
      response.on('end', () => resolve(response.statusCode ?? 0));
    }).on('error', reject).end(BODY);
  });
}

/** With every deadline and check that callers get. */
function ours({ url, concurrency }: ClientLoadPlan): Send {
  const client = createHttpClient({
    timeoutMs: TIMEOUT_MS, connectTimeoutMs: TIMEOUT_MS, totalTimeoutMs: TIMEOUT_MS,
    retries: 2, retryDelayMs: 200, maxSocketsPerHost: concurrency, verify: false,
    proxy: null, noProxy: [], denyAddresses: ['link-local', 'metadata'],
  }, { clock: systemClock });
  const headers = { 'Content-Type': CONTENT_TYPE };
  return async () => {
    const response = await client.request({ method: 'POST', url, headers, body: BODY });
    return response.statusCode;
  };
}
