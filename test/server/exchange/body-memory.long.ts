import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { test } from 'node:test';
import { heldBytes, heldBytesMax, oneByteChunks } from '../../support/memory.ts';
import { RawConnection, encodeRequest } from '../../support/raw-http.ts';
import { route, startServer } from '../../support/test-server.ts';
import { turnsUntil } from '../../support/turns.ts';

const BYTES = 1_000_000;
const CHUNKED = { 'Transfer-Encoding': 'chunked', 'Content-Type': 'application/jsonl' };

test('a body in one-byte chunks takes no more memory than twice its bytes', async () => {
  let socket: Socket | null = null;
  let length = 0;
  await using server = await startServer([route('POST', '/', async (exchange) => {
    ({ socket } = exchange.request);
    ({ length } = await exchange.readBody());
    exchange.sendJson(200, 1);
  })]);
  const connection = new RawConnection(server);
  const body = oneByteChunks(BYTES);
  const before = heldBytes();
  connection.send(encodeRequest('POST', '/', CHUNKED));
  connection.send(body);
  await turnsUntil(() => (socket?.bytesRead ?? 0) >= body.length);
  const held = heldBytes() - before;
  assert(held < heldBytesMax(BYTES), `${held} bytes are held for ${BYTES}`);
  connection.send('0\r\n\r\n');
  assert.equal((await connection.answer()).status, 200);
  assert.equal(length, BYTES);
  connection.close();
});

test('a body that is read piece by piece is joined to pieces worth a look', async () => {
  let socket: Socket | null = null;
  let pieces = 0;
  let length = 0;
  let open: () => void = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  await using server = await startServer([route('POST', '/', async (exchange) => {
    ({ socket } = exchange.request);
    for await (const piece of exchange.readChunks()) {
      await opened;
      pieces += 1;
      length += piece.length;
    }
    exchange.sendJson(200, 1);
  })]);
  const connection = new RawConnection(server);
  const body = oneByteChunks(BYTES);
  const before = heldBytes();
  connection.send(encodeRequest('POST', '/', CHUNKED));
  connection.send(body);
  await turnsUntil(() => (socket?.bytesRead ?? 0) >= 200_000);
  const held = heldBytes() - before;
  assert(held < heldBytesMax(65_536), `${held} bytes are held of a body that nobody takes`);
  open();
  connection.send('0\r\n\r\n');
  assert.equal((await connection.answer()).status, 200);
  assert.equal(length, BYTES);
  assert(pieces < BYTES / 1000, `${pieces} pieces`);
  connection.close();
});
