import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test, type TestContext } from 'node:test';
import {
  assertRefused, startRelayFor, startRelayWithHook, type Answer, type Relay,
} from './relay.ts';

const OLD = 'planted-old-secret';
const NEW = 'planted-new-secret';
const HOUR_MS = 3_600_000;

async function start(context: TestContext, hook: object): Promise<Relay & { path: string }> {
  const relay = await startRelayWithHook(context, { actionType: 'log' }, { secret: OLD, ...hook });
  return { ...relay, path: '/api/incoming-webhooks/hook' };
}

const call = (relay: Relay, name: string, secret: string): Promise<Answer> =>
  relay.ask('POST', '/webhook/in/hook', '{}', {
    [name]: `sha256=${createHmac('sha256', secret).update('{}').digest('hex')}`,
  });

for (const [header, hook] of [
  ['X-Signature', {}], ['X-Hub-Signature-256', { verification: { preset: 'github' } }],
] as const) {
  test(`both secrets count during the overlap, ${header}`, async (context) => {
    const relay = await start(context, hook);
    const rotate = (body: object): Promise<Answer> =>
      relay.ask('POST', `${relay.path}/rotate-secret`, body);
    const rotated = await rotate({ secret: NEW, overlapHours: 2 });
    assert.equal(rotated.status, 200, rotated.text);
    assert.ok(!rotated.text.includes('planted'));
    const { previousSecret } = rotated.json as { previousSecret: { validUntil: string } };
    assert.ok(Math.abs(Date.parse(previousSecret.validUntil) - Date.now() - 2 * HOUR_MS) < 60_000);
    assert.equal((await call(relay, header, NEW)).status, 200);
    assert.equal((await relay.ask('GET', relay.path)).json['lastUsedAt'], undefined);
    assert.equal((await call(relay, header, OLD)).status, 200);
    await relay.webhooks.emit('wait.for.the.store', {});
    const used = (await relay.ask('GET', relay.path)).json['previousSecret'];
    assert.match(String((used as { lastUsedAt: string }).lastUsedAt), /:00\.000Z$/);

    const again = await rotate({});
    assert.equal(again.status, 409);
    assert.match(again.text, /rotate with `\\"force\\": true` \(--force\)/);
    const forced = await rotate({ force: true, overlapHours: 0 });
    assert.match(String(forced.json['secret']), /^[0-9a-f]{64}$/);
    assert.equal(forced.json['previousSecret'], undefined);
    for (const secret of [OLD, NEW]) {
      assert.equal((await call(relay, header, secret)).status, 401);
    }
    assert.equal((await call(relay, header, String(forced.json['secret']))).status, 200);
    assert.ok(!relay.logLines.some((line) => line.includes('planted')));
  });
}

test('a new secret has the shape that the preset wants, or is asked for', async (context) => {
  const relay = await start(context, { verification: { preset: 'standard' } });
  const made = await relay.ask('POST', `${relay.path}/rotate-secret`);
  assert.match(String(made.json['secret']), /^whsec_[A-Za-z0-9+/]{43}=$/);
  await relay.ask('PATCH', relay.path, { verification: { preset: 'stripe' } });
  const refused = await relay.ask('POST', `${relay.path}/rotate-secret`, { force: true });
  assert.equal(refused.status, 422);
  assert.match(refused.text, /"\/secret".*only the sender \(Stripe\) can make it/);
});

test('*** is no new secret: it would stand for the old one, and everybody knows it',
  async (context) => {
    const relay = await start(context, {});
    assertRefused(await relay.ask('POST', `${relay.path}/rotate-secret`, { secret: '***' }),
      '/secret', /no stored value that \*\*\* could keep/);
    assert.equal((await call(relay, 'X-Signature', OLD)).status, 200);
  });

test('a secret that never matched does not spoil the one that takes its place', async (context) => {
  const relay = await start(context, { verification: { preset: 'standard' } });
  await relay.ask('PATCH', relay.path, { secret: 'whsec_planted?' });
  await relay.ask('POST', `${relay.path}/rotate-secret`);
  const { path, headers, body } = (await relay.control(
    `${relay.path}/sample`, {})).json;
  const sent = Object.entries(headers as object).map(([name, value]) =>
    [name.toLowerCase(), String(value)]);
  const answer = await relay.ask('POST', String(path), Buffer.from(String(body), 'base64'),
    Object.fromEntries(sent));
  assert.equal(answer.status, 200, answer.text);
});

