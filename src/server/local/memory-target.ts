/** A server in memory, for calls of this process to its own routes: no port, no socket file. */
import type { RequestListener } from 'node:http';
import { http } from '../../base/node-modules.ts';
import type { ApiTarget } from './api-call.ts';
import { createDuplexPair } from './duplex-pair.ts';

/** The target of calls to `listener`. */
export function createMemoryTarget(listener: RequestListener): ApiTarget {
  // No network, and no client but ourselves: no time limit applies.
  const server = http.createServer({ requestTimeout: 0, headersTimeout: 0 }, listener);
  return {
    createConnection() {
      const [client, end] = createDuplexPair();
      server.emit('connection', end);
      return client;
    },
  };
}
