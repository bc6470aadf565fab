/**
 * The way to a running server: its control socket. A server that says nothing for long is asked
 * whether it still lives.
 */
import { connect } from 'node:net';
import type { NetConnectOpts } from 'node:net';
import type { Clock } from '../../base/clock.ts';
import { AppError, messageOf, systemCodeOf } from '../../base/errors.ts';
import { exchange } from '../../server/local/call.ts';
import type { Target } from '../../server/local/call.ts';

const CONNECT_MS_MAX = 5000;
// After this silence the server is asked whether it lives, and has this long to say so.
const SILENCE_MS = 10_000;
const ALIVE_MS_MAX = 5000;
const SILENCE_MS_MAX = 600_000;

/** `pid` is the server's, for what is said of one that hangs. */
export function socketTarget(socketPath: string, pid: number, clock: Clock): Target {
  return {
    socketPath,
    liveness: {
      clock, silenceMs: SILENCE_MS, silenceMsMax: SILENCE_MS_MAX,
      checkAlive: () => checkAlive(clock, pid, socketPath),
    },
  };
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
export async function isListening(socketPath: string): Promise<boolean> {
  const problem = await tryToConnect({ path: socketPath }, CONNECT_MS_MAX);
  // A server whose queue is full takes no connection; it listens all the same.
  return problem === null || problem === 'ETIMEDOUT';
}

/** Null once connected, else what the system says. */
export function tryToConnect(place: NetConnectOpts, timeoutMs: number): Promise<string | null> {
  return new Promise((resolve) => {
    const socket = connect({ ...place, timeout: timeoutMs });
    const settle = (problem: string | null): void => {
      socket.destroy();
      resolve(problem);
    };
    socket.on('connect', () => settle(null));
    socket.on('timeout', () => settle('ETIMEDOUT'));
    socket.on('error', (error) => settle(systemCodeOf(error) ?? messageOf(error)));
  });
}
