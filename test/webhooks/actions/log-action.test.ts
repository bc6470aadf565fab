import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ActionTools } from '../../../src/index.ts';
import { silentLogger, type LogFields } from '../../../src/base/log.ts';
import type { ActionCall } from '../../../src/webhooks/actions/action-registry.ts';
import { createLogAction } from '../../../src/webhooks/actions/log-action.ts';
import { hideQuerySecrets } from '../../../src/webhooks/members/url-credentials.ts';
import { createActionClass } from '../context.ts';
import { startRelay, startRelayFor, startRelayWithHook } from '../relay.ts';

test('the action log writes payload, context and options at its level, redacted', async () => {
  const relay = await startRelay();
  await relay.hook({ actionType: 'log', options: { level: 'warning' } });
  const body = { kept: 'yes', password: 'planted-1', nested: [{ apiKey: 'planted-2' }] };
  const path = '/webhook/in/hook?a=1&access_token=planted-3&%74oken=planted-4&b';
  await relay.ask('POST', path, body, {
    Authorization: 'planted-5', 'X-Hub-Signature-256': 'planted-6', 'X-Kept': 'too',
  });
  const line = relay.logLines.find((text) => text.includes('webhook received')) ?? '';
  await relay.close();
  const { level, payload, context, options } = JSON.parse(line);
  assert.equal(level, 'warning');
  assert.deepEqual(payload, { kept: 'yes', password: '***', nested: [{ apiKey: '***' }] });
  assert.equal(context.headers['x-kept'], 'too');
  assert.equal(context.query, 'a=1&access_token=***&%74oken=***&b');
  assert.deepEqual(options, { level: 'warning' });
  assert.ok(!relay.logLines.some((text) => text.includes('planted')));
});

/** Bodies of a megabyte that take long to copy, to redact or to write. */
const HOSTILE: Readonly<Record<string, string>> = {
  'empty arrays': `[${'[],'.repeat(340_000)}[]]`,
  'empty texts': `[${'"",'.repeat(340_000)}""]`,
  'members of all names': `{${Array.from({ length: 100_000 }, (_, index) =>
    `"${index.toString(36)}":1`).join()}}`,
  'objects': `[${'{"token":"planted"},'.repeat(52_000)}{}]`,
  'one text': JSON.stringify('?token=planted&'.repeat(69_000)),
};

for (const [what, body] of Object.entries(HOSTILE)) {
  test(`the action log writes a bounded line of a hostile body: ${what}`, async () => {
    const relay = await startRelay();
    await relay.hook({ actionType: 'log' });
    const wrapped = what === 'one text' ? `{"kept":1,"text":${body}}` : body;
    const { status } = await relay.ask('POST', '/webhook/in/hook?kept=1', wrapped);
    await relay.close();
    assert.equal(status, 200);
    const line = relay.logLines.find((text) => text.includes('webhook received')) ?? '';
    assert(line.length < 300_000, `${line.length} characters`);
    assert.doesNotMatch(line, /planted/);
    const { payload, context, options } = JSON.parse(line);
    assert.deepEqual([context.query, options], ['kept=1', {}], 'what stands beside it is whole');
    assert.match(JSON.stringify(payload), /<\d+ (bytes|characters|more)>/);
  });
}

