import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { makeExamples } from '../../../src/webhooks/incoming/call-examples.ts';
import { curlMissing, hasProgram, runShell } from '../../support/shell.ts';
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

const canRun = { skip: curlMissing };

test('the curl example of a hook without a secret is taken', canRun, async () => {
  const { json } = await relay.ask('GET', '/api/incoming-webhooks/hook/examples');
  assert.equal(json['url'], `${relay.url}/webhook/in/hook`);
  const { stdout, stderr } = await runShell(String(json['curl']));
  assert.equal(stdout, '{"success":true,"message":"","data":{}}', stderr);
});

for (const method of ['POST', 'PUT', 'GET', 'HEAD']) {
  test(`the curl example signs a ${method} with any secret`, canRun, async () => {
    const { json } = await relay.ask('GET', `/api/incoming-webhooks/signed-${method}/examples`);
    const { stdout, stderr } = await runShell(String(json['curl']), SECRET);
    assert.match(stdout, method === 'HEAD' ? /200 OK/ : /"success":true/, stderr);
    const wrong = await runShell(String(json['curl']), 'another');
    assert.match(wrong.stdout, method === 'HEAD' ? /401/ : /Signature verification failed/);
    assert.ok(!String(json['curl']).includes(SECRET));
  });
}

test('the curl example says what is missing when the secret is', canRun, async () => {
  const { json } = await relay.ask('GET', '/api/incoming-webhooks/signed-POST/examples');
  const { stderr } = await runShell(String(json['curl']));
  assert.match(stderr, /must hold the secret/);
});

test('the PHP example is taken', { skip: !hasProgram('php') && 'php is needed' }, async () => {
  const { json } = await relay.ask('GET', '/api/incoming-webhooks/signed-POST/examples');
  const source = String(json['php']).replace(/^<\?php\n/, '').replaceAll("'", `'\\''`);
  const { stdout, stderr } = await runShell(`php -r '${source}'`, SECRET);
  assert.match(stdout, /"success":true/, stderr);
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
