/**
 * Whether the holder of a lock lives, for those who cannot see its process: it listens on a unix
 * socket in the data directory for as long as it holds the lock. A connection succeeds while the
 * process lives, be it busy or stopped, and the kernel refuses it once the process has ended,
 * however it ended, in every container that shares the directory. What another container says of
 * pids and start times means nothing here. Nothing is sent over the socket.
 */
import { connect, createServer } from 'node:net';
import type { Server } from 'node:net';
import { basename, dirname, join } from 'node:path';
import { systemCodeOf } from '../../base/errors.ts';
import { SOCKET_PATH_BYTES_MAX, privately } from '../../base/network/socket-path.ts';
import type { Files } from '../disk/files.ts';

export interface LivenessSocket {
  /** Idempotent; the socket is gone when this returns. */
  end(): void;
}

const OWN_DESCRIPTORS_PATH = '/proc/self/fd';
/** Nobody listens there: the socket of an ended process, no file at all, or one of another kind. */
const NO_LISTENER_CODES = ['ECONNREFUSED', 'ENOENT', 'ENOTSOCK'];

/**
 * Listens at `path`, in place of what an ended process left there: only the holder of the lock that
 * the path belongs to may do so. Null where no socket can be made: the file system has none, or
 * nothing may be written there.
 */
export async function startListening(path: string, files: Files): Promise<LivenessSocket | null> {
  const address = openSocketAddress(path, files);
  if (address === null) return null;
  const server = createServer((socket) => socket.destroy());
  let isEnded = false;
  const end = (): void => {
    if (isEnded) return;
    isEnded = true;
    server.close();
    address.close();
  };
  try {
    removeSocket(path, files);
    await privately(() => listen(server, address.path));
  } catch {
    end();
    return null;
  }
  server.on('error', () => {});
  // A process that has nothing else to do may end.
  server.unref();
  return { end };
}

/** Whether somebody listens at `path`; also true when that cannot be told. */
export function hasListener(path: string, files: Files): Promise<boolean> {
  const address = openSocketAddress(path, files);
  if (address === null) return Promise.resolve(true);
  return new Promise((resolve) => {
    const socket = connect(address.path);
    const finish = (isAlive: boolean): void => {
      socket.destroy();
      address.close();
      resolve(isAlive);
    };
    socket.on('connect', () => finish(true));
    socket.on('error', (error) => finish(!NO_LISTENER_CODES.includes(systemCodeOf(error) ?? '')));
  });
}

export function removeSocket(path: string, files: Files): void {
  try {
    files.unlinkSync(path);
  } catch (error) {
    if (systemCodeOf(error) !== 'ENOENT') throw error;
  }
}

/** `path` as the kernel takes it: a long one through a descriptor of its directory. */
function openSocketAddress(
  path: string, files: Files,
): { readonly path: string; close(): void } | null {
  if (Buffer.byteLength(path) <= SOCKET_PATH_BYTES_MAX) return { path, close() {} };
  if (!files.existsSync(OWN_DESCRIPTORS_PATH)) return null;
  // With the dot, a link to the directory is followed.
  const descriptor = files.openSync(`${dirname(path)}/.`, 'read');
  return {
    path: join(OWN_DESCRIPTORS_PATH, String(descriptor), basename(path)),
    close: () => files.closeSync(descriptor),
  };
}

function listen(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    // In a worker of node:cluster too the socket is this process's.
    server.listen({ path, exclusive: true }, resolve);
  });
}
