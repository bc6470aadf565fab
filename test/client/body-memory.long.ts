import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { test } from 'node:test';
import { heldBytes, heldBytesMax, oneByteChunks } from '../support/memory.ts';
import { startServer } from '../support/servers.ts';
import { setUp } from './setup.ts';
import { someTurns } from '../support/turns.ts';

const BYTES = 1_000_000;

test('an answer in one-byte chunks takes no more memory than twice its bytes', async (context) => {
  const chunks = oneByteChunks(BYTES);
  let socket: Socket | null = null;
  let isWritten = false;
  const server = await startServer({
    onRequest(received) {
      ({ socket } = received);
      socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n');
      socket.write(chunks, () => {
        isWritten = true;
      });
    },
  });
  const { client } = setUp(context, [server], { timeoutMs: 120_000, totalTimeoutMs: 120_000 });
  const before = heldBytes();
  const pending = client.request({ method: 'GET', url: server.url() });
  // The client reads in turns of the same event loop, 64 KiB a turn.
  for (let after = 0; after < 500; after += isWritten ? 1 : 0) {
    await someTurns(1);
  }
  const held = heldBytes() - before;
  assert(held < heldBytesMax(BYTES), `${held} bytes are held for ${BYTES}`);
  (socket as Socket | null)?.write('0\r\n\r\n');
  assert.equal((await pending).body.length, BYTES);
});
