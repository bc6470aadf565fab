/** A server whose program `npm install` or a build has replaced, and taken parts of away. */
import assert from 'node:assert/strict';
import { cpSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { test } from 'node:test';
import { PROGRAM } from '../support/program.ts';
import { inFolder } from '../support/temporary-folder.ts';
import { until } from '../support/until.ts';
import { addRecord, ask } from './ask.ts';
import { hookshelf, startServer } from './processes.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const REPLACED = /the program was replaced while it ran .*: restart it/;
const ASKING_ACTION = `export default class {
  static identifier() { return 'ask'; }
  static label() { return 'Ask'; }
  async execute(payload, context, { url }, { ActionResult, http }) {
    await http.request({ url });
    return ActionResult.ok({}, 'asked');
  }
}
`;

test('what cannot be loaded any more is 503, and nothing is lost until a restart', () =>
  inFolder(async (folder) => {
    cpSync(dirname(PROGRAM), join(folder, 'dist'), { recursive: true });
    cpSync(join(ROOT, 'package.json'), join(folder, 'package.json'));
    const data = join(folder, 'data');
    mkdirSync(join(data, 'actions'), { recursive: true, mode: 0o700 });
    writeFileSync(join(data, 'actions/ask.mjs'), ASKING_ACTION);
    const server = await startServer(['--data', data],
      { program: [process.execPath, join(folder, 'dist/main.js')] });
    const targetUrl = `${server.url}/webhook/in/echo`;
    const configure = (identifier: string, actionType: string, options: object) =>
      addRecord(`${server.url}/api/action-configurations`, { identifier, actionType, options });
    await configure('echo', 'log', {});
    await configure('forward', 'http-forward', { url: targetUrl });
    await configure('ask', 'ask', { url: targetUrl });
    for (const pathSegment of ['echo', 'forward', 'ask']) {
      await addRecord(`${server.url}/api/incoming-webhooks`,
        { pathSegment, actionConfiguration: pathSegment });
    }
    await addRecord(`${server.url}/api/outgoing-webhooks`,
      { name: 'out', targetUrl, triggerEvents: ['made'] });
    assert.equal((await ask(`${server.url}/readyz`)).status, 200);

    const chunks = join(folder, 'dist/chunks');
    renameSync(chunks, join(folder, 'before'));

    const post = (path: string) => ask(server.url + path, { method: 'POST', body: {} });
    for (const path of ['/webhook/in/forward', '/webhook/in/ask']) {
      assert.equal((await post(path)).status, 503, 'its sender sends it again');
    }
    assert.match(server.stderr(), REPLACED);
    for (const path of ['/api/books', '/openapi.json', '/readyz']) {
      const { status, text } = await ask(server.url + path);
      assert.equal(status, 503, text);
      assert.match(text, REPLACED);
    }
    assert.equal((await post('/webhook/in/echo')).status, 200, 'what is loaded goes on');
    const event = await ask(`${server.url}/api/events`,
      { method: 'POST', body: { name: 'made', payload: {} } });
    assert.ok(event.status < 300, event.text);
    const deliveries = async () =>
      JSON.parse((await ask(`${server.url}/api/deliveries`)).text);
    await until('the delivery is tried', async () =>
      (await deliveries())[0]?.nextAttemptAt > new Date().toISOString());
    const [delivery] = await deliveries();
    assert.deepEqual([delivery.status, delivery.attempts], ['pending', []]);
    const doctor = await hookshelf(['doctor', '--data', data]);
    assert.equal(doctor.code, 1);
    assert.match(doctor.stdout, REPLACED);

    renameSync(join(folder, 'before'), chunks);
    assert.equal((await post('/webhook/in/forward')).status, 200);
    assert.equal((await ask(`${server.url}/readyz`)).status, 200);
    await ask(`${server.url}/api/deliveries/${delivery.identifier}/retry`,
      { method: 'POST' });
    await until('the delivery is made', async () =>
      (await deliveries())[0]?.status === 'delivered');
    assert.equal((await server.stop()).code, 0);
  }));
