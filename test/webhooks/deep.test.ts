/** A payload may be nested as deep as a body is long: nothing here may need stack for it. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { answer, startServer, type ScriptedServer } from '../support/servers.ts';
import { startRelay, type Relay } from './relay.ts';
import { createActionClass } from './context.ts';

const DEEP = '['.repeat(100_000) + ']'.repeat(100_000);

const Echo = createActionClass(
  'echo', (payload: unknown) => ({ success: true, data: { payload } }));

let relay: Relay;
let target: ScriptedServer;
before(async () => {
  target = await startServer({ onRequest: ({ socket }) => void socket.write(answer()) });
  relay = await startRelay({ actions: [Echo] });
  relay.webhooks.start();
});
after(async () => {
  await relay.close();
  await target.close();
});

async function bodyAt(path: string): Promise<string> {
  for (;;) {
    const found = target.received.find(({ head }) => head.includes(` ${path} `));
    if (found !== undefined) return found.body.toString();
    await new Promise((resolve) => void setImmediate(resolve));
  }
}

test('every action takes a deep payload', { timeout: 120_000 }, async () => {
  for (const [name, options] of Object.entries({
    'log': {}, 'http-forward': { url: target.url('/forward') }, 'emit-event': { name: 'deep' },
  })) {
    await relay.hook({ actionType: name, options }, { pathSegment: name });
    const { status, text } = await relay.ask('POST', `/webhook/in/${name}`, DEEP);
    assert.equal(status, 200, text);
  }
  assert.ok(await bodyAt('/forward') === DEEP);
});

test('a template puts it in, and the delivery arrives', { timeout: 120_000 }, async () => {
  for (const [path, payloadTemplate] of [
    ['/whole', '{"all":"{{ payload }}"}'], ['/text', '{"all":"is {{ payload }}"}'],
  ] as const) {
    const hook = await relay.ask('POST', '/api/outgoing-webhooks', {
      targetUrl: target.url(path), triggerEvent: 'filled', payloadTemplate,
    });
    assert.equal(hook.status, 201, hook.text);
  }
  await relay.hook({ actionType: 'emit-event', options: { name: 'filled' } },
    { pathSegment: 'filled' });
  await relay.ask('POST', '/webhook/in/filled', DEEP);
  assert.ok(await bodyAt('/whole') === `{"all":${DEEP}}`);
  assert.ok(await bodyAt('/text') === `{"all":"is ${DEEP}"}`);
});

test('what an action makes of it is the answer', async () => {
  await relay.hook({ actionType: 'echo' }, { pathSegment: 'echo' });
  const { status, json } = await relay.ask('POST', '/webhook/in/echo', DEEP);
  assert.equal(status, 200);
  assert.equal(json['success'], true);
});
