/** A server in memory, for requests of its own process to the routes: no port, no file. */
import type { RequestListener } from 'node:http';
import { http } from '../../base/node-modules.ts';
import type { ApiTarget } from './api-call.ts';
import { createDuplexPair } from './duplex-pair.ts';

/** Where calls reach `listener`. */
export function createMemoryTarget(listener: RequestListener): ApiTarget {
  // Ours alone, and in memory: no limit of the network applies.
  const server = http.createServer({ requestTimeout: 0, headersTimeout: 0 }, listener);
  return {
    createConnection() {
      const [client, end] = createDuplexPair();
      server.emit('connection', end);
      return client;
    },
  };
}
