/** The examples of a webhook, run as a person would: pasted, with the secret exported. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { after, before, test } from 'node:test';
import {
  formatPhp, formatUnsignedCurl,
} from '../../../src/webhooks/incoming/call-examples.ts';
import type { Ended } from '../../support/children.ts';
import { someOf } from '../../support/long.ts';
import { curlMissing, runScript, runShell } from '../../support/shell.ts';
import { startRelay, type Relay } from '../relay.ts';

const phpMissing = spawnSync('php', ['-r', 'exit(function_exists("curl_init") ? 0 : 1);'])
  .status !== 0 && 'php with the curl extension is needed';

const METHODS = ['POST', 'PUT', 'PATCH', 'DELETE', 'GET', 'HEAD', 'OPTIONS'];
const SECRETS = [
  'plain', 'It\'s a "Secret" to $EVERYBODY `here` \\n', '-leading dash', 'ünïcode ☃',
  // As long as a block of SHA-256, and longer.
  'k'.repeat(64), '0123456789'.repeat(20),
];

type Case = { readonly path: string; readonly secret: string | null; readonly method: string };

const CASES: readonly Case[] = [
  ...METHODS.map((method, index) => ({ path: `open-${index}`, secret: null, method })),
  ...['PUT', 'GET', 'HEAD', 'DELETE'].map((method) => ({ path: method, secret: 'plain', method })),
  ...SECRETS.map((secret, index) => ({ path: `odd.~_-${index}`, secret, method: 'POST' })),
];

let relay: Relay;
before(async () => {
  relay = await startRelay();
  for (const { path, method, secret } of CASES) {
    await relay.hook({ actionType: 'log' },
      { pathSegment: path, allowedMethods: [method], secret });
  }
});
after(() => relay.close());

async function examplesOf({ path, secret }: Case): Promise<{ curl: string; php: string }> {
  const { json } = await relay.ask('GET', `/api/incoming-webhooks/${path}/examples`);
  assert.equal(json['url'], `${relay.url}/webhook/in/${path}`);
  const { curl, php } = json;
  assert.ok(secret === null || secret === 'plain' || !`${curl}${php}`.includes(secret));
  return { curl: String(curl), php: String(php) };
}

function checkAnswer({ method, path }: Case, { stdout, stderr }: Ended): void {
  if (method === 'HEAD') assert.match(stdout, /^HTTP\/1\.1 200 /, `${path}: ${stderr}`);
  else assert.deepEqual(JSON.parse(stdout), { success: true, message: '', data: {} }, path);
}

test('the curl line works for every method, and signs with any secret', {
  skip: curlMissing,
}, async () => {
  for (const given of someOf(CASES, 3)) {
    const { curl } = await examplesOf(given);
    checkAnswer(given, await runShell(curl, given.secret));
    if (given.secret === null) continue;
    const wrong = await runShell(curl, `${given.secret}!`);
    assert.match(wrong.stdout, given.method === 'HEAD'
      ? /^HTTP\/1\.1 401 / : /Signature verification failed/, given.path);
    const missing = await runShell(curl);
    assert.match(missing.stderr, /WEBHOOK_SECRET.*must hold the secret of this webhook/);
  }
});

test('the PHP example works for every method, and signs with any secret', {
  skip: phpMissing,
}, async () => {
  for (const given of someOf(CASES, 3)) {
    const { php } = await examplesOf(given);
    const run = (environment: Readonly<Record<string, string>>) =>
      runScript(php, { program: 'php', environment });
    const { secret } = given;
    checkAnswer(given, await run(secret === null ? {} : { WEBHOOK_SECRET: secret }));
    if (secret === null) continue;
    const missing = await run({});
    assert.match(missing.stdout, /WEBHOOK_SECRET must hold the secret of this webhook/);
  }
});

test('an address with quotes is quoted for the shell and for PHP', () => {
  const url = "http://h/o'clock\\";
  assert.ok(formatUnsignedCurl(url, 'POST').includes(`'http://h/o'\\''clock\\'`));
  assert.ok(formatPhp(url, 'POST', false).includes(`'http://h/o\\'clock\\\\'`));
});

test('the examples of an unknown hook are not found', async () => {
  assert.equal((await relay.ask('GET', '/api/incoming-webhooks/nope/examples')).status, 404);
});