test('a new secret that cannot be used leaves the old one its time', async (context) => {
  const old = 'whsec_cGxhbnRlZC1vbGQ=';
  const relay = await start(context, { secret: old, verification: { preset: 'standard' } });
  const keys = { old: Buffer.from('planted-old'), other: Buffer.from('other') };
  const sent = (key: Buffer, id: string): Readonly<Record<string, string>> => {
    const atS = String(Math.floor(Date.now() / 1000));
    const mac = createHmac('sha256', key).update(`${id}.${atS}.{}`).digest('base64');
    return { 'webhook-id': id, 'webhook-timestamp': atS, 'webhook-signature': `v1,${mac}` };
  };
  const send = async (key: Buffer): Promise<number> =>
    (await relay.ask('POST', '/webhook/in/hook', '{}', sent(key, 'msg_1'))).status;
  const look = async (key: Buffer): Promise<unknown[]> => {
    const { json } = await relay.ask('POST', '/api/incoming-webhooks/hook/diagnose',
      { headers: sent(key, 'msg_2'), body: 'e30=' });
    const secret = (json['checks'] as readonly { check: string; status: string }[])
      .find(({ check }) => check === 'secret');
    return [json['accepted'], json['failedCheck'], secret?.status];
  };
  const rotated = await relay.ask('POST', `${relay.path}/rotate-secret`,
    { secret: 'whsec_planted?' });
  assert.equal(rotated.status, 200, rotated.text);
  assert.deepEqual([await send(keys.old), await send(keys.other)], [200, 401]);
  assert.deepEqual(await look(keys.old), [true, null, 'hint']);
  assert.deepEqual(await look(keys.other), [false, 'secret', 'failed']);
  assert.match(relay.logLines.filter((line) => line.includes('rejected')).join(),
    /"check":"secret".*not base64 after whsec_/);
  await relay.ask('POST', `${relay.path}/rotate-secret`,
    { secret: 'whsec_planted?', overlapHours: 0, force: true });
  assert.equal(await send(keys.old), 401);
  assert.ok(!relay.logLines.some((line) => line.includes('planted')));
});

test('a new secret of HTTP Basic changes the password alone', async (context) => {
  const relay = await start(context, { verification: { preset: 'basic' } });
  await relay.ask('PATCH', relay.path, { secret: 'planted-user:planted-old' });
  const rotate = async (): Promise<string> => String((await relay.ask('POST',
    `${relay.path}/rotate-secret`, { overlapHours: 0 })).json['secret']);
  const made = await rotate();
  assert.match(made, /^planted-user:[0-9a-f]{64}$/);
  assert.notEqual(await rotate(), made);
  for (const secret of ['without-a-colon', ':without-a-user']) {
    await relay.ask('PATCH', relay.path, { secret });
    assert.match(await rotate(), /^hookshelf:[0-9a-f]{64}$/);
  }
});

test('the previous secret ends with the secret, and no body can write it', async (context) => {
  const relay = await start(context, {});
  await relay.ask('POST', `${relay.path}/rotate-secret`, { secret: NEW });
  const shown = (await relay.ask('GET', relay.path)).json;
  const put = await relay.ask('PUT', relay.path, shown);
  assert.deepEqual(put.json['previousSecret'], shown['previousSecret'], put.text);
  const removed = await relay.ask('PATCH', relay.path, { secret: null });
  assert.deepEqual([removed.json['hasSecret'], removed.json['previousSecret']], [false, undefined]);
});

test('an outgoing webhook signs with both, the new one first', async (context) => {
  const relay = await startRelayFor(context);
  const received: IncomingHttpHeaders[] = [];
  const target = createServer((request, response) => {
    received.push(request.headers);
    response.end();
  });
  await new Promise<void>((resolve) => target.listen(0, '127.0.0.1', resolve));
  context.after(() => target.close());
  const { port } = target.address() as AddressInfo;
  const made = await relay.ask('POST', '/api/outgoing-webhooks',
    { targetUrl: `http://127.0.0.1:${port}/`, secret: OLD });
  const path = `/api/outgoing-webhooks/${String(made.json['identifier'])}`;
  const rotated = await relay.ask('POST', `${path}/rotate-secret`, { secret: NEW });
  assert.equal(rotated.status, 200, rotated.text);
  assert.ok(!(await relay.ask('GET', path)).text.includes('planted'));
  await relay.ask('POST', `${path}/send`, { payload: {} });
  const [headers = {}] = received;
  const sign = (secret: string): string => createHmac('sha256', secret)
    .update(`${headers['webhook-id']}.${headers['webhook-timestamp']}.{}`).digest('base64');
  assert.equal(headers['webhook-signature'], `v1,${sign(NEW)} v1,${sign(OLD)}`);
  assert.equal(headers['x-signature'],
    `sha256=${createHmac('sha256', NEW).update('{}').digest('hex')}`);
  const bad = await relay.ask('POST', `${path}/rotate-secret`, { secret: 'whsec_?', force: true });
  assert.match(bad.text, /"\/secret".*must be base64 after whsec_/);
  const moved = await relay.ask('PATCH', path, { targetUrl: 'http://localhost:9/' });
  assert.deepEqual([moved.status, moved.json['hasSecret']], [200, true], moved.text);
  const made2 = await relay.ask('POST', `${path}/rotate-secret`, { force: true });
  assert.match(String(made2.json['secret']), /^whsec_/);
});
