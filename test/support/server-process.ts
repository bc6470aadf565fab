/** The built server in a process of its own, for tests that kill it, race it or fill its disk. */
import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { Agent, request } from 'node:http';
import { createInterface } from 'node:readline';
import { owned } from './children.ts';
import { QUICK_PROGRAM } from './program.ts';

export type ServerProcess = {
  readonly child: ChildProcess;
  readonly pid: number;
  /** The base URL once it listens, or null when it ended without. */
  readonly listening: Promise<string | null>;
  readonly ended: Promise<{ readonly code: number | null; readonly errors: string }>;
};

export function startServer(directory: string, ...flags: readonly string[]): ServerProcess {
  const program = [QUICK_PROGRAM, 'serve', '--data', directory, '--port', '0'];
  const child = owned(spawn(process.execPath, [...program, ...flags],
    { stdio: ['ignore', 'pipe', 'pipe'] }));
  let errors = '';
  child.stderr.on('data', (chunk: Buffer) => {
    errors += chunk.toString();
  });
  const listening = new Promise<string | null>((resolve) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      resolve(/^hookshelf listening on (\S+)$/.exec(line)?.[1]?.replace(/\/$/, '') ?? null);
    });
    child.once('close', () => resolve(null));
  });
  const ended = new Promise<number | null>((resolve) => {
    child.once('close', resolve);
  }).then((code) => ({ code, errors }));
  assert.ok(child.pid !== undefined, 'the process was started');
  return { child, pid: child.pid, listening, ended };
}

/** Starts it and waits until it listens. */
export async function startListening(directory: string): Promise<ServerProcess & { url: string }> {
  const server = startServer(directory);
  const url = await server.listening;
  assert.ok(url !== null, (await Promise.race([server.ended, { errors: 'no URL' }])).errors);
  return { ...server, url };
}

/** Ends it and waits for that. */
export async function stopServer(
  { child, ended }: ServerProcess, signal: 'SIGKILL' | 'SIGTERM' = 'SIGTERM',
): Promise<{ readonly code: number | null; readonly errors: string }> {
  child.kill(signal);
  return ended;
}

export type Answer = {
  readonly status: number; readonly etag: string; readonly body: string;
};
export type Caller = (
  method: string, path: string, body?: unknown, headers?: Readonly<Record<string, string>>,
) => Promise<Answer>;

/** Sends requests over `connections` kept-alive connections. A lost connection rejects. */
export function createCaller(url: string, connections: number): { call: Caller; end(): void } {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const call: Caller = (method, path, body, headers = {}) => new Promise((resolve, reject) => {
    const bytes = body === undefined ? null : Buffer.from(JSON.stringify(body));
    const bodyHeaders = bytes === null ? {} : {
      'content-type': 'application/json', 'content-length': String(bytes.length),
    };
    const sent = request(new URL(path, url), {
      agent, method, headers: { ...bodyHeaders, ...headers },
    });
    sent.once('error', reject);
    sent.once('response', (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.once('error', reject);
      response.once('end', () => resolve({
        status: response.statusCode ?? 0,
        etag: response.headers.etag ?? '',
        body: Buffer.concat(chunks).toString(),
      }));
    });
    sent.end(bytes ?? undefined);
  });
  return { call, end: () => agent.destroy() };
}
