/** Turns settings, in the units that a person writes, into the options of each room. */
import { readFileSync, statSync } from 'node:fs';
import type { HttpClientOptions } from '../client/http-client.ts';
import type { ServerLimits } from '../server/listening/listener.ts';
import { AppError, messageOf } from '../base/errors.ts';
import { checkOnlyRootCanReplace, walkPath } from '../base/path-owners.ts';
import type { Settings } from '../settings/load.ts';
import { makeDirectories } from '../store/disk/files.ts';

// Kept for the store's files, outgoing sockets and the standard streams.
export const DESCRIPTORS_RESERVED = 256;
const CONNECTIONS_MIN = 16;

export function clientOptionsOf({ http }: Settings): HttpClientOptions {
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

export function limitsOf({ server }: Settings): ServerLimits {
  return {
    requestTimeoutMs: wholeMs(server.requestTimeout),
    headersTimeoutMs: wholeMs(server.headersTimeout),
    keepAliveTimeoutMs: wholeMs(server.keepAliveTimeout),
    connectionsMax: connectionsMaxOf(server.maxConnections, descriptorsMax()),
  };
}

// Node's server takes only whole milliseconds, and 16.4 * 1000 is 16399.999999999998.
function wholeMs(seconds: number): number {
  return Math.max(1, Math.round(seconds * 1000));
}

/** As many connections as wanted, but not more than the process has descriptors for. */
function connectionsMaxOf(wanted: number, descriptors: number): number {
  const room = Math.max(CONNECTIONS_MIN, descriptors - DESCRIPTORS_RESERVED);
  return Math.min(wanted, room);
}

/**
 * Makes the data directory when it is missing. Throws `conflict`, also when it is a file, or when
 * we are root and it is not root's alone: what others put in there must not meet root's rights.
 */
export function makeDataDirectory(path: string): void {
  refuseAsRoot(path);
  try {
    makeDirectories(path);
  } catch (thrown) {
    throw new AppError('conflict', `cannot make the data directory ${path} (`
      + `${messageOf(thrown)}); name another one with --data`, {}, thrown);
  }
  // Between the look and the making somebody may have been quicker.
  refuseAsRoot(path);
  if (statSync(path).isDirectory()) return;
  throw new AppError('conflict', `${path} is not a directory; name one with --data`);
}

function refuseAsRoot(path: string): void {
  if (process.geteuid?.() === 0) checkOnlyRootCanReplace(path, walkPath(path));
}

/** The soft limit of open files; where the kernel does not tell, the usual one. */
function descriptorsMax(): number {
  try {
    const limits = readFileSync('/proc/self/limits', 'latin1');
    const soft = /^Max open files\s+(\d+)/m.exec(limits)?.[1];
    return soft === undefined ? Infinity : Number(soft);
  } catch {
    return 1024;
  }
}
