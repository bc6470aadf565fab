import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { joinHeaders } from '../../../src/webhooks/incoming/join-headers.ts';
import { RawConnection } from '../../support/raw-http.ts';

const NAMES = [
  'Accept', 'Age', 'Authorization', 'Cookie', 'Content-Type', 'ETag', 'From', 'Referer',
  'Retry-After', 'Server', 'Set-Cookie', 'User-Agent', 'X-Forwarded-For', 'X-Of-Our-Own',
];

test('headers that came twice are joined as Node joins them', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const connection = new RawConnection({ port: (server.address() as AddressInfo).port });
  const lines = NAMES.flatMap((name) => [`${name}: one`, `${name.toLowerCase()}: two`]);
  connection.send(['GET / HTTP/1.1', 'Host: localhost', ...lines, '', ''].join('\r\n'));
  const [request, response] = await once(server, 'request') as [IncomingMessage, ServerResponse];
  response.end();
  assert.deepEqual(joinHeaders(request.rawHeaders), { ...request.headers });
  connection.socket.destroy();
  server.close();
});
