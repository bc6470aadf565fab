import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { test } from 'node:test';
import { findPreset } from '../../../src/webhooks/senders/presets/preset-table.ts';
import type { Scheme } from '../../../src/webhooks/senders/scheme/scheme.ts';
import { formatShellExample } from '../../../src/webhooks/senders/signing/shell-example.ts';
import { inFolder } from '../../support/temporary-folder.ts';

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

// Whoever sets a webhook up chooses them; another one copies the call.
const HOSTILE = '$(touch owned)`touch owned`$HOME\\\\"; touch owned; #\'!!';
const HEADER = 'X`pwd`$$-!!';
const SIGNATURES: readonly [title: string, scheme: Pick<Scheme, 'algorithm' | 'timestamp'>,
  signature: Partial<Scheme['signature']>, start: string][] = [
  ['before a token', { algorithm: 'token' }, { encoding: 'utf8' }, `${HOSTILE}key`],
  ['before a signature', { algorithm: 'hmac-sha256' }, {}, HOSTILE],
  ['among pairs', { algorithm: 'hmac-sha256',
    timestamp: { unit: 's', param: HOSTILE, tolerance: null } },
    { param: HOSTILE }, `${HOSTILE}=<time>,${HOSTILE}=${HOSTILE}`],
];
for (const [title, scheme, signature, start] of SIGNATURES) {
  test(`a shell takes names and texts of a scheme as they are, ${title}`, () => inFolder((cwd) => {
    const script = formatShellExample({
      scheme: {
        key: 'utf8', content: '{body}', ...scheme,
        signature: { from: { header: HEADER }, encoding: 'hex', prefix: HOSTILE, ...signature },
      },
      settings: {}, method: 'GET', body: '', contentType: 'application/json', headers: {},
      url: 'https://example.com/',
    });
    // What curl would get through its pipe, and as arguments.
    const output = execFileSync('sh', ['-c',
      `curl() { printf '%s\\n' "$@"; [ "$6" != @- ] || cat; }\n${script}`], {
      cwd, env: { ...process.env, WEBHOOK_SECRET: 'key' }, encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const lines = output.split('\n').map((line) => line.replace(/=\d{10},/, '=<time>,'));
    assert.ok(lines.some((line) => line.startsWith(`${HEADER}: ${start}`)), output);
    assert.deepEqual(readdirSync(cwd), []);
  }));
}