test('a place of a secret is hidden in a payload that is too large for a line', async () => {
  const relay = await startRelay();
  await relay.hook({ actionType: 'log' }, {
    secret: 'planted', verification: { preset: 'custom', scheme: {
      algorithm: 'token', key: 'utf8', content: '',
      signature: { from: { json: 'own.sign' }, encoding: 'utf8' },
    } },
  });
  const body = { own: { sign: 'planted' }, list: Array.from({ length: 20_000 }, () => 1) };
  const { status, text } = await relay.ask('POST', '/webhook/in/hook', body);
  await relay.close();
  assert.equal(status, 200, text);
  const line = relay.logLines.find((one) => one.includes('webhook received')) ?? '';
  assert.match(line, /"own":\{"sign":"\*\*\*"\},"list":\[1,1,/);
  assert.match(line, /<\d+ more>/);
  assert.doesNotMatch(line, /planted/);
});

test('the action log finds a secret in an encoded URL, and in JSON that is a string', async () => {
  const relay = await startRelay();
  await relay.hook({ actionType: 'log' });
  const url = 'https://ada:planted-1@shop.example/?token=planted-2&kept=1';
  const body = {
    next: encodeURIComponent(url), twice: encodeURIComponent(encodeURIComponent(url)),
    event: JSON.stringify({ kept: 1, password: 'planted-3', of: JSON.stringify({ pin: 44_123 }) }),
  };
  await relay.ask('POST', `/webhook/in/hook?kept=1&next=${encodeURIComponent(url)}`, body,
    { Referer: url });
  const form = `payload=${encodeURIComponent('{"kept":1,"apiKey":"planted-4"}')}`;
  await relay.ask('POST', '/webhook/in/hook', Buffer.from(form), { 'Content-Type': 'text/plain' });
  const lines = relay.logLines.filter((text) => text.includes('webhook received'));
  await relay.close();
  assert.equal(lines.length, 2);
  const { payload, context } = JSON.parse(lines[0] ?? '');
  assert.deepEqual(payload, {
    next: 'https%3A%2F%2F***%40shop.example%2F%3Ftoken%3D***%26kept%3D1',
    twice: 'https%253A%252F%252F***%2540shop.example%252F%253Ftoken%253D***%2526kept%253D1',
    event: '{"kept":1,"password":"***","of":"{\\"pin\\":***}"}',
  });
  assert.equal(context.query,
    'kept=1&next=https%3A%2F%2F***%40shop.example%2F%3Ftoken%3D***%26kept%3D1');
  assert.equal(context.headers.referer, 'https://***@shop.example/?token=***&kept=1');
  assert.doesNotMatch(relay.logLines.join(''), /planted|44123/);
});

const PLACES: readonly (readonly [
  place: object, query: string, body: string, type: string, bodyFormat?: string,
])[] = [
  [{ header: 'X-Shop-Key' }, '', '{"kept":1}', 'application/json'],
  [{ query: 'k' }, '?kept=1&k=planted-key', '{}', 'application/json'],
  [{ json: 'shop.0.k' }, '', '{"kept":1,"shop":[{"k":"planted-key"}]}', 'application/json'],
  [{ json: 'shop[].k' }, '', '{"kept":1,"shop":[{"k":"planted-key"}]}', 'application/json'],
  [{ form: 'k' }, '', 'kept=1&k=planted-key', 'application/x-www-form-urlencoded'],
  [{ json: 'k' }, '?kept=1', '{"k":"planted-key"}', 'application/json', 'text'],
];

for (const [place, query, body, type, bodyFormat] of PLACES) {
  test(`no token is logged: ${JSON.stringify(place)} ${type}`, async (context) => {
    const relay = await startRelayWithHook(context, { actionType: 'log' }, {
      secret: 'planted-key', inbox: 'all', bodyFormat,
      verification: { preset: 'custom', scheme: {
        algorithm: 'token', key: 'utf8', content: '',
        signature: { from: place, encoding: 'utf8' },
      } },
    });
    const headers = { 'Content-Type': type, 'X-Shop-Key': 'planted-key' };
    const { status } = await relay.ask('POST', `/webhook/in/hook${query}`, Buffer.from(body),
      'header' in place ? headers : { 'Content-Type': type });
    assert.equal(status, 200);
    const line = relay.logLines.find((text) => text.includes('webhook received')) ?? '';
    assert.ok(line.includes('***') && line.includes('kept'), line);
    assert.ok(!relay.logLines.some((text) => text.includes('planted')));
  });
}

test('lines of actions carry the id of their request', async (context) => {
  const Says = createActionClass('says',
    (_: unknown, __: unknown, ___: unknown, { log }: ActionTools) => {
      log.info('said');
      return { success: true };
    });
  const relay = await startRelayFor(context, { actions: [Says] });
  await relay.hook({ actionType: 'says' });
  await relay.hook({ actionType: 'log' }, { pathSegment: 'log' });
  const options = { url: 'http://127.0.0.1:1/' };
  await relay.hook({ actionType: 'http-forward', options }, { pathSegment: 'forward' });
  for (const [path, message] of [
    ['hook', 'said'], ['log', 'webhook received'], ['forward', 'a forward failed'],
  ]) {
    await relay.ask('POST', `/webhook/in/${path}`, {}, { 'X-Request-Id': `id-of-${path}` });
    const line = relay.logLines.find((text) => text.includes(`"message":"${message}"`)) ?? '{}';
    assert.equal(JSON.parse(line).requestId, `id-of-${path}`, line);
  }
});

test('an option that the action log does not know is refused', async (context) => {
  const relay = await startRelayFor(context);
  const refused = async (options: object): Promise<string> =>
    (await relay.ask('POST', '/api/action-configurations', { actionType: 'log', options })).text;
  assert.match(await refused({ levle: 'info' }), /levle.* is not a known option.*`level`/);
  assert.match(await refused({ level: 'loud' }), /debug, info, warning, error, not .*loud/);
});

test('a query that cannot be decoded is left as it is', () => {
  assert.equal(hideQuerySecrets('%zz=1&secret=2&=3'), '%zz=1&secret=***&=3');
  assert.equal(hideQuerySecrets(''), '');
});

test('the action log builds nothing when its level is off, and copies a payload once', async () => {
  let isWritten = false;
  const action = createLogAction({ isWritten: () => isWritten });
  const lines: LogFields[] = [];
  let readCount = 0;
  const call = {
    get context() {
      assert.ok(isWritten, 'a call makes its context when it is read');
      return { headers: {}, query: '', event: null, eventId: null, body: BODY };
    },
    options: { level: 'info' }, secretSources: [], plainBody: () => BODY,
    get log() {
      assert.ok(isWritten, 'a call makes its logger when it is read');
      return {
        ...silentLogger,
        info(_message: string, fields: LogFields = {}) {
          lines.push(fields);
        },
      };
    },
    payload() {
      readCount += 1;
      return { token: 'planted', kept: 'yes' };
    },
  } as unknown as ActionCall;
  await action.run(call);
  assert.equal(readCount + lines.length, 0);
  isWritten = true;
  await action.run(call);
  await action.run(call);
  assert.equal(readCount, 1);
  assert.deepEqual(lines.map(({ payload }) => payload),
    [{ token: '***', kept: 'yes' }, { token: '***', kept: 'yes' }]);
});

const BODY = Buffer.alloc(4096);
