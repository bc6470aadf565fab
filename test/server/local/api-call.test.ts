import assert from 'node:assert/strict';
import { connect, createServer } from 'node:net';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { systemClock } from '../../../src/base/clock.ts';
import { callApi } from '../../../src/server/local/api-call.ts';
import { createTemporaryFolder } from '../../support/temporary-folder.ts';

const PIECE = Buffer.alloc(1 << 20, 'a');

test('ends an answer that does not end, instead of keeping it', async () => {
  let sent = 0;
  const sendForever = (socket: Socket): void => {
    socket.write('HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n"');
    const more = (): void => {
      if (socket.destroyed) return;
      sent += PIECE.length;
      if (socket.write(PIECE)) setImmediate(more);
      else socket.once('drain', more);
    };
    more();
  };
  await serve(sendForever, async (socketPath) => {
    await assert.rejects(callApi({ socketPath }, { method: 'GET', path: '/' }),
      { code: 'unavailable', message: /longer than 256 MiB: ask for less at a time/ });
    assert.ok(sent < 2 * (256 << 20), `${sent} bytes were taken`);
  });
});

test('tells why a body cannot be read, before and after `100 Continue`', async () => {
  let doesContinue = false;
  const continueOnce = (socket: Socket): void => {
    socket.once('data', () => doesContinue && socket.write('HTTP/1.1 100 Continue\r\n\r\n'));
  };
  await serve(continueOnce, async (socketPath) => {
    const network = {
      clock: systemClock, connect: async () => connect(socketPath),
      buildHead: (path: string) => ({ path, headers: {} }),
      toLostError: (cause: unknown) => cause, checkResponse: () => {},
    };
    for (const isLate of [false, true]) {
      doesContinue = isLate;
      // Read at once where nothing is waited for; else when the server has told to go on.
      const body = new Readable({ read: () => void body.destroy(new Error('EIO')) });
      if (!isLate) setImmediate(() => body.destroy(new Error('EIO')));
      await assert.rejects(callApi({ network }, { method: 'POST', path: '/', body }),
        { code: 'usage', message: 'what is sent cannot be read to its end: EIO' });
    }
  });
});

for (const [name, answer, error] of [
  ['reads the answer of a server that closes while the body is being sent',
    'HTTP/1.1 422 No\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n'
      + '{"detail":"no such column"}', { message: 'no such column' }],
  ['tells that the connection broke where such a server has not answered', '',
    { code: 'unavailable', message: /^the connection to the server broke: / }],
] as const) {
  test(name, async () => {
    const body = new Readable({ read: () => {} });
    const answerAndClose = (socket: Socket): void => {
      socket.once('data', () => socket.end(answer, () => socket.destroy()));
      // The client writes before it can have read: the kernel refuses what nobody will take.
      socket.on('close', () => body.push(PIECE));
    };
    await serve(answerAndClose, async (socketPath) => {
      body.push('begin');
      await assert.rejects(callApi({ socketPath }, { method: 'POST', path: '/', body }), error);
    });
  });
}

async function serve(
  onConnection: (socket: Socket) => void, run: (socketPath: string) => Promise<void>,
): Promise<void> {
  const socketPath = join(createTemporaryFolder(), 's');
  const server = createServer((socket) => {
    socket.on('error', () => {});
    onConnection(socket);
  });
  await new Promise<void>((resolve) => {
    server.listen(socketPath, resolve);
  });
  try {
    await run(socketPath);
  } finally {
    server.close();
  }
}
