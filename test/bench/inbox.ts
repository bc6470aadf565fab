/** Requests that are kept: what it costs to keep them, and to search many. */
import { createHmac } from 'node:crypto';
import { Agent, request } from 'node:http';
import { getText, temporaryFolder } from './books.ts';
import { bare, ours } from './catalog.ts';
import { WARM, compare, heading, print, start, stop, whole } from './harness.ts';
import type { Contestant, Scenario } from './harness.ts';
import { SECRET, makeBody, makeRelay, signedRequest } from './relay.ts';

const KEPT = 100_000;
const CONNECTIONS = 64;
// All that is kept in a run stays: what is measured is the keeping, not what it pushes out. The
// rounds of a scenario share a directory, and keep more than the 100 000 of the default together.
export const ROOM = {
  HOOKSHELF_INBOX_MAX_COUNT: '10000000', HOOKSHELF_INBOX_MAX_BYTES: String(8 * 2 ** 30),
};

export async function accept(): Promise<void> {
  await compareToBare('accept', ['--inbox', 'all', '--answer', 'accepted'], {
    title: 'Incoming POST, 1 KB, signed, on disk before the answer; then run, its result on disk',
    target: '0.85 of bare node:http with HMAC and group commit',
  });
}

export async function inboxAll(): Promise<void> {
  await compareToBare('inbox-all', ['--inbox', 'all'], {
    title: 'Incoming POST, 1 KB, signed, run, on disk with its result before the answer',
    target: '0.9 of bare node:http with HMAC and group commit',
  });
}

async function compareToBare(
  program: string, options: readonly string[], texts: Pick<Scenario, 'title' | 'target'>,
): Promise<void> {
  const bareProgram = bare(program, { SECRET, BENCH_DIRECTORY: temporaryFolder() });
  await compare({
    title: `${texts.title}, ${CONNECTIONS} connections`,
    target: texts.target,
    contestants: [
      { ...bareProgram, requests: () => [signedRequest(makeBody())] },
      hook('hookshelf', options),
    ],
    connections: CONNECTIONS,
    expectedStatus: 200,
    ...WARM,
  });
}

export async function inboxFailed(): Promise<void> {
  await compare({
    title: 'Incoming POST, 1 KB, signed, whose action succeeds, 64 connections',
    target: 'no less where failed requests are kept (inbox: failed) than where none is',
    contestants: [hook('inbox: off', ['--inbox', 'off']),
      hook('inbox: failed', ['--inbox', 'failed'])],
    connections: CONNECTIONS,
    expectedStatus: 200,
    rounds: 5,
  });
}

function hook(name: string, options: readonly string[]): Contestant {
  return {
    ...ours(makeRelay('nothing', {}, options)), name, environment: ROOM,
    requests: () => [signedRequest(makeBody())],
  };
}

/** How long a search takes until it has gone through all that is kept, and holds the loop. */
export async function search(): Promise<void> {
  const folder = makeRelay('nothing', {}, ['--inbox', 'all']);
  const server = await start(ours(folder).command, ROOM);
  const agent = new Agent({ keepAlive: true });
  await send(server.port, agent, '{"note":"needle"}');
  await sendMany(server.port, KEPT);
  agent.destroy();
  heading(`A search of ${whole(KEPT)} kept requests of 1 KB, until it is complete`,
    '1.5 s, and no more than 20 ms of the loop');
  for (const query of ['q=needle', 'where=payload.note=needle']) {
    await getText(server.port, '/metrics');
    const startedAt = performance.now();
    const found = await searchWhole(server.port, `/api/requests?${query}`);
    const tookMs = performance.now() - startedAt;
    const metrics = await getText(server.port, '/metrics');
    const [, blockedS = '0'] = /^nodejs_eventloop_lag_max_seconds (\S+)$/m.exec(metrics) ?? [];
    print(`${query}: ${found} found in ${tookMs.toFixed(0)} ms, longest hold of the loop `
      + `${(Number(blockedS) * 1000).toFixed(1)} ms`);
  }
  await stop(server);
}

/** Follows the pages of a search to its end, and counts what it finds. */
async function searchWhole(port: number, path: string): Promise<number> {
  let found = 0;
  for (let next: string | null = path; next !== null;) {
    const response: Response = await fetch(`http://127.0.0.1:${port}${next}`);
    if (response.status !== 200) throw new Error(`a search got ${response.status}`);
    found += (await response.json() as unknown[]).length;
    const [, target] = /<([^>]*)>/.exec(response.headers.get('link') ?? '') ?? [];
    next = target === undefined ? null : target.replace(/^https?:\/\/[^/]*/, '');
  }
  return found;
}

/** Sends different bodies to the hook over kept connections. */
export async function sendMany(port: number, count: number): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  let next = 0;
  const sendRest = async (): Promise<void> => {
    while (next < count) {
      next += 1;
      await send(port, agent, makeBody(next));
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, sendRest));
  agent.destroy();
}

function send(port: number, agent: Agent, body: string): Promise<void> {
  const headers = {
    'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body),
    'X-Signature': `sha256=${createHmac('sha256', SECRET).update(body).digest('hex')}`,
  };
  return new Promise((resolve, reject) => {
    request({ port, path: '/webhook/in/x', method: 'POST', agent, headers }, (response) => {
      response.resume();
      response.on('end', () => {
        if (response.statusCode === 200) resolve();
        else reject(new Error(`a request got ${response.statusCode}`));
      });
    }).on('error', reject).end(body);
  });
}
