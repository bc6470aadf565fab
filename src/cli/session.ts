/**
 * A command's way to the routes: through the control socket of the server that holds the data
 * directory, else through an app of its own, built in this process and spoken to in memory. Either
 * way the same requests reach the same routes.
 */
import type { IncomingMessage, RequestListener, Server } from 'node:http';
import { connect } from 'node:net';
import type { Clock } from '../base/clock.ts';
import { sleep } from '../base/clock.ts';
import { AppError } from '../base/errors.ts';
import { http } from '../base/network-modules.ts';
import { exchange, open } from './call.ts';
import type { Answer, Call, Target } from './call.ts';
import { createDuplexPair } from './duplex-pair.ts';

/** The routes, as app.ts serves them to this process. */
export interface LocalApp {
  readonly dispatcher: RequestListener;
  close(): Promise<void>;
}

/** The process that holds a data directory; `socketPath` is null while it serves none. */
export type Owner = { readonly pid: number; readonly socketPath: string | null };

export type SessionOptions = {
  readonly clock: Clock;
  findOwner(): Owner | null;
  /** Throws `conflict` when another process holds the directory. */
  openLocal(): Promise<LocalApp>;
};

export interface Session {
  /** Whether a running server answers. */
  readonly isRemote: boolean;
  /** Throws what a problem answer says. */
  request(call: Call): Promise<Answer>;
  /** The answer's body as it arrives. */
  stream(call: Call): Promise<IncomingMessage>;
  close(): Promise<void>;
}

// Another command is done by then, or is at something that takes long.
const WAIT_MS = 5000;
const POLL_MS = 50;

/** Throws `conflict` when another process, which is no server, keeps the directory for 5 s. */
export async function openSession(options: SessionOptions): Promise<Session> {
  const deadline = options.clock.monotonicMs() + WAIT_MS;
  for (;;) {
    const owner = options.findOwner();
    if (owner !== null && owner.socketPath !== null && await isListening(owner.socketPath)) {
      return remoteSession(owner.socketPath);
    }
    try {
      return localSession(await options.openLocal());
    } catch (thrown) {
      const isHeld = thrown instanceof AppError && thrown.code === 'conflict';
      if (!isHeld || options.clock.monotonicMs() >= deadline) throw thrown;
    }
    await sleep(options.clock, POLL_MS);
  }
}

function remoteSession(socketPath: string): Session {
  const target: Target = { socketPath };
  return {
    isRemote: true,
    request: (call) => exchange(target, call),
    stream: (call) => open(target, call),
    close: async () => {},
  };
}

function localSession(app: LocalApp): Session {
  // Ours alone, and in memory: no limit of the network applies.
  const server = http.createServer({ requestTimeout: 0, headersTimeout: 0 }, app.dispatcher);
  const target: Target = { createConnection: () => connectTo(server) };
  let closing: Promise<void> | null = null;
  return {
    isRemote: false,
    request: (call) => exchange(target, call),
    stream: (call) => open(target, call),
    close() {
      closing ??= app.close();
      return closing;
    },
  };
}

function connectTo(server: Server): ReturnType<NonNullable<Target['createConnection']>> {
  const [client, end] = createDuplexPair();
  server.emit('connection', end);
  return client;
}

/** Whether anybody answers at the socket; after kill -9 its file still lies there. */
export function isListening(socketPath: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(socketPath);
    const settle = (isOpen: boolean): void => {
      socket.destroy();
      resolve(isOpen);
    };
    socket.on('connect', () => settle(true));
    socket.on('error', () => settle(false));
  });
}
