import assert from 'node:assert/strict';
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { test } from 'node:test';
import { createClientAddressResolver } from '../../../src/server/exchange/client-address.ts';
import type { TrustProxy } from '../../../src/server/exchange/client-address.ts';

type Headers = { readonly plain?: string; readonly standard?: string };

function clientOf(trustProxy: TrustProxy, peer: string | undefined, headers: Headers): string {
  const request = new IncomingMessage(new Socket());
  if (headers.plain !== undefined) request.headers['x-forwarded-for'] = headers.plain;
  if (headers.standard !== undefined) request.headers.forwarded = headers.standard;
  return createClientAddressResolver(trustProxy)(request, peer);
}

const CIDRS = ['192.0.2.0/24', '2001:db8:5::/48', '127.0.0.1'];

const CASES: readonly (readonly [TrustProxy, string | undefined, Headers, string])[] = [
  [false, '10.0.0.1', { plain: '198.51.100.1' }, '10.0.0.1'],
  [false, '::ffff:10.0.0.1', {}, '10.0.0.1'],
  [false, undefined, { plain: '198.51.100.1' }, ''],
  // The peer itself must be a trusted proxy.
  [true, '203.0.113.1', { plain: '198.51.100.1' }, '203.0.113.1'],
  [true, '127.0.0.1', { plain: '198.51.100.1' }, '198.51.100.1'],
  [true, '::ffff:10.0.0.1', { plain: '198.51.100.1' }, '198.51.100.1'],
  [true, 'fd00::1', { plain: '198.51.100.1' }, '198.51.100.1'],
  [true, undefined, { plain: '198.51.100.1' }, '198.51.100.1'],
  // What a client put in front is not believed; proxies in a row are passed over.
  [true, '127.0.0.1', { plain: '6.6.6.6, 198.51.100.1' }, '198.51.100.1'],
  [true, '127.0.0.1', { plain: '6.6.6.6,198.51.100.1 , 10.1.1.1,172.16.0.1' }, '198.51.100.1'],
  [true, '127.0.0.1', { plain: '10.0.0.9, 10.0.0.8' }, '10.0.0.9'],
  [CIDRS, '192.0.2.7', { plain: '6.6.6.6, 10.0.0.1, 2001:db8:5::9' }, '10.0.0.1'],
  [CIDRS, '10.0.0.1', { plain: '198.51.100.1' }, '10.0.0.1'],
  [CIDRS, undefined, { plain: '198.51.100.1' }, ''],
  // Anybody may put a loopback address into one of their own.
  [true, '127.0.0.1', { plain: '6.6.6.6, 2002:7f00:1::' }, '2002:7f00:1::'],
  [true, '2001:db8::5efe:7f00:1', { plain: '6.6.6.6' }, '2001:db8::5efe:7f00:1'],
  // Forms.
  [true, '127.0.0.1', { plain: '198.51.100.1:4711' }, '198.51.100.1'],
  [true, '127.0.0.1', { plain: '[2001:db8::1]:4711' }, '2001:db8::1'],
  [true, '127.0.0.1', { plain: '2001:db8::1' }, '2001:db8::1'],
  [true, '127.0.0.1', { plain: ', ,198.51.100.1,, ' }, '198.51.100.1'],
  // Where a proxy's word is no address, what it hides is not guessed.
  [true, '127.0.0.1', { plain: '6.6.6.6, unknown' }, '127.0.0.1'],
  [true, '127.0.0.1', { plain: '6.6.6.6, unknown, 10.0.0.3' }, '10.0.0.3'],
  [true, '127.0.0.1', { plain: '' }, '127.0.0.1'],
  [true, '127.0.0.1', {}, '127.0.0.1'],
  // A proxy that writes X-Forwarded-For passes the client's own Forwarded on as it came.
  [true, '127.0.0.1', { plain: '198.51.100.1', standard: 'for=6.6.6.6' }, '198.51.100.1'],
  [true, '127.0.0.1', { standard: 'for=6.6.6.6, proto=https;For="[2001:db8::2]:80";by=x' },
    '2001:db8::2'],
  [true, '127.0.0.1', { standard: 'for=6.6.6.6, for=198.51.100.1, for=10.0.0.1;host="a"' },
    '198.51.100.1'],
  [true, '127.0.0.1', { standard: 'for="6.6.6.6, for=198.51.100.1' }, '198.51.100.1'],
  [true, '127.0.0.1', { standard: 'for=6.6.6.6, for=_hidden' }, '127.0.0.1'],
  [true, '127.0.0.1', { standard: 'by=10.0.0.1;proto=http' }, '127.0.0.1'],
];

for (const [trustProxy, peer, headers, expected] of CASES) {
  const shown = JSON.stringify([trustProxy, peer ?? null, headers]);
  test(`the client of ${shown} is ${expected || 'unnamed'}`, () => {
    assert.equal(clientOf(trustProxy, peer, headers), expected);
  });
}
