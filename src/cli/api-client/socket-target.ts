/** The target of a running server on this machine: its control socket. */
import { connect } from 'node:net';
import type { NetConnectOpts } from 'node:net';
import type { Clock } from '../../base/clock.ts';
import { messageOf, systemCodeOf } from '../../base/errors.ts';
import type { ApiTarget } from '../../server/local/api-call.ts';
import { withLiveness } from './check-liveness.ts';

const CONNECT_MS_MAX = 5000;

/** `pid` is the server's: an error message names it when the server hangs. */
export function createSocketTarget(socketPath: string, pid: number, clock: Clock): ApiTarget {
  return withLiveness({ socketPath }, `the server (pid ${pid})`, clock);
}

/** Whether a server listens at the socket. After kill -9 the file stays without a server. */
export async function isListening(socketPath: string): Promise<boolean> {
  const problem = await tryToConnect({ path: socketPath }, CONNECT_MS_MAX);
  // A server whose accept queue is full lets a connection time out, but it listens.
  return problem === null || problem === 'ETIMEDOUT';
}

/** Resolves with null once connected, else with the error code of the system. */
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
