/**
 * What the client's load goes to: answers 200 to every request by counting bytes, because a real
 * HTTP server in Node.js costs as much as a client and would be the limit. argv[2] is the scheme,
 * argv[3] the port, 0 for any. Prints its port.
 */
import { createServer as createTcpServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { createCertificate } from '../support/tls.ts';

const ANSWER = Buffer.from('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
const HEAD_END = '\r\n\r\n';

const server = process.argv[2] === 'https'
  ? createTlsServer(createCertificate(), answer) : createTcpServer(answer);
server.listen(Number(process.argv[3]), '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  process.stdout.write(`${port}\n`);
});

function answer(socket: Socket): void {
  /** Of the request that is arriving. */
  let missingBytes = 0;
  socket.setNoDelay(true);
  socket.on('error', () => socket.destroy());
  socket.on('data', (chunk: Buffer) => {
    for (let at = 0; at < chunk.length;) {
      if (missingBytes === 0) missingBytes = lengthOf(chunk.toString('latin1', at));
      const count = Math.min(missingBytes, chunk.length - at);
      at += count;
      missingBytes -= count;
      if (missingBytes === 0) socket.write(ANSWER);
    }
  });
}

/** The length of the request that a text begins with: clients write its whole head at once. */
function lengthOf(text: string): number {
  const headEnd = text.indexOf(HEAD_END);
  const bodyBytes = Number(/content-length: (\d+)/i.exec(text)?.[1]);
  const bytes = headEnd + HEAD_END.length + bodyBytes;
  if (headEnd < 0 || Number.isNaN(bytes)) throw new Error('a head came in parts');
  return bytes;
}
