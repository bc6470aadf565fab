import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { test } from 'node:test';
import { forwardRequest } from '../../../src/cli/commands/webhooks/watch/forward-request.ts';

/** The head of what reaches the program, as it came over the wire. */
async function headOf(given: Partial<Parameters<typeof forwardRequest>[1]>): Promise<string> {
  let head = '';
  const server = createServer((socket) => {
    socket.on('data', (chunk) => {
      head += chunk.toString('latin1');
      if (head.includes('\r\n\r\n')) socket.end('HTTP/1.1 204 Done\r\n\r\n');
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    const { port } = server.address() as AddressInfo;
    const sent = {
      method: 'POST', query: '', headers: [], body: Buffer.alloc(0), pseudonym: 'me', ...given,
    };
    const { status } = await forwardRequest(new URL(`http://127.0.0.1:${port}`), sent, () => 0);
    assert.equal(status, 204);
  } finally {
    server.close();
  }
  return head;
}

test('a request without a body is sent on with a length only where it may have one', async () => {
  const length = /^content-length: (\d+)/im;
  for (const method of ['GET', 'DELETE']) {
    const head = await headOf({ method });
    assert.doesNotMatch(head, length);
    assert.doesNotMatch(head, /^transfer-encoding/im);
  }
  const lengths = [
    await headOf({ method: 'GET', headers: [['Content-Length', '0']] }),
    await headOf({ method: 'DELETE', body: Buffer.from('ab') }), await headOf({}),
  ].map((head) => length.exec(head)?.[1]);
  assert.deepEqual(lengths, ['0', '2', '0']);
});

test('a request that is sent on names its sender, whatever its own headers say', async () => {
  const head = await headOf({ headers: [['Via', '1.1 other'], ['Connection', 'via']] });
  assert.match(head, /^via: 1\.1 me\r$/im);
});
