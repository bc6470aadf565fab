import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { findPreset } from '../../../src/webhooks/senders/presets/preset-table.ts';
import type { Scheme } from '../../../src/webhooks/senders/scheme/scheme.ts';
import { formatShellExample } from '../../../src/webhooks/senders/signing/shell-example.ts';

test('a token goes to curl through a pipe: other users can read its arguments', () => {
  const scheme = findPreset('gitlab-token')?.scheme ?? null;
  assert.ok(scheme);
  const script = formatShellExample({
    scheme, settings: {}, method: 'POST', body: '{}', contentType: 'application/json',
    headers: {}, url: 'https://example.com/webhook/in/hook',
  });
  const [, curl = ''] = script.split(/\bcurl --silent/);
  assert.match(curl, /--header @-/);
  assert.doesNotMatch(curl, /\$signature|WEBHOOK_SECRET/);
});

const TOKENS: readonly [title: string, signature: Partial<Scheme['signature']>, sent: string][] = [
  ['as it is', { encoding: 'utf8' }, 'a k\u00e9y'],
  ['in hex', { encoding: 'hex' }, Buffer.from('a k\u00e9y').toString('hex')],
  ['in base64 behind its prefix', { encoding: 'base64', prefix: 'Key ' },
    `Key ${Buffer.from('a k\u00e9y').toString('base64')}`],
  ['without a name of pairs, which are for signatures', { encoding: 'utf8', param: 'v1' },
    'a k\u00e9y'],
];
for (const [title, signature, sent] of TOKENS) {
  test(`a token is sent ${title}`, () => {
    const script = formatShellExample({
      scheme: {
        algorithm: 'token', key: 'utf8', content: '',
        signature: { from: { header: 'X-Key' }, encoding: 'utf8', ...signature },
      },
      settings: {}, method: 'GET', body: '', contentType: 'application/json', headers: {},
      url: 'https://example.com/',
    });
    // What curl would get through its pipe.
    const output = execFileSync('sh', ['-c', `curl() { cat; }\n${script}`], {
      env: { ...process.env, WEBHOOK_SECRET: 'a k\u00e9y' }, encoding: 'utf8',
    });
    assert.equal(output, `X-Key: ${sent}\n`);
  });
}
