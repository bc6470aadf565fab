import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mask, unmask } from '../../src/webhooks/mask.ts';

const STORED = {
  url: 'https://user:p@ss@example.org/a?b=c',
  headers: { Authorization: 'Bearer x', 'X-A': '1' },
  password: 12345,
  token: { value: 'abc', scopes: ['x', 'y'], isOld: false, none: null },
  apiKeys: ['k1', 'k2'],
  nested: [{ clientSecret: 's', label: 'shown' }],
  pin: 5, hasSecret: true, plain: 'http://example.org/@me',
};

const SHOWN = {
  url: 'https://***@example.org/a?b=c',
  headers: { Authorization: '***', 'X-A': '***' },
  password: '***',
  token: { value: '***', scopes: ['***', '***'], isOld: false, none: null },
  apiKeys: ['***', '***'],
  nested: [{ clientSecret: '***', label: 'shown' }],
  pin: 5, hasSecret: true, plain: 'http://example.org/@me',
};

test('whatever stands under a secret-like name is hidden, of any type and depth', () => {
  assert.deepEqual(mask(STORED), SHOWN);
});

test('what was shown, sent back, is what is stored', () => {
  assert.deepEqual(unmask(SHOWN, STORED), STORED);
});

test('a masked user and password, written apart, are the stored credentials as well', () => {
  assert.deepEqual(unmask({ url: 'https://***:***@example.org/new' }, STORED),
    { url: 'https://user:p@ss@example.org/new' });
});

test('a part is replaced and the rest is kept', () => {
  const changed = { ...SHOWN, token: { value: 'new', scopes: ['***'] }, password: '***' };
  assert.deepEqual(unmask(changed, STORED),
    { ...STORED, token: { value: 'new', scopes: ['x'] } });
});

test('*** that nothing is stored for is refused with its place', () => {
  assert.throws(() => unmask({ headers: { New: '***' }, apiKeys: ['***', '***', '***'] }, STORED), {
    code: 'invalid',
    details: {
      errors: ['/headers/New', '/apiKeys/2'].map((pointer) =>
        ({ pointer, detail: 'has no stored value that *** could keep' })),
    },
  });
});
