import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { after, before, test } from 'node:test';
import { makeExamples } from '../../../src/webhooks/incoming/call-examples.ts';
import { startRelay, type Relay } from '../relay.ts';

const SECRET = "it's a \"secret\" $HOME `x` \\n ✓";

let relay: Relay;
before(async () => {
  relay = await startRelay();
  await relay.hook({ actionType: 'log' });
  for (const method of ['GET', 'HEAD', 'PUT', 'POST']) {
    await relay.hook({ actionType: 'log' },
      { pathSegment: `signed-${method}`, secret: SECRET, allowedMethods: [method] });
  }
});
after(() => relay.close());

function has(program: string): boolean {
  return spawnSync('sh', ['-c', `command -v ${program}`]).status === 0;
}

function runShell(script: string, secret?: string): Promise<{ out: string; error: string }> {
  const env = { ...process.env, ...secret === undefined ? {} : { WEBHOOK_SECRET: secret } };
  const child = spawn('sh', ['-c', script], { env });
  let out = '';
  let error = '';
  child.stdout.on('data', (chunk: Buffer) => { out += chunk.toString(); });
  child.stderr.on('data', (chunk: Buffer) => { error += chunk.toString(); });
  return new Promise((resolve) => child.on('close', () => resolve({ out, error })));
}

const canRun = { skip: (!has('curl') || !has('openssl')) && 'curl and openssl are needed' };

test('the curl example of a hook without a secret is taken', canRun, async () => {
  const { json } = await relay.ask('GET', '/api/incoming-webhooks/hook/examples');
  assert.equal(json['url'], `${relay.url}/webhook/in/hook`);
  const { out, error } = await runShell(String(json['curl']));
  assert.equal(out, '{"success":true,"message":"","data":{}}', error);
});

for (const method of ['POST', 'PUT', 'GET', 'HEAD']) {
  test(`the curl example signs a ${method} with any secret`, canRun, async () => {
    const { json } = await relay.ask('GET', `/api/incoming-webhooks/signed-${method}/examples`);
    const { out, error } = await runShell(String(json['curl']), SECRET);
    assert.match(out, method === 'HEAD' ? /200 OK/ : /"success":true/, error);
    const wrong = await runShell(String(json['curl']), 'another');
    assert.match(wrong.out, method === 'HEAD' ? /401/ : /Signature verification failed/);
    assert.ok(!String(json['curl']).includes(SECRET));
  });
}

test('the curl example says what is missing when the secret is', canRun, async () => {
  const { json } = await relay.ask('GET', '/api/incoming-webhooks/signed-POST/examples');
  const { error } = await runShell(String(json['curl']));
  assert.match(error, /must hold the secret/);
});

test('the PHP example is taken', { skip: !has('php') && 'php is needed' }, async () => {
  const { json } = await relay.ask('GET', '/api/incoming-webhooks/signed-POST/examples');
  const source = String(json['php']).replace(/^<\?php\n/, '').replaceAll("'", `'\\''`);
  const { out, error } = await runShell(`php -r '${source}'`, SECRET);
  assert.match(out, /"success":true/, error);
});

test('an address with quotes is quoted for the shell and for PHP', () => {
  const url = "http://h/o'clock\\";
  const { curl, php } = makeExamples({ url, method: 'POST', hasSecret: false });
  assert.ok(curl.includes(`'http://h/o'\\''clock\\'`));
  assert.ok(php.includes(`'http://h/o\\'clock\\\\'`));
});

test('the examples of an unknown hook are not found', async () => {
  assert.equal((await relay.ask('GET', '/api/incoming-webhooks/nope/examples')).status, 404);
});
