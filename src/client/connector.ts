/**
 * Connections to one server under the rules of the shared client, for a caller that streams its
 * requests and answers. Each connection is for one request. Redirects are the caller's to refuse.
 */
import type { Socket } from 'node:net';
import type { Clock } from '../base/clock.ts';
import { connect } from './connection/connect.ts';
import { deniedError } from './network-error.ts';
import { createRules } from './rules.ts';
import type { ConnectionOptions } from './rules.ts';
import type { RequestTarget } from './policy/target.ts';

interface Connector {
  /** Rejects with NetworkError and nothing else. */
  connect(): Promise<Socket>;
  /** What stands in the request line, and the first headers, for a path below the base URL. */
  targetOf(path: string): Pick<RequestTarget, 'path' | 'headers'>;
}

/** `baseUrl` has no slash at its end. Throws as `createRules`. */
export function createConnector(
  baseUrl: string, options: ConnectionOptions, clock: Clock,
): Connector {
  const { targets, connecting } = createRules(options, { clock });
  const { destination } = targets.get(baseUrl);
  const sessions = { target: { session: null }, proxy: { session: null } };
  return {
    connect: () => new Promise((resolve, reject) => {
      if (destination.isDenied) throw deniedError();
      connect(destination, sessions, connecting, {
        onConnect: resolve, onConnectFailure: reject,
      });
    }),
    targetOf: (path) => targets.get(baseUrl + path),
  };
}
