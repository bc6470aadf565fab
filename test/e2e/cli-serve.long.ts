import assert from 'node:assert/strict';
import { mkdirSync, statSync, writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { once } from 'node:events';
import { join } from 'node:path';
import { test } from 'node:test';
import { endOf } from '../support/children.ts';
import { startHttpTarget } from '../support/http-target.ts';
import { inFolder } from '../support/temporary-folder.ts';
import { until } from '../support/until.ts';
import { ask } from './ask.ts';
import { hookshelf, start, startServer } from './processes.ts';

function statusOf(url: string): Promise<number> {
  return new Promise((resolve, reject) => {
    get(url, (response) => resolve(response.resume().statusCode ?? 0)).on('error', reject);
  });
}

test('bare hookshelf serves the data folder here, and stops on SIGTERM with exit code 0', () =>
  inFolder(async (cwd) => {
    const child = start(['-p', '0'], { cwd });
    const ended = endOf(child);
    assert.ok(child.stdout !== null);
    const [chunk] = await once(child.stdout, 'data');
    const line = /^hookshelf listening on (http:\/\/127\.0\.0\.1:\d+)\n$/;
    const [, url] = line.exec(String(chunk)) ?? [];
    assert.equal(await statusOf(`${url}/healthz`), 200);
    assert.equal(statSync(join(cwd, 'data')).mode & 0o777, 0o700);
    child.kill('SIGTERM');
    assert.equal((await ended).code, 0);
  }));

test('commands work while the server runs, after kill -9, and without it', () =>
  inFolder(async (data) => {
    const server = await startServer(['--data', data]);
    const added = await hookshelf(
      ['book:add', '--data', data, '--json', '--input', '-'], { input: '{"title":"Emma"}' });
    assert.equal(added.code, 0, added.stderr);
    const { id } = JSON.parse(added.stdout);
    assert.equal(await statusOf(`${server.url}/api/books/${id}`), 200);
    await server.stop('SIGKILL');
    const shown = await hookshelf(['book:show', '--data', data, '--json', '--id', id]);
    assert.equal(JSON.parse(shown.stdout).title, 'Emma');
    const isNew = /"level":"info","message":"made a new data directory at [^"]*mounted"/;
    assert.match(server.stderr(), isNew);
    const again = await startServer(['--data', data]);
    assert.equal(await statusOf(`${again.url}/api/books/${id}`), 200);
    assert.doesNotMatch((await again.stop('SIGKILL')).stderr, isNew);
    const isAfterKill = /"the server before this one did not stop by itself: [^\n]*"pid":(\d+)/;
    const afterKill = await (await startServer(['--data', data])).stop();
    assert.equal(Number(isAfterKill.exec(afterKill.stderr)?.[1]), again.child.pid);
    const afterStop = await (await startServer(['--data', data])).stop();
    assert.doesNotMatch(afterStop.stderr, isAfterKill);
  }));

test('serve --paused says that it sends nothing, and the next start sends what waited', (context) =>
  inFolder(async (data) => {
    const target = await startHttpTarget();
    context.after(() => target.close());
    const paused = await startServer(['--data', data, '--paused']);
    await ask(`${paused.url}/api/outgoing-webhooks`,
      { method: 'POST', body: { targetUrl: target.url, triggerEvent: 'it' } });
    await ask(`${paused.url}/api/events`, { method: 'POST', body: { name: 'it', payload: {} } });
    const { text } = await ask(`${paused.url}/api/status`);
    assert.equal(JSON.parse(text).isPaused, true);
    const { code, stderr } = await paused.stop('SIGTERM');
    assert.equal(code, 0);
    assert.match(stderr, /"message":"stopped"[^\n]*\n$/);
    assert.match(stderr, /"level":"warning","message":"nothing is sent or run, [^"]*--paused/);
    assert.deepEqual(target.received, []);
    const server = await startServer(['--data', data]);
    await until('it has arrived', () => target.received.length === 1);
    await server.stop('SIGTERM');
  }));

test('what a custom action left running does not keep the server from ending', () =>
  inFolder(async (data) => {
    mkdirSync(join(data, 'actions'), { mode: 0o700 });
    writeFileSync(join(data, 'actions', 'busy.mjs'), `setInterval(() => {}, 1000);
      export default class Busy {
        static identifier() { return 'busy'; }
        static label() { return 'Busy'; }
        execute() { return { success: true, message: '', data: {} }; }
      }`, { mode: 0o600 });
    const server = await startServer(['--data', data]);
    assert.equal((await server.stop()).code, 0);
  }));

test('--max-memory serves under a cap, passes signals on and ends with its parent', () =>
  inFolder(async (data) => {
    const refused = await hookshelf(['serve', '--max-memory', '5', '--data', data]);
    assert.deepEqual([refused.code, /--max-memory must be/.test(refused.stderr)], [2, true]);
    const server = await startServer(['--data', data, '--max-memory', '128']);
    assert.equal(await statusOf(`${server.url}/healthz`), 200);
    const { stdout } = await hookshelf(['doctor', '--json', '--data', data]);
    assert.match(stdout, /the server that runs on .* answers/);
    assert.equal((await server.stop('SIGTERM')).code, 0);
    const orphaned = await startServer(['--data', data, '--max-memory', '128']);
    await orphaned.stop('SIGKILL');
    const again = await startServer(['--data', data]);
    await again.stop();
  }));
