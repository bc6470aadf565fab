/**
 * Connections to one server under the rules of the shared client, for a caller that streams its
 * requests and responses. Each connection is for one request. The caller must refuse redirects.
 */
import type { Socket } from 'node:net';
import type { Clock } from '../base/clock.ts';
import { connect } from './connection/connect.ts';
import { deniedError } from './network-error.ts';
import { createConnectionRules } from './connection-rules.ts';
import type { ConnectionOptions } from './connection-rules.ts';
import type { RequestTarget } from './policy/request-target.ts';

interface RequestConnector {
  /** Rejects with NetworkError and nothing else. */
  connect(): Promise<Socket>;
  /** The request line's target and the first headers for a path below the base URL. */
  resolveTarget(path: string): Pick<RequestTarget, 'path' | 'headers'>;
}

/** `baseUrl` ends without a slash. Throws as `createConnectionRules` and `GetTarget` do. */
export function createConnector(
  baseUrl: string, options: ConnectionOptions, clock: Clock,
): RequestConnector {
  const { getTarget, connecting } = createConnectionRules(options, { clock });
  const { destination } = getTarget(baseUrl);
  const sessions = { target: { session: null }, proxy: { session: null } };
  return {
    connect: () => new Promise((resolve, reject) => {
      if (destination.isDenied) throw deniedError();
      connect(destination, sessions, connecting, {
        onConnect: resolve, onConnectFailure: reject,
      });
    }),
    resolveTarget: (path) => getTarget(baseUrl + path),
  };
}
