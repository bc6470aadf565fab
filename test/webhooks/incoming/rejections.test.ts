import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import { startProxy } from '../../support/proxy.ts';
import { startRelayFor, type Headers, type Relay } from '../relay.ts';
import { turnsUntil } from '../../support/turns.ts';
import { createActionClass } from '../context.ts';

const SECRET = 'planted-secret';
const LINES_A_SECOND = 5;

const Slow = createActionClass('slow', (): Promise<never> => { return new Promise(() => {}); });

type Told = Readonly<Record<string, unknown>>;

function toldBy({ logLines }: Relay, message: string): Told[] {
  return logLines.map((line) => JSON.parse(line) as Told)
    .filter((line) => line['message'] === message);
}

function rejections(relay: Relay): Told[] {
  return toldBy(relay, 'a call of an incoming webhook was rejected');
}

test('a rejected call is one line with the reason, and no secret', async (context) => {
  const relay = await startRelayFor(context, {
    actions: [Slow], incoming: { maxConcurrent: 1, actionTimeoutMs: 100 },
  });
  await relay.hook({ actionType: 'slow' }, { pathSegment: 'slow' });
  const hook = await relay.hook({ actionType: 'log' }, { secret: SECRET });
  await relay.hook({ actionType: 'log' }, { pathSegment: 'off', enabled: false });
  const wrong = createHmac('sha256', 'other').update('{}').digest('hex');
  const calls: readonly [string, string, Headers, number, RegExp][] = [
    ['POST', 'hook', {}, 401, /there is no X-Signature/],
    ['POST', 'hook', { 'X-Signature': 'planted-nonsense' }, 401, /not sha256= and 64/],
    ['POST', 'hook', { 'X-Signature': `sha256=${wrong}` }, 401, /not of this body/],
    ['PUT', 'hook', {}, 405, /PUT is not among POST/],
    ['POST', 'hook', { 'Content-Length': '9999999' }, 413, /\d/],
    ['POST', 'off', {}, 404, /is disabled/],
    ['POST', 'no-such', {}, 404, /no webhook at "no-such"/],
    ['POST', 'no/such', {}, 404, /no webhook at/],
  ];
  for (const [method, path, headers, status, reason] of calls) {
    const before = rejections(relay).length;
    const asked = await relay.ask(method, `/webhook/in/${path}`, '{}', {
      ...headers, 'X-Request-Id': 'known',
    });
    assert.equal(asked.status, status);
    const told = rejections(relay).slice(before);
    assert.equal(told.length, 1, path);
    assert.match(String(told[0]?.['reason']), reason);
    assert.deepEqual([told[0]?.['status'], told[0]?.['requestId']], [status, 'known']);
    if (path === 'hook') assert.equal(told[0]?.['hook'], hook.json['identifier']);
  }
  const both = await Promise.all([1, 2].map(() => relay.ask('POST', '/webhook/in/slow', '{}')));
  assert.deepEqual(both.map(({ status }) => status).sort(), [400, 503]);
  assert.match(String(rejections(relay).at(-1)?.['reason']), /incoming\.maxConcurrent/);
  assert.ok(!relay.logLines.some((line) => line.includes('planted') || line.includes(wrong)));
});

test('the line of a rejected call has the status of the response that the webhook sends itself',
  async (context) => {
    const relay = await startRelayFor(context);
    await relay.hook({ actionType: 'log' },
      { secret: SECRET, response: { rejected: { status: 418 } } });
    for (const [method, status] of [['POST', 418], ['PUT', 405]] as const) {
      const asked = await relay.ask(method, '/webhook/in/hook', '{}');
      assert.deepEqual([asked.status, rejections(relay).at(-1)?.['status']], [status, status]);
    }
  });

test('of a flood a few lines a second and hook are written, and how many were not',
  { timeout: 120_000 }, async (context) => {
    const relay = await startRelayFor(
      context, { incoming: { allowUnsignedWhenSecretMissing: false } });
    await relay.hook({ actionType: 'log' });
    await relay.hook({ actionType: 'log' }, { pathSegment: 'other' });
    const calls = Array.from({ length: 60 }, (_, index) =>
      relay.ask('POST', `/webhook/in/${index === 30 ? 'other' : 'hook'}`, '{}'));
    const startedMs = performance.now();
    for (const { status } of await Promise.all(calls)) assert.equal(status, 401);
    const windows = 1 + Math.ceil((performance.now() - startedMs) / 1000);
    const others = rejections(relay).filter(({ path }) => path === 'other');
    assert.equal(others.length, 1, 'one hook does not hide another');
    const lines = rejections(relay).length - 1;
    assert.ok(lines >= LINES_A_SECOND && lines <= LINES_A_SECOND * windows, `${lines} lines`);
    const leftOut = (): number => toldBy(relay, 'more calls of an incoming webhook were rejected')
      .reduce((sum, told) => sum + Number(told['leftOut']), 0);
    await turnsUntil(() => leftOut() + lines >= 59);
    assert.equal(leftOut() + lines, 59);
    assert.match(String(rejections(relay)[0]?.['reason']), /allowUnsignedWhenSecretMissing/);
  });

test('a proxy that asks for other credentials is told of, without them', async (context) => {
  const proxy = await startProxy({ credentials: 'right:password' });
  context.after(() => proxy.close());
  const relay = await startRelayFor(context, {
    client: { proxy: proxy.url('planted-user:planted-password') },
  });
  await relay.hook({ actionType: 'http-forward', options: { url: 'http://there.invalid/' } });
  await relay.ask('POST', '/webhook/in/hook', '{}');
  const [told] = toldBy(relay, 'the proxy failed');
  assert.equal(told?.['status'], 407);
  assert.match(String(told?.['reason']), /407: it wants credentials.*http\.proxy/);
  assert.ok(!relay.logLines.some((line) => line.includes('planted')));
});
