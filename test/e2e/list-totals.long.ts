/** What lists and records say of themselves in headers, of a running server. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeToken } from '../support/make-token.ts';
import { inFolder } from '../support/temporary-folder.ts';
import { until } from '../support/until.ts';
import { ask } from './ask.ts';
import type { Question, Reply } from './ask.ts';
import { startServer } from './processes.ts';

const UNREACHABLE = 'http://127.0.0.1:1/';

async function withServer(
  use: (call: (path: string, question?: Question) => Promise<Reply>, data: string) => Promise<void>,
): Promise<void> {
  await inFolder(async (data) => {
    const server = await startServer(['--data', data],
      { environment: { HOOKSHELF_OUTGOING_RETRY_SCHEDULE: '3600' } });
    try {
      await use((path, question) => ask(`${server.url}${path}`, question), data);
    } finally {
      await server.stop();
    }
  });
}

async function addDelivery(
  call: (path: string, question?: Question) => Promise<Reply>,
): Promise<{ readonly hook: string; readonly path: string }> {
  const made = await call('/api/outgoing-webhooks', {
    method: 'POST', body: { targetUrl: UNREACHABLE, triggerEvent: 'order.*' },
  });
  const emitted = await call('/api/events', {
    method: 'POST', body: { name: 'order.paid', payload: {} },
  });
  const [id] = JSON.parse(emitted.text).deliveries;
  const path = `/api/deliveries/${id}`;
  await until('it was attempted', async () =>
    JSON.parse((await call(path)).text).attempts.length === 1);
  return { hook: JSON.parse(made.text).identifier, path };
}

test('a list without pages says how many it has', () => withServer(async (call, data) => {
  await addDelivery(call);
  const job = await call('/api/deliveries/resend', { method: 'POST', body: { status: 'failed' } });
  assert.equal(job.status, 202, job.text);
  for (const path of [
    '/api/jobs', '/api/tokens', '/api/nodes', '/api/verification-presets', '/api/actions',
  ]) {
    const { status, headers, text } = await call(path);
    assert.equal(status, 200);
    assert.equal(headers['x-total-count'], String(JSON.parse(text).length), path);
  }
  await makeToken(data, 'read');
  const { token } = await makeToken(data, 'admin');
  const authorization = `Bearer ${token}`;
  assert.equal((await call('/api/tokens', { headers: { authorization } }))
    .headers['x-total-count'], '2');
}));

test('a delivery has a tag, which changes with it and with what is shown of its webhook', () =>
  withServer(async (call) => {
    const { hook, path } = await addDelivery(call);
    const attempted = (count: number): Promise<void> => until('it was attempted', async () =>
      JSON.parse((await call(path)).text).attempts.length === count);
    const read = (tag: string): Promise<Reply> =>
      call(path, { headers: { 'If-None-Match': tag } });
    for (const [method, where, body, attempts] of [
      ['POST', `${path}/cancel`, undefined, 1], ['POST', `${path}/resend`, {}, 2],
      ['PATCH', `/api/outgoing-webhooks/${hook}`, { name: 'crm' }, 2],
      ['PATCH', `/api/outgoing-webhooks/${hook}`, { enabled: false }, 2],
    ] as const) {
      const etag = String((await call(path)).headers.etag);
      assert.match(etag, /^"[^"]+"$/);
      const same = await read(etag);
      assert.deepEqual([same.status, same.text, same.headers.etag], [304, '', etag]);
      const changed = await call(where, { method, body });
      assert.ok(changed.status < 300, changed.text);
      await attempted(attempts);
      const next = await read(etag);
      assert.equal(next.status, 200, where);
      assert.notEqual(next.headers.etag, etag);
    }
    // No date tells of a change of its webhook.
    const dated = await call(path, { headers: { 'If-Modified-Since': new Date().toUTCString() } });
    assert.equal(dated.status, 200);
    assert.equal(dated.headers['last-modified'], undefined);
    assert.equal((await call(path, { headers: { 'If-Match': '"other"' } })).status, 412);
  }));

test('a job has a tag, which stays once it has ended', () => withServer(async (call) => {
  await addDelivery(call);
  const asked = await call('/api/deliveries/resend',
    { method: 'POST', body: { status: 'failed' } });
  const path = `/api/jobs/${JSON.parse(asked.text).id}`;
  await until('it has ended', async () => JSON.parse((await call(path)).text).status === 'done');
  const { headers: { etag } } = await call(path);
  const again = await call(path, { headers: { 'If-None-Match': String(etag) } });
  assert.deepEqual([again.status, again.text, again.headers.etag], [304, '', etag]);
}));
