/** Turns settings, in the units that a person writes, into the options of each room. */
import { readFileSync } from 'node:fs';
import type { HttpClientOptions } from '../client/http-client.ts';
import type { ServerLimits } from '../server/listening/listener.ts';
import type { Settings } from '../settings/load.ts';

// Kept for the store's files, outgoing sockets and the standard streams.
export const DESCRIPTORS_RESERVED = 256;
const CONNECTIONS_MIN = 16;

export function createClientOptions({ http }: Settings): HttpClientOptions {
  return {
    timeoutMs: http.timeout * 1000,
    connectTimeoutMs: http.connectTimeout * 1000,
    totalTimeoutMs: http.totalTimeout * 1000,
    retries: http.retries,
    retryDelayMs: http.retryDelayMs,
    maxSocketsPerHost: http.maxSocketsPerHost,
    verify: http.verify,
    proxy: http.proxy,
    noProxy: http.noProxy,
    denyAddresses: http.denyAddresses,
  };
}

export function createServerLimits({ server }: Settings): ServerLimits {
  return {
    requestTimeoutMs: toWholeMs(server.requestTimeout),
    headersTimeoutMs: toWholeMs(server.headersTimeout),
    keepAliveTimeoutMs: toWholeMs(server.keepAliveTimeout),
    connectionsMax: limitConnections(server.maxConnections, readDescriptorsMax()),
  };
}

// Node's server takes only whole milliseconds, and 16.4 * 1000 is 16399.999999999998.
function toWholeMs(seconds: number): number {
  return Math.max(1, Math.round(seconds * 1000));
}

/** As many connections as wanted, but not more than the process has descriptors for. */
function limitConnections(wanted: number, descriptors: number): number {
  const room = Math.max(CONNECTIONS_MIN, descriptors - DESCRIPTORS_RESERVED);
  return Math.min(wanted, room);
}

/** The soft limit of open files; where the kernel does not tell, the usual one. */
function readDescriptorsMax(): number {
  try {
    const limits = readFileSync('/proc/self/limits', 'latin1');
    const soft = /^Max open files\s+(\d+)/m.exec(limits)?.[1];
    return soft === undefined ? Infinity : Number(soft);
  } catch {
    return 1024;
  }
}
