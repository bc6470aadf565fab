import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Ended } from '../support/children.ts';
import { inFolder } from '../support/temporary-folder.ts';
import { until } from '../support/until.ts';
import { curlMissing, runShell } from '../support/shell.ts';
import { hookshelf, startServer } from './processes.ts';

const SECRET = 'planted-secret-4711';

type Taken = { readonly authorization: string | undefined; readonly body: string };

async function withTarget(use: (url: string, taken: readonly Taken[]) => Promise<void>) {
  const taken: Taken[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => {
      body += chunk.toString();
    });
    request.on('end', () => {
      taken.push({ authorization: request.headers.authorization, body });
      response.end('{}');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`, taken);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

test('two commands and the curl line they print forward a signed request', {
  skip: curlMissing,
}, () => inFolder((data) => withTarget(async (target, taken) => {
  const server = await startServer(['--data', data]);
  const run = (words: readonly string[], input = ''): Promise<Ended> =>
    hookshelf([...words, '--data', data], { input });
  const options = JSON.stringify({
    url: target, headers: { Authorization: 'Bearer planted-token-4712' },
  });
  const said: Ended[] = [
    await run(['actionconfig:create', '--action', 'http-forward', '--identifier', 'to-me',
      '--options', '-'], options),
    await run(['incomingwebhook:create', '--path-segment', 'in', '--action-config', 'to-me',
      '--secret-file', '-'], `${SECRET}\n`),
    await run(['actionconfig:show', '--id', 'to-me']),
    await run(['incomingwebhook:show', '--id', 'in']),
  ];
  for (const { code, stderr } of said) assert.equal(code, 0, stderr);
  const [, curl = ''] = /^curl:\n\n([^]*)\n\nPHP:/m.exec(said[3]?.stdout ?? '') ?? [];
  assert.ok(curl.includes(new URL(server.url).port), curl);
  const sent = await runShell(curl, SECRET);
  assert.deepEqual(JSON.parse(sent.stdout),
    { success: true, message: '', data: { statusCode: 200 } }, sent.stderr);
  assert.deepEqual(taken,
    [{ authorization: 'Bearer planted-token-4712', body: '{"message":"Hello, World!"}' }]);
  const refused = await runShell(curl, 'another secret');
  assert.equal(JSON.parse(refused.stdout).message, 'Signature verification failed');
  assert.equal(taken.length, 1);
  const { stderr } = await server.stop();
  const words = [stderr, ...said.flatMap((each) => [each.stdout, each.stderr])].join('\n');
  assert.ok(!/planted/.test(words), words);
})));

test('a delivery waits for the server, and arrives', () => inFolder((data) =>
  withTarget(async (target, taken) => {
    const created = await hookshelf(['outgoingwebhook:create', '--target-url', target,
      '--trigger-event', 'book.created', '--data', data]);
    assert.equal(created.code, 0, created.stderr);
    await hookshelf(['book:add', '--input', '{"title":"Emma"}', '--data', data]);
    assert.equal(taken.length, 0);
    const server = await startServer(['--data', data]);
    await until('the delivery arrives', () => taken.length > 0);
    await server.stop();
    const [{ body = '' } = {}] = taken;
    const event = JSON.parse(body);
    assert.deepEqual([event.type, event.data.book.title], ['book.created', 'Emma']);
    const proof = await hookshelf(['delivery:reconcile', '--json', '--data', data]);
    assert.deepEqual([JSON.parse(proof.stdout).delivered, proof.code], [1, 0]);
    const listed = await hookshelf(['delivery:list', '--json', '--data', data]);
    const [{ identifier }] = JSON.parse(listed.stdout);
    const table = await hookshelf(['delivery:list', '--data', data]);
    assert.match(table.stdout, /  ATTEMPTS  LAST ANSWER\n.*  1         200\n$/);
    const shown = await hookshelf(['delivery:show', identifier, '--data', data]);
    assert.match(shown.stdout, /^sent\.method +POST$/m);
    assert.match(shown.stdout, new RegExp(`^sent\\.url +${target}$`, 'm'));
    assert.match(shown.stdout, /^sent\.headers\.content-type +application\/json$/m);
    const sent = await hookshelf(['delivery:show', identifier, '--body', '--data', data]);
    assert.equal(sent.stdout, body);
    const again = await hookshelf(['delivery:resend', identifier, '--data', data]);
    assert.equal(again.code, 0, again.stderr);
    const next = await startServer(['--data', data]);
    await until('it arrives again', () => taken.length > 1);
    await next.stop();
    assert.equal(taken[1]?.body, body);
  })));

test('the files of a data directory are private, whatever the umask', () =>
  inFolder(async (folder) => {
    const data = join(folder, 'data');
    const input = join(folder, 'book.json');
    writeFileSync(input, '{"title":"Emma"}');
    const script = `umask 000; exec '${process.execPath}' dist/main.js book:add `
      + `--input @'${input}' --data '${data}'`;
    assert.equal((await runShell(script, '')).code, 0);
    const { stdout } = spawnSync('stat', ['-c', '%a', data,
      ...readdirSync(data).map((name) => join(data, name))], { encoding: 'utf8' });
    assert.deepEqual([...new Set(stdout.trim().split('\n'))].sort(), ['600', '700']);
    assert.ok(readFileSync(join(data, 'journal-000001.jsonl'), 'utf8').includes('Emma'));
  }));
