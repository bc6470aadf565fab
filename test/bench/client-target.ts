/**
 * What the client's load goes to: answers 200 to every request by counting bytes, because a real
 * HTTP server in Node.js costs as much as a client and would be the limit. Prints its port.
 */
import { createServer as createTcpServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { createCertificate } from '../support/tls.ts';

const ANSWER = Buffer.from('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
const HEAD_END = '\r\n\r\n';

const server = process.argv[2] === 'https'
  ? createTlsServer(createCertificate(), answer) : createTcpServer(answer);
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  process.stdout.write(`${port}\n`);
});

function answer(socket: Socket): void {
  let requestBytes = 0;
  let bytes = 0;
  socket.setNoDelay(true);
  socket.on('error', () => socket.destroy());
  socket.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    // All requests of one connection are alike, so the first says how long they are.
    if (requestBytes === 0) requestBytes = lengthOf(chunk);
    for (; requestBytes > 0 && bytes >= requestBytes; bytes -= requestBytes) socket.write(ANSWER);
  });
}

function lengthOf(chunk: Buffer): number {
  const text = chunk.toString('latin1');
  const headEnd = text.indexOf(HEAD_END);
  const bodyBytes = Number(/content-length: (\d+)/i.exec(text)?.[1]);
  return headEnd < 0 ? 0 : headEnd + HEAD_END.length + bodyBytes;
}
