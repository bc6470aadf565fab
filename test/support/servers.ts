/**
 * A server that does exactly what a test tells it, on the wire: it reads whole requests and leaves
 * the answering, well or badly, to the test.
 */
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer as createTcpServer } from 'node:net';
import type { Server, Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import type { TLSSocket } from 'node:tls';
import type { Certificate } from './tls.ts';

const DRAIN_MS_MAX = 5000;
const PORT_MIN = 20_000;
/** From here on are those that the kernel gives to sockets which ask for none. */
const PORT_MAX = 32_000;
let nextPort = randomInt(PORT_MIN, PORT_MAX);

export type Received = {
  readonly socket: Socket;
  /** Which connection, and which request on it, from 1. */
  readonly connection: number;
  readonly turn: number;
  /** Request line and headers. */
  readonly head: string;
  readonly body: Buffer;
};

export type ServerPlan = {
  readonly onRequest?: (received: Received) => void;
  readonly onConnection?: (socket: Socket) => void;
  readonly certificate?: Certificate;
  /** Asks clients for a certificate; with an authority, it takes none but those that it signed. */
  readonly clientCertificates?: { readonly authority?: string };
  readonly host?: string;
};

/** A server on loopback that knows its connections, so that none is left behind. */
export class TrackedServer {
  accepted = 0;
  protected readonly scheme: 'http' | 'https';
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  constructor(server: Server, isTls: boolean) {
    this.#server = server;
    this.scheme = isTls ? 'https' : 'http';
  }

  get port(): number {
    const address = this.#server.address();
    if (address === null || typeof address === 'string') throw new Error('not listening');
    return address.port;
  }

  get openSockets(): number {
    return this.#sockets.size;
  }

  track(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => this.#sockets.delete(socket));
  }

  /** Resolves when the last connection has ended: the client left none behind. */
  async drained(): Promise<void> {
    await allClosed(this.#sockets);
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    if (this.#server.listening) await once(this.#server.close(), 'close');
  }
}

export class ScriptedServer extends TrackedServer {
  readonly received: Received[] = [];

  url(path = '/', host = '127.0.0.1'): string {
    return `${this.scheme}://${host}:${this.port}${path}`;
  }
}

export async function startServer(plan: ServerPlan = {}): Promise<ScriptedServer> {
  const { certificate, host = '127.0.0.1' } = plan;
  const inner = certificate === undefined ? createTcpServer()
    : createTlsServer({ ...certificate, ...askForCertificates(plan.clientCertificates) });
  const server = new ScriptedServer(inner, certificate !== undefined);
  // Raw connections are what must not be left behind, so they are counted below TLS.
  inner.on('connection', (socket: Socket) => {
    server.accepted += 1;
    server.track(socket);
  });
  inner.on('tlsClientError', () => {});
  let connections = 0;
  inner.on(certificate === undefined ? 'connection' : 'secureConnection', (socket: Socket) => {
    connections += 1;
    socket.on('error', () => {});
    plan.onConnection?.(socket);
    readRequests(socket, connections, (received) => {
      server.received.push(received);
      plan.onRequest?.(received);
    });
  });
  inner.listen(0, host);
  await once(inner, 'listening');
  return server;
}

/** The options of a TLS server that asks clients for certificates. */
export function askForCertificates(
  plan: ServerPlan['clientCertificates'],
): { readonly requestCert?: boolean; readonly rejectUnauthorized?: boolean; readonly ca?: string } {
  if (plan === undefined) return {};
  const { authority } = plan;
  return authority === undefined ? { requestCert: true, rejectUnauthorized: false }
    : { requestCert: true, rejectUnauthorized: true, ca: authority };
}

/** The name in the certificate that a client has shown; null: it has shown none. */
export function clientNameOf(socket: Socket): string | null {
  const { subject } = (socket as TLSSocket).getPeerCertificate();
  return subject === undefined ? null : String(subject.CN);
}

/** Resolves when all of `sockets` are closed; rejects when one stays open. */
async function allClosed(sockets: ReadonlySet<Socket>): Promise<void> {
  const closed = [...sockets].map((socket) => new Promise<void>((resolve) => {
    socket.once('close', () => resolve());
  }));
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('a connection was left open')), DRAIN_MS_MAX);
  });
  await Promise.race([Promise.all(closed), late]);
  clearTimeout(timer);
}

/**
 * A port that nothing listens at, and that the kernel gives to nobody, so that it stays free until
 * it is used, and while a server there is down. Each process takes one after the other, from a
 * place of its own.
 */
export async function closedPort(): Promise<number> {
  for (let turn = PORT_MIN; turn < PORT_MAX; turn += 1) {
    const port = nextPort;
    nextPort = port + 1 < PORT_MAX ? port + 1 : PORT_MIN;
    const server = createTcpServer().listen(port, '127.0.0.1');
    try {
      await once(server, 'listening');
    } catch {
      continue;
    }
    server.close();
    await once(server, 'close');
    return port;
  }
  throw new Error(`no port from ${PORT_MIN} to ${PORT_MAX} is free`);
}

export function answer(statusCode = 200, body = 'ok', headers: readonly string[] = []): string {
  const lines = [
    `HTTP/1.1 ${statusCode} Whatever`, `Content-Length: ${Buffer.byteLength(body)}`, ...headers,
  ];
  return `${lines.join('\r\n')}\r\n\r\n${body}`;
}

function readRequests(
  socket: Socket, connection: number, onRequest: (received: Received) => void,
): void {
  let chunks: Buffer[] = [];
  let length = 0;
  // Not put together before the request is whole: a large body would be copied with each chunk.
  let lengthNeeded = 0;
  let turn = 0;
  socket.on('data', (chunk: Buffer) => {
    chunks.push(chunk);
    length += chunk.length;
    if (length < lengthNeeded) return;
    let bytes = Buffer.concat(chunks);
    lengthNeeded = 0;
    for (;;) {
      const headEnd = bytes.indexOf('\r\n\r\n');
      if (headEnd < 0) break;
      const head = bytes.subarray(0, headEnd).toString('latin1');
      const bodyLength = Number(/^content-length: (\d+)/im.exec(head)?.[1] ?? 0);
      const end = headEnd + 4 + bodyLength;
      if (bytes.length < end) {
        lengthNeeded = end;
        break;
      }
      const body = bytes.subarray(headEnd + 4, end);
      bytes = bytes.subarray(end);
      turn += 1;
      onRequest({ socket, connection, turn, head, body });
    }
    chunks = [bytes];
    length = bytes.length;
  });
}
