/**
 * The liveness socket shows that the holder of a lock is alive, to other containers too, where its
 * pid and start time mean nothing. The holder listens on a unix socket in the data directory for as
 * long as it holds the lock. A connection succeeds while the process is alive, be it busy or
 * stopped; once it has ended, however that was, the kernel refuses it. Nothing is sent over the
 * socket.
 */
import { connect, createServer } from 'node:net';
import type { Server } from 'node:net';
import { basename, dirname, join } from 'node:path';
import { systemCodeOf } from '../../base/errors.ts';
import { SOCKET_PATH_BYTES_MAX, withPrivateUmask } from '../../base/network/unix-socket.ts';
import type { Files } from '../disk/files.ts';

export interface LivenessSocket {
  /** Idempotent. The socket is removed when this returns. */
  end(): void;
}

const OWN_DESCRIPTORS_PATH = '/proc/self/fd';
/** The errors where nobody listens: an ended process, no file, or a file that is no socket. */
const NO_LISTENER_CODES = ['ECONNREFUSED', 'ENOENT', 'ENOTSOCK'];

/**
 * Listens at `path`, and replaces the socket that an ended process left there; so only the holder
 * of the lock may call it. Null where no socket can be created, for example on a file system
 * without sockets.
 */
export async function startListening(path: string, files: Files): Promise<LivenessSocket | null> {
  const address = openSocketAddress(path, files);
  if (address === null) return null;
  const server = createServer((socket) => socket.destroy());
  let isEnded = false;
  const end = (): void => {
    if (isEnded) return;
    isEnded = true;
    // Removes the socket within this call: libuv unlinks the path as it closes the handle. The path
    // may lead through a descriptor of the directory, so that is closed after it.
    server.close();
    address.close();
  };
  try {
    removeIfPresent(path, files);
    await withPrivateUmask(() => listen(server, address.path));
  } catch {
    // The lock holds without a socket: it is only an aid for other containers.
    end();
    return null;
  }
  // An error while accepting a connection must not end the process.
  server.on('error', () => {});
  // The socket must not keep the process running.
  server.unref();
  return { end };
}

/** Whether a process listens at `path`; `whenUnknown` where that cannot be found out. */
export function hasListener(path: string, files: Files, whenUnknown = true): Promise<boolean> {
  const address = openSocketAddress(path, files);
  if (address === null) return Promise.resolve(whenUnknown);
  return new Promise((resolve) => {
    const socket = connect(address.path);
    const finish = (isAlive: boolean): void => {
      socket.destroy();
      address.close();
      resolve(isAlive);
    };
    socket.on('connect', () => finish(true));
    socket.on('error', (error) =>
      finish(whenUnknown && !NO_LISTENER_CODES.includes(systemCodeOf(error) ?? '')));
  });
}

export function removeIfPresent(path: string, files: Files): void {
  try {
    files.unlinkSync(path);
  } catch (error) {
    if (systemCodeOf(error) !== 'ENOENT') throw error;
  }
}

/** A path that the kernel accepts: a long one leads through a descriptor of its directory. */
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
    // Exclusive, so that in a worker of node:cluster this process listens, not the primary.
    server.listen({ path, exclusive: true }, resolve);
  });
}
