/**
 * Turns settings, in the units that a person writes, into the options of client and server, and the
 * memory budget. relay.ts makes the options of the relay.
 */
import { readFileSync } from 'node:fs';
import { getHeapStatistics } from 'node:v8';
import { BODIES_BYTES_MAX, MemoryBudget } from '../base/memory-budget.ts';
import type { HttpClientOptions } from '../client/http-client.ts';
import type { ServerLimits } from '../server/listening/listener.ts';
import type { Settings } from '../settings/load-settings.ts';

/** File descriptors for the store's files, outgoing sockets and the standard streams. */
export const DESCRIPTORS_RESERVED = 256;
const DESCRIPTORS_USUAL = 1024;
const CONNECTIONS_MIN = 16;
/**
 * The share of the heap's size that requests under way may hold, however the heap's limit was set.
 * A body is a Buffer outside the heap; the payload that is parsed from it is on the heap.
 */
const REQUESTS_SHARE = 1 / 3;
/** The share of --max-memory, within that, for bodies that are arriving. */
const BODIES_SHARE = 1 / 8;

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
    connectionsMax: limitConnections(server.maxConnections),
  };
}

export function createMemoryBudget({ server }: Settings, maxMemoryBytes: number): MemoryBudget {
  const bodiesBytesMax = Math.min(BODIES_BYTES_MAX, maxMemoryBytes * BODIES_SHARE);
  return new MemoryBudget(
    Math.floor(getHeapStatistics().heap_size_limit * REQUESTS_SHARE),
    Math.max(server.maxBodyBytes, bodiesBytesMax),
  );
}

// Node's server takes only whole milliseconds, and 16.4 * 1000 is 16399.999999999998. 0 would be no
// limit.
function toWholeMs(seconds: number): number {
  return Math.max(1, Math.round(seconds * 1000));
}

/** The setting, but no more than the process has file descriptors for. */
function limitConnections(connectionsMax: number): number {
  const descriptors = readDescriptorsMax() ?? DESCRIPTORS_USUAL;
  return Math.min(connectionsMax, Math.max(CONNECTIONS_MIN, descriptors - DESCRIPTORS_RESERVED));
}

/** The soft limit of open files; Infinity without one, null where it cannot be read. */
export function readDescriptorsMax(): number | null {
  try {
    const limits = readFileSync('/proc/self/limits', 'latin1');
    const soft = /^Max open files\s+(\d+)/m.exec(limits)?.[1];
    return soft === undefined ? Infinity : Number(soft);
  } catch {
    return null;
  }
}
