import assert from 'node:assert/strict';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { systemClock } from '../../../src/base/clock.ts';
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

test('tells why a body cannot be read, before and after `100 Continue`', async () => {
  const socketPath = join(createTemporaryFolder(), 's');
  let doesContinue = false;
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => doesContinue && socket.write('HTTP/1.1 100 Continue\r\n\r\n'));
  });
  await new Promise<void>((resolve) => {
    server.listen(socketPath, resolve);
  });
  const network = {
    clock: systemClock, connect: async () => connect(socketPath),
    buildHead: (path: string) => ({ path, headers: {} }),
    toLostError: (cause: unknown) => cause, checkResponse: () => {},
  };
  try {
    for (const isLate of [false, true]) {
      doesContinue = isLate;
      // Read at once where nothing is waited for; else when the server has told to go on.
      const body = new Readable({ read: () => void body.destroy(new Error('EIO')) });
      if (!isLate) setImmediate(() => body.destroy(new Error('EIO')));
      await assert.rejects(callApi({ network }, { method: 'POST', path: '/', body }),
        { code: 'usage', message: 'what is sent cannot be read to its end: EIO' });
    }
  } finally {
    server.close();
  }
});
