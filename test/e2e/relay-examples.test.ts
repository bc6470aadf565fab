/** The examples of a webhook, run as a person would: pasted, with the secret exported. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import type { Ended } from '../support/children.ts';
import { curlMissing, runScript, runShell } from '../support/shell.ts';
import { inFolder } from '../support/temporary-folder.ts';
import { ask } from './ask.ts';
import { startServer } from './processes.ts';

const HAS_PHP = spawnSync('php', ['-r', 'exit(function_exists("curl_init") ? 0 : 1);'])
  .status === 0;

const METHODS = ['POST', 'PUT', 'PATCH', 'DELETE', 'GET', 'HEAD', 'OPTIONS'];
const SECRETS = [
  'plain', 'It\'s a "Secret" to $EVERYBODY `here` \\n', '-leading dash', 'ünïcode ☃',
  // As long as a block of SHA-256, and longer.
  'k'.repeat(64), '0123456789'.repeat(20),
];

type Examples = { readonly curl: string; readonly php: string };
type Case = { readonly path: string; readonly secret: string | null; readonly method: string };

const CASES: readonly Case[] = [
  ...METHODS.map((method, index) => ({ path: `open-${index}`, secret: null, method })),
  ...['GET', 'HEAD', 'DELETE'].map((method) => ({ path: method, secret: 'plain', method })),
  ...SECRETS.map((secret, index) => ({ path: `odd.~_-${index}`, secret, method: 'POST' })),
];

async function withExamples(
  use: (given: Case, examples: Examples) => Promise<void>,
): Promise<void> {
  await inFolder(async (data) => {
    const server = await startServer(['--data', data]);
    const make = async (path: string, body: object): Promise<void> => {
      const { status, text } = await ask(`${server.url}/api/${path}`, { method: 'POST', body });
      assert.equal(status, 201, text);
    };
    try {
      await make('action-configurations', { identifier: 'log', actionType: 'log' });
      for (const given of CASES) {
        const { path, method, secret } = given;
        await make('incoming-webhooks', {
          pathSegment: path, actionConfiguration: 'log', allowedMethods: [method], secret,
        });
        const { text } = await ask(`${server.url}/api/incoming-webhooks/${path}/examples`);
        await use(given, JSON.parse(text));
      }
    } finally {
      await server.stop();
    }
  });
}

function checkAnswer({ method, path }: Case, { stdout, stderr }: Ended): void {
  if (method === 'HEAD') assert.match(stdout, /^HTTP\/1\.1 200 /, `${path}: ${stderr}`);
  else assert.deepEqual(JSON.parse(stdout), { success: true, message: '', data: {} }, path);
}

test('the curl line works for every method, and signs with any secret', {
  skip: curlMissing,
}, () => withExamples(async (given, { curl }) => {
  checkAnswer(given, await runShell(curl, given.secret));
  if (given.secret === null) return;
  const wrong = await runShell(curl, `${given.secret}!`);
  assert.match(wrong.stdout, given.method === 'HEAD'
    ? /^HTTP\/1\.1 401 / : /Signature verification failed/, given.path);
  const missing = await runShell(curl);
  assert.match(missing.stderr, /WEBHOOK_SECRET.*must hold the secret of this webhook/);
}));

test('the PHP example works for every method, and signs with any secret', {
  skip: !HAS_PHP && 'php with the curl extension is needed',
}, () => withExamples(async (given, { php }) => {
  const { secret } = given;
  const run = (environment: Readonly<Record<string, string>>) =>
    runScript(php, { program: 'php', environment });
  checkAnswer(given, await run(secret === null ? {} : { WEBHOOK_SECRET: secret }));
  if (secret === null) return;
  const missing = await run({});
  assert.match(missing.stdout, /WEBHOOK_SECRET must hold the secret of this webhook/);
}));
