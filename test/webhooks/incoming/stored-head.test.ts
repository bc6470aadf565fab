/** What is stored of headers and query. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { redactHead } from '../../../src/webhooks/inbox/intake/stored-head.ts';
import { findPreset } from '../../../src/webhooks/senders/presets/preset-table.ts';

const schemeOf = (preset: string): NonNullable<Parameters<typeof redactHead>[2]> => {
  const { scheme } = findPreset(preset) ?? {};
  assert.ok(scheme);
  return scheme;
};

test('keeps headers in their order and case, and the query as it came', () => {
  const raw = ['Host', 'a', 'X-B', '1', 'x-a', '2', 'X-B', '3'];
  assert.deepEqual(redactHead(raw, 'b=%20&a', null), {
    headers: [['Host', 'a'], ['X-B', '1'], ['x-a', '2'], ['X-B', '3']], query: 'b=%20&a',
    signatures: [],
  });
});

test('never keeps a credential', () => {
  const secret = 'geheim';
  for (const name of ['Authorization', 'COOKIE', 'Proxy-Authorization', 'X-Gitlab-Token',
    'X-Api-Key', 'X-Signature-Secret']) {
    const { headers } = redactHead([name, secret, 'X-Other', 'o'], '', null);
    assert.deepEqual(headers, [[name, '***'], ['X-Other', 'o']]);
  }
  const { query } = redactHead([], `a=1&token=${secret}&to%6ben=${secret}&api_key=${secret}`, null);
  assert.equal(query, 'a=1&token=***&to%6ben=***&api_key=***');
});

test('never keeps Basic and Bearer credentials, whatever the name of their header', () => {
  const credentials = ['Bearer abc.DEF-1~x+/==', 'bearer  t', 'Basic dTpw', 'BASIC dXNlcjpwYXNz'];
  const others = ['Basic', 'Basic Annual', 'Basic of', 'Bearer', 'Bearer of news', 'a Bearer'];
  const { headers } = redactHead(
    [...credentials, ...others].flatMap((value) => ['X-Auth', value]), '', null);
  assert.deepEqual(headers.map(([, value]) => value), [...credentials.map(() => '***'), ...others]);
});

test('never keeps a credential of an address, and nothing else of it is changed', () => {
  const cases = [
    ['Referer', 'https://shop.example/?token=geheim&a=1', 'https://shop.example/?token=***&a=1'],
    ['referer', 'shop.example/a?password=geheim#b', 'shop.example/a?password=***#b'],
    ['Origin', 'https://ada:geheim@shop.example', 'https://***@shop.example'],
    ['Origin', 'null', 'null'],
    ['X-Original-URL', '/a?a=1&api_key=geheim', '/a?a=1&api_key=***'],
    ['Link', '<https://h/?pin=geheim>; rel=next', '<https://h/?pin=***>; rel=next'],
    ['X-Next', 'https%3A%2F%2Fada%3Ageheim%40h%2F', 'https%3A%2F%2F***%40h%2F'],
    ['User-Agent', 'Bot/1.0 (+https://bot.example/?a=b)', 'Bot/1.0 (+https://bot.example/?a=b)'],
    ['X-Signed', 't=1,sig=abc', 't=1,sig=abc'],
  ] as const;
  for (const [name, value, expected] of cases) {
    assert.deepEqual(redactHead([name, value], '', null).headers, [[name, expected]]);
  }
  const { query } = redactHead([],
    'a=/x&to=https%3A%2F%2Fada%3Ageheim%40h%2F%3Ftoken%3Dgeheim%26b%3D1&sig=abc', null);
  assert.equal(query, 'a=/x&to=https%3A%2F%2F***%40h%2F%3Ftoken%3D***%26b%3D1&sig=abc');
});

test('never keeps what a preset compares as it is', () => {
  const scheme = {
    ...schemeOf('gitlab-token'), signature: {
      from: [{ header: 'X-Plain' }, { query: 'plain' }], encoding: 'utf8',
    },
  } as const;
  assert.deepEqual(redactHead(['X-Plain', 's'], 'plain=s&x=1', scheme), {
    headers: [['X-Plain', '***']], query: 'plain=***&x=1', signatures: [],
  });
});

test('keeps signatures, and says which they are', () => {
  const raw = [
    'X-Hub-Signature-256', 'sha256=1', 'X-Hub-Signature', 'sha1=2', 'X-GitHub-Event', 'e',
  ];
  const { headers, signatures } = redactHead(raw, '', schemeOf('github'));
  assert.deepEqual(headers.map(([, value]) => value), ['sha256=1', 'sha1=2', 'e']);
  assert.deepEqual(signatures, ['x-hub-signature-256', 'x-hub-signature']);
});

test('a signed time is no signature', () => {
  const raw = ['X-Signature-Ed25519', 'aa', 'X-Signature-Timestamp', '17'];
  assert.deepEqual(redactHead(raw, '', schemeOf('discord')).signatures, ['x-signature-ed25519']);
});
