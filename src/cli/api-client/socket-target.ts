/** The way to a running server on this machine: its control socket. */
import { connect } from 'node:net';
import type { NetConnectOpts } from 'node:net';
import type { Clock } from '../../base/clock.ts';
import { messageOf, systemCodeOf } from '../../base/errors.ts';
import type { ApiTarget } from '../../server/local/api-call.ts';
import { withLiveness } from './check-liveness.ts';

const CONNECT_MS_MAX = 5000;

/** `pid` is the server's, for what is said of one that hangs. */
export function createSocketTarget(socketPath: string, pid: number, clock: Clock): ApiTarget {
  return withLiveness({ socketPath }, `the server (pid ${pid})`, clock);
}

/** Whether anybody listens at the socket; after kill -9 its file still lies there. */
export async function isListening(socketPath: string): Promise<boolean> {
  const problem = await tryToConnect({ path: socketPath }, CONNECT_MS_MAX);
  // A server whose queue is full takes no connection; it listens all the same.
  return problem === null || problem === 'ETIMEDOUT';
}

/** Null once connected, else what the system says. */
export function tryToConnect(address: NetConnectOpts, timeoutMs: number): Promise<string | null> {
  return new Promise((resolve) => {
    const socket = connect({ ...address, timeout: timeoutMs });
    const settle = (problem: string | null): void => {
      socket.destroy();
      resolve(problem);
    };
    socket.on('connect', () => settle(null));
    socket.on('timeout', () => settle('ETIMEDOUT'));
    socket.on('error', (error) => settle(systemCodeOf(error) ?? messageOf(error)));
  });
}
