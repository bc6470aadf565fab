/** A target of HTTP requests that takes them all, and keeps what came. */
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

export type TargetRequest = {
  readonly method: string; readonly url: string; readonly headers: IncomingHttpHeaders;
  readonly rawHeaders: readonly string[]; readonly body: Buffer;
};

export type HttpTarget = {
  readonly url: string;
  readonly received: readonly TargetRequest[];
  close(): void;
};

/** It answers 200, or the status that is a request's path (`/500`). */
export async function startHttpTarget(): Promise<HttpTarget> {
  const received: TargetRequest[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = '', url = '', headers, rawHeaders } = request;
      received.push({ method, url, headers, rawHeaders, body: Buffer.concat(chunks) });
      response.writeHead(Number(url.slice(1)) || 200).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, received,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
