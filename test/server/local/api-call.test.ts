import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { callApi } from '../../../src/server/local/api-call.ts';
import { createTemporaryFolder } from '../../support/temporary-folder.ts';

const PIECE = Buffer.alloc(1 << 20, 'a');

test('ends an answer that does not end, instead of keeping it', async () => {
  const folder = createTemporaryFolder();
  const socketPath = join(folder, 's');
  let sent = 0;
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.write('HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n"');
    const more = (): void => {
      if (socket.destroyed) return;
      sent += PIECE.length;
      if (socket.write(PIECE)) setImmediate(more);
      else socket.once('drain', more);
    };
    more();
  });
  await new Promise<void>((resolve) => {
    server.listen(socketPath, resolve);
  });
  try {
    await assert.rejects(callApi({ socketPath }, { method: 'GET', path: '/' }),
      { code: 'unavailable', message: /longer than 256 MiB: ask for less at a time/ });
    assert.ok(sent < 2 * (256 << 20), `${sent} bytes were taken`);
  } finally {
    server.close();
  }
});
