import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError } from '../../../src/base/errors.ts';
import { createProxyBypass, parseProxy } from '../../../src/client/policy/proxy.ts';

type Row = { readonly entry: string; readonly bypassed: string[]; readonly proxied: string[] };

// Each host with its port.
const ROWS: readonly Row[] = [
  {
    entry: 'example.com',
    bypassed: ['example.com 443', 'example.com 80'],
    proxied: ['www.example.com 443', 'badexample.com 443', 'example.com.evil.test 443'],
  },
  { entry: 'EXAMPLE.com.', bypassed: ['example.com 443'], proxied: ['example.org 443'] },
  {
    entry: '.example.com',
    bypassed: ['www.example.com 443', 'a.b.example.com 80'],
    proxied: ['example.com 443', 'badexample.com 443'],
  },
  { entry: '*.example.com', bypassed: ['www.example.com 443'], proxied: ['example.com 443'] },
  {
    entry: 'example.com:8080', bypassed: ['example.com 8080'], proxied: ['example.com 80'],
  },
  {
    entry: '.example.com:8080', bypassed: ['www.example.com 8080'], proxied: ['www.example.com 80'],
  },
  { entry: '127.0.0.1', bypassed: ['127.0.0.1 80'], proxied: ['127.0.0.2 80'] },
  { entry: '127.0.0.1:81', bypassed: ['127.0.0.1 81'], proxied: ['127.0.0.1 80'] },
  { entry: '[::1]', bypassed: ['::1 80', '::1 443'], proxied: ['::2 80'] },
  { entry: '::1', bypassed: ['::1 80'], proxied: ['::2 80'] },
  { entry: '[0:0:0:0:0:0:0:1]:81', bypassed: ['::1 81'], proxied: ['::1 80'] },
  {
    entry: '10.0.0.0/8',
    bypassed: ['10.1.2.3 80', '::ffff:10.1.2.3 80'],
    proxied: ['11.0.0.1 80', 'ten.example 80'],
  },
  { entry: 'fd00::/8', bypassed: ['fd12::1 80'], proxied: ['fe80::1 80'] },
  { entry: '*', bypassed: ['example.com 443', '::1 80', '8.8.8.8 80'], proxied: [] },
  { entry: '*:8080', bypassed: ['example.com 8080'], proxied: ['example.com 80'] },
];

for (const { entry, bypassed, proxied } of ROWS) {
  test(`noProxy ${entry} lets its hosts bypass the proxy and no others`, () => {
    const isBypassed = createProxyBypass(['unrelated.test', ` ${entry} `]);
    const asked = (row: string): boolean => {
      const [host = '', port] = row.split(' ');
      return isBypassed(host, Number(port));
    };
    assert.deepEqual(bypassed.filter((row) => !asked(row)), []);
    assert.deepEqual(proxied.filter(asked), []);
  });
}

test('an empty noProxy lets no host bypass the proxy', () => {
  assert.equal(createProxyBypass(['', ' '])('localhost', 80), false);
});

for (const entry of ['http://a.example', '10.0.0.0/99', 'a b', 'a:b', '[::1', 'a/24']) {
  test(`the noProxy entry ${JSON.stringify(entry)} is refused by name`, () => {
    assert.throws(() => createProxyBypass([entry]), (error) => error instanceof AppError
      && error.code === 'usage' && error.message.includes(JSON.stringify(entry)));
  });
}

test('a proxy is read from its URL, with percent-decoded credentials', () => {
  const basic = (credentials: Buffer | string): string =>
    `Basic ${Buffer.from(credentials).toString('base64')}`;
  const plain = { isTls: false, hostname: 'proxy.example', port: 3128, authorization: null };
  assert.deepEqual(parseProxy('http://proxy.example:3128'), plain);
  assert.deepEqual(parseProxy('http://u%40x:p%3A%2f%C3%A9@proxy.example:3128/'),
    { ...plain, authorization: basic('u@x:p:/é') });
  assert.deepEqual(parseProxy('http://user@proxy.example:3128'),
    { ...plain, authorization: basic('user:') });
  assert.deepEqual(parseProxy('http://u:100%@proxy.example:3128'),
    { ...plain, authorization: basic('u:100%') });
  assert.deepEqual(parseProxy('https://[::1]'),
    { isTls: true, hostname: '::1', port: 443, authorization: null });
});

const BAD_URLS = [
  'socks5://u:hush@h:1', 'u:hush@proxy', 'http://u:hush@', 'http://u:hush@h:99999',
];

for (const url of BAD_URLS) {
  test(`a proxy that cannot be read (${url.slice(0, 6)}…) is refused without its password`, () => {
    assert.throws(() => parseProxy(url), (error) => error instanceof AppError
      && error.code === 'usage' && !JSON.stringify([error.message, error.cause]).includes('hush'));
  });
}
