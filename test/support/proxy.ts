/** A forward proxy: CONNECT and absolute-form, credentials when told, and ways to misbehave. */
import { once } from 'node:events';
import { createServer, request as httpRequest } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { TrackedServer, askForCertificates, clientNameOf } from './servers.ts';
import type { Certificate } from './tls.ts';

export type ProxyPlan = {
  readonly certificate?: Certificate;
  /** Asks clients for a certificate, and takes any. */
  readonly asksForCertificate?: boolean;
  /** `user:password` that it insists on. */
  readonly credentials?: string;
  /** What it does with CONNECT: a status refuses with it. */
  readonly onConnect?: 'join' | 'stall' | 'cut' | 'half-answer' | 'speak-first' | number;
};

export class TestProxy extends TrackedServer {
  /** What was asked for, `CONNECT host:port` or `POST http://…`, in order. */
  readonly asked: string[] = [];
  readonly headers: IncomingMessage['headers'][] = [];
  /** The name in the certificate that the client of each has shown; null: it has shown none. */
  readonly clientNames: (string | null)[] = [];

  url(credentials = '', host = '127.0.0.1'): string {
    const user = credentials === '' ? '' : `${credentials}@`;
    return `${this.scheme}://${user}${host}:${this.port}`;
  }
}

export async function startProxy(plan: ProxyPlan = {}): Promise<TestProxy> {
  const { certificate, asksForCertificate = false } = plan;
  const server = certificate === undefined ? createServer() : createTlsServer({
    ...certificate, ...askForCertificates(asksForCertificate ? {} : undefined),
  });
  const proxy = new TestProxy(server, certificate !== undefined);
  server.on('connection', (socket: Socket) => {
    proxy.accepted += 1;
    proxy.track(socket);
  });
  server.on('connect', (request: IncomingMessage, socket: Socket) => {
    note(proxy, request);
    socket.on('error', () => socket.destroy());
    socket.on('end', () => socket.end());
    // Who does not read does not hear that the other end is gone.
    if (plan.onConnect !== undefined && plan.onConnect !== 'join') socket.resume();
    if (!isAllowed(plan, request)) {
      socket.end('HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n');
    } else {
      answerConnect(proxy, plan.onConnect ?? 'join', request, socket);
    }
  });
  server.on('request', (request, response) => {
    note(proxy, request);
    if (isAllowed(plan, request)) forward(request, response);
    else response.writeHead(407, { 'Proxy-Authenticate': 'Basic' }).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return proxy;
}

function note(proxy: TestProxy, request: IncomingMessage): void {
  proxy.asked.push(`${request.method} ${request.url}`);
  proxy.headers.push(request.headers);
  if (request.socket instanceof TLSSocket) proxy.clientNames.push(clientNameOf(request.socket));
}

function isAllowed({ credentials }: ProxyPlan, request: IncomingMessage): boolean {
  if (credentials === undefined) return true;
  const wanted = `Basic ${Buffer.from(credentials).toString('base64')}`;
  return request.headers['proxy-authorization'] === wanted;
}

function answerConnect(
  proxy: TestProxy, how: NonNullable<ProxyPlan['onConnect']>, request: IncomingMessage,
  socket: Socket,
): void {
  if (typeof how === 'number') {
    socket.end(`HTTP/1.1 ${how} No\r\nContent-Length: 0\r\n\r\n`);
  } else if (how === 'cut') {
    socket.destroy();
  } else if (how === 'half-answer') {
    socket.write('HTTP/1.1 200 Connec');
  } else if (how === 'speak-first') {
    socket.write('HTTP/1.1 200 Connected\r\n\r\nhello');
  } else if (how === 'join') {
    join(proxy, request, socket);
  }
}

function join(proxy: TestProxy, request: IncomingMessage, socket: Socket): void {
  const target = new URL(`http://${request.url}`);
  // `localhost` stands for a name that only the proxy can look up.
  const upstream = connect(Number(target.port), '127.0.0.1', () => {
    socket.write('HTTP/1.1 200 Connected\r\n\r\n');
    socket.pipe(upstream).pipe(socket);
  });
  proxy.track(upstream);
  upstream.on('error', () => socket.end('HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n'));
  upstream.on('close', () => socket.destroy());
  socket.on('close', () => upstream.destroy());
}

function forward(request: IncomingMessage, response: ServerResponse): void {
  const { port, pathname, search } = new URL(request.url ?? '');
  const { 'proxy-authorization': _, ...headers } = request.headers;
  const upstream = httpRequest({
    host: '127.0.0.1', port, path: `${pathname}${search}`, method: request.method, headers,
    agent: false,
  }, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(response);
  });
  upstream.on('error', () => response.writeHead(502).end());
  request.pipe(upstream);
}
