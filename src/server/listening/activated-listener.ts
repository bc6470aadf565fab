/**
 * Listens on sockets that a supervisor has opened and keeps (activated-sockets.ts). An upgrade so
 * refuses no connection: a process that stops takes no more of them, and the next one finds them in
 * the kernel's queue.
 */
import { fstatSync, readFileSync } from 'node:fs';
import type { Clock } from '../../base/clock.ts';
import { AppError, messageOf } from '../../base/errors.ts';
import type { RequestListeners } from '../routing/dispatcher.ts';
import type { ActivatedSocket } from './activated-sockets.ts';
import {
  attend, createLifecycle, createUnattendedServer, formatUrl, listen, trackSockets,
} from './listener.ts';
import type { Certificate, Listener, ServerLimits } from './listener.ts';

// A client that sends one request after another has begun the next request by then. An earlier cut
// would lose a request that is on its way, for nothing: the next process takes its connections.
const IDLE_MS = 250;
// The queue is the supervisor's: we must not make it shorter. The kernel lowers this to
// net.core.somaxconn.
const BACKLOG = 65_535;

type ActivatedListener = Listener & {
  /** The address on TCP; null for a unix socket. */
  readonly host: string | null;
};

/**
 * Listens on a socket that a supervisor has opened. `chooseListeners` gets the address of the
 * socket, null for a unix socket, before a connection is accepted. If it throws, the kernel's queue
 * of connections stays with the supervisor; after a close the queue is for the next process. Throws
 * `usage` for a descriptor that is no listening socket.
 */
export async function listenOnActivatedSocket(
  socket: ActivatedSocket,
  { limits, clock, certificate, chooseListeners }: {
    readonly limits: ServerLimits; readonly clock: Clock; readonly certificate: Certificate | null;
    readonly chooseListeners: (host: string | null) => RequestListeners;
  },
): Promise<ActivatedListener> {
  const server = createUnattendedServer(limits, certificate ?? undefined);
  const sockets = trackSockets(server);
  const listening = listen(server, { fd: socket.descriptor },
    (cause) => toActivationError(cause, socket), BACKLOG);
  const address = server.address();
  const boundTo = address !== null && typeof address === 'object' ? address : null;
  if (server.listening) {
    try {
      attend(server, chooseListeners(boundTo?.address ?? null), clock);
    } catch (thrown) {
      server.close();
      throw thrown;
    }
  }
  await listening;
  const lifecycle = createLifecycle(server, sockets, clock, IDLE_MS);
  if (boundTo === null) {
    const url = `unix:${findSocketPath(socket) ?? socket.name}`;
    return { url, host: null, port: null, ...lifecycle };
  }
  const { address: host, port } = boundTo;
  return { url: formatUrl(server, boundTo), host, port, ...lifecycle };
}

function toActivationError(cause: Error, { descriptor, name }: ActivatedSocket): AppError {
  return new AppError('usage', `descriptor ${descriptor} (${name}), which LISTEN_FDS announces, is `
    + `no socket to listen on (${messageOf(cause)}): the unit of the socket needs ListenStream= `
    + 'and Accept=no', {}, cause);
}

/**
 * The path of an activated unix socket, `@` before that of an abstract one; null where the system
 * does not tell. Node knows only the paths of sockets that it has opened itself.
 */
function findSocketPath({ descriptor }: ActivatedSocket): string | null {
  try {
    const inode = String(fstatSync(descriptor).ino);
    for (const line of readFileSync('/proc/net/unix', 'utf8').split('\n')) {
      // Num, reference count, protocol, flags, type, state, inode, path
      const [, lineInode, path = ''] = /^(?:\S+ +){6}(\d+) ?(.*)$/.exec(line) ?? [];
      if (lineInode === inode) return path === '' ? null : path;
    }
  } catch {
    // The system is not Linux, or hides /proc.
  }
  return null;
}
