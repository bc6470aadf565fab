/**
 * A supervisor as systemd is one: it opens sockets, keeps them, and starts the built program on
 * them, again and again. It accepts nothing itself, so that what comes between two processes waits
 * in the kernel.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import * as net from 'node:net';
import { join } from 'node:path';
import { owned } from './children.ts';
import { QUICK_PROGRAM } from './program.ts';

export type SupervisorSocket = {
  readonly descriptor: number;
  /** 0 for a unix socket. */
  readonly port: number;
  /** `''` for TCP. */
  readonly path: string;
};

type Handle = {
  readonly fd: number;
  getsockname?(address: { port?: number }): void;
};

/** A TCP socket at a port from the kernel. Nobody listens on it before the first process. */
export function openTcpSocket(host = '127.0.0.1'): SupervisorSocket {
  const handle = createHandle(host, 0, net.isIPv6(host) ? 6 : 4);
  const address: { port?: number } = {};
  handle.getsockname?.(address);
  return { descriptor: handle.fd, port: address.port ?? 0, path: '' };
}

export function openUnixSocket(folder: string, name = 'web.sock'): SupervisorSocket {
  const path = join(folder, name);
  return { descriptor: createHandle(path, -1, -1).fd, port: 0, path };
}

// They stay open as long as the process of the tests, as nothing may collect them.
const handles: Handle[] = [];

/** Node binds the sockets of its clusters so, without listening; it has no public name for it. */
function createHandle(...address: readonly [string, number, number]): Handle {
  const create: unknown = Reflect.get(net, '_createServerHandle');
  assert.ok(typeof create === 'function');
  const handle: Handle | number = create(...address);
  assert.ok(typeof handle === 'object', `cannot bind ${address[0]}: ${String(handle)}`);
  handles.push(handle);
  return handle;
}

/** Starts `serve` on the sockets. `pid`: whose they are said to be, by default the server's. */
export function superviseServer(
  sockets: readonly SupervisorSocket[], words: readonly string[],
  { pid = '$$', environment = {} }: {
    readonly pid?: string; readonly environment?: Readonly<Record<string, string>>;
  } = {},
): ChildProcess {
  // Only a shell knows the id that the program will have before it is there.
  const script = `LISTEN_PID=${pid} exec "$@"`;
  const program = [process.execPath, QUICK_PROGRAM, 'serve', ...words];
  return owned(spawn('sh', ['-c', script, 'sh', ...program], {
    stdio: ['pipe', 'pipe', 'pipe', ...sockets.map(({ descriptor }) => descriptor)],
    env: {
      PATH: process.env['PATH'] ?? '', LISTEN_FDS: String(sockets.length),
      LISTEN_FDNAMES: sockets.map((_, index) => `socket-${index}`).join(':'), ...environment,
    },
  }));
}
