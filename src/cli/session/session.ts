/**
 * A command's way to the routes: through the control socket of the server that holds the data
 * directory, else through an app of its own, built in this process and spoken to in memory. Either
 * way the same requests reach the same routes.
 */
import type { IncomingMessage, RequestListener } from 'node:http';
import { connect } from 'node:net';
import type { Clock } from '../../base/clock.ts';
import { sleep } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';
import { exchange, open } from '../../server/local/call.ts';
import type { Answer, Call, Target } from '../../server/local/call.ts';
import { memoryTarget } from '../../server/local/memory-target.ts';

/** The routes, as app.ts serves them to this process. */
export interface LocalApp {
  readonly dispatcher: RequestListener;
  close(): Promise<void>;
}

/** The process that holds a data directory; `socketPath` is null while it serves none. */
export type Owner = { readonly pid: number; readonly socketPath: string | null };

export type SessionOptions = {
  readonly clock: Clock;
  findOwner(): Owner | null;
  /** Throws `conflict` when another process holds the directory. */
  openLocal(): Promise<LocalApp>;
  /** Told once when a request has to wait: what for. */
  onWait?(reason: string): void;
};

export interface Session {
  /** Whether a running server answers. */
  readonly isRemote: boolean;
  /** Throws what a problem answer says. */
  request(call: Call): Promise<Answer>;
  /** The answer's body as it arrives. */
  stream(call: Call): Promise<IncomingMessage>;
  close(): Promise<void>;
}

// Another command is done by then, or is at something that takes long.
const WAIT_MS = 5000;
const POLL_MS = 50;
// An index over a million books is built by then.
const BUSY_MS_MAX = 120_000;
const CONNECT_MS_MAX = 5000;
// After this silence the server is asked whether it lives, and has this long to say so.
const SILENCE_MS = 10_000;
const ALIVE_MS_MAX = 5000;
const SILENCE_MS_MAX = 600_000;

/** Throws `conflict` when another process, which is no server, keeps the directory for 5 s. */
export async function openSession(options: SessionOptions): Promise<Session> {
  const deadline = options.clock.monotonicMs() + WAIT_MS;
  for (;;) {
    const owner = options.findOwner();
    if (owner !== null && owner.socketPath !== null && await isListening(owner.socketPath)) {
      return remoteSession(owner.pid, owner.socketPath, options);
    }
    try {
      return localSession(await options.openLocal(), options);
    } catch (thrown) {
      const isHeld = thrown instanceof AppError && thrown.code === 'conflict';
      if (!isHeld || options.clock.monotonicMs() >= deadline) throw thrown;
    }
    await sleep(options.clock, POLL_MS);
  }
}

function remoteSession(pid: number, socketPath: string, options: SessionOptions): Session {
  const { clock } = options;
  const target: Target = {
    socketPath,
    silence: {
      clock, silenceMs: SILENCE_MS, silenceMsMax: SILENCE_MS_MAX,
      checkAlive: () => checkAlive(clock, pid, socketPath),
    },
  };
  return { isRemote: true, ...requestsOf(target, options), close: async () => {} };
}

function localSession(app: LocalApp, options: SessionOptions): Session {
  const target = memoryTarget(app.dispatcher);
  let closing: Promise<void> | null = null;
  return {
    isRemote: false,
    ...requestsOf(target, options),
    close() {
      closing ??= app.close();
      return closing;
    },
  };
}

function requestsOf(
  target: Target, options: SessionOptions,
): Pick<Session, 'request' | 'stream'> {
  return {
    request: (call) => patiently(call, options, () => exchange(target, call)),
    stream: (call) => patiently(call, options, () => open(target, call)),
  };
}

/** Asks again what only reads and is told to come later, as while the search index is built. */
async function patiently<Result>(
  { method }: Call, { clock, onWait }: SessionOptions, ask: () => Promise<Result>,
): Promise<Result> {
  const startedMs = clock.monotonicMs();
  for (let turn = 1; ; turn += 1) {
    try {
      return await ask();
    } catch (thrown) {
      const isBusy = thrown instanceof AppError && thrown.code === 'unavailable';
      const retryAfterS = isBusy ? thrown.details.retryAfterS : undefined;
      if (!isBusy || retryAfterS === undefined || method !== 'GET') throw thrown;
      const waitedMs = clock.monotonicMs() - startedMs;
      if (waitedMs + retryAfterS * 1000 > BUSY_MS_MAX) {
        const waited = `${thrown.message} (waited ${Math.round(waitedMs / 1000)} s)`;
        throw new AppError('unavailable', waited, thrown.details, thrown);
      }
      if (turn === 1) onWait?.(thrown.message);
      await sleep(clock, retryAfterS * 1000);
    }
  }
}

async function checkAlive(
  clock: Clock, pid: number, socketPath: string,
): Promise<AppError | null> {
  const controller = new AbortController();
  const { signal } = controller;
  const timer = clock.startTimer(ALIVE_MS_MAX, () => controller.abort());
  try {
    await exchange({ socketPath, signal }, { method: 'GET', path: '/healthz' });
    return null;
  } catch (cause) {
    if (!signal.aborted) return null;
    const waitedS = (SILENCE_MS + ALIVE_MS_MAX) / 1000;
    return new AppError('unavailable', `the server (pid ${pid}) hangs: it said nothing for `
      + `${waitedS} s; see its log, or restart it. What was asked may or may not have been done`,
    {}, cause);
  } finally {
    timer.cancel();
  }
}

/** Whether anybody listens at the socket; after kill -9 its file still lies there. */
export function isListening(socketPath: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ path: socketPath, timeout: CONNECT_MS_MAX });
    const settle = (isOpen: boolean): void => {
      socket.destroy();
      resolve(isOpen);
    };
    socket.on('connect', () => settle(true));
    socket.on('error', () => settle(false));
    // With a full queue of callers that it takes none from.
    socket.on('timeout', () => settle(true));
  });
}
