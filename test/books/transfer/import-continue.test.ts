import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { after, before, test } from 'node:test';
import { startBookServer } from '../../support/book-server.ts';
import type { BookServer } from '../../support/book-server.ts';

let server: BookServer;

before(async () => {
  server = await startBookServer();
});

after(() => server.close());

test('a sender that waits for 100 Continue gets it, then its answer', async () => {
  const socket = connect(server.port, '127.0.0.1');
  socket.write(head('application/jsonl'));
  const [first] = await once(socket, 'data');
  assert.equal(String(first), 'HTTP/1.1 100 Continue\r\n\r\n');
  socket.write('{"title":"A"}\n');
  const text = await readAll(socket);
  assert.match(text, /^HTTP\/1\.1 200 OK\r\n/);
  assert.match(text, /"imported":1,.*"skipped":0/);
});

test('a sender whose import is refused is not asked for it', async () => {
  const socket = connect(server.port, '127.0.0.1');
  socket.write(head('text/html'));
  assert.match(await readAll(socket), /^HTTP\/1\.1 415 /);
});

test('a sender who leaves in the middle ends the import, and the next one goes well', async () => {
  const size = server.catalog.size;
  const socket = connect(server.port, '127.0.0.1');
  socket.write(head('application/jsonl'));
  await once(socket, 'data');
  socket.resetAndDestroy();
  await once(socket, 'close');
  const answer = await server.ask('POST', '/api/books/import', '{"title":"B"}',
    { 'Content-Type': 'application/jsonl' });
  assert.match(answer.text, /"imported":1,/);
  assert.equal(server.catalog.size, size + 1);
});

function head(mediaType: string): string {
  return 'POST /api/books/import HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\n'
    + `Content-Type: ${mediaType}\r\nContent-Length: 14\r\nConnection: close\r\n\r\n`;
}

async function readAll(socket: ReturnType<typeof connect>): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of socket) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}
