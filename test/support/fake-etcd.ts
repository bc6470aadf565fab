/** Answers like a member of etcd, or fails like one: each request as the test says. */
import { createServer } from 'node:http';
import type { ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';

export type EtcdAnswer =
  | object
  /** A code of gRPC and a message, as its gateway tells them. */
  | { readonly code: number; readonly message: string; readonly status: number }
  | 'cut' | 'silence' | 'no etcd';

export type AskedEtcd = { readonly path: string; readonly body: unknown; readonly token: string };

export async function startFakeEtcd(
  context: TestContext, answer: (asked: AskedEtcd) => EtcdAnswer,
): Promise<{ readonly port: number; stop(): void }> {
  const server = createServer((request, response) => {
    let text = '';
    request.setEncoding('utf8').on('data', (piece: string) => { text += piece; });
    request.on('end', () => {
      const token = request.headers.authorization ?? '';
      const body: unknown = JSON.parse(text);
      reply(response, answer({ path: request.url ?? '', body, token }));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const stop = (): void => {
    server.close();
    server.closeAllConnections();
  };
  context.after(stop);
  return { port, stop };
}

function reply(response: ServerResponse, answer: EtcdAnswer): void {
  if (answer === 'silence') return;
  if (answer === 'cut') {
    response.socket?.destroy();
  } else if (answer === 'no etcd') {
    response.writeHead(404, { 'Content-Type': 'text/plain' }).end('Not Found');
  } else {
    const status = 'status' in answer ? Number(answer.status) : 200;
    response.writeHead(status, { 'Content-Type': 'application/json' });
    response.end(JSON.stringify(answer));
  }
}
