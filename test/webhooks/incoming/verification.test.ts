import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test, type TestContext } from 'node:test';
import {
  startRelayWithHook, type Answer, type Headers, type Relay, type RelayOptions,
} from '../relay.ts';
import { createActionClass } from '../context.ts';

const SECRET = 'planted-secret-of-a-sender';

const Shows = createActionClass('shows', (
  payload: unknown, context: Readonly<Record<string, unknown>>,
) => {
  const { headers: _, body, ...rest } = context;
  return { success: true, data: { payload, ...rest, body: String(body) } };
});

function start(context: TestContext, hook: object, options: RelayOptions = {}): Promise<Relay> {
  // Its requests all name the same event.
  const members = { deduplicate: 'off', ...hook };
  return startRelayWithHook(
    context, { actionType: 'shows' }, members, { actions: [Shows], ...options });
}

function post(relay: Relay, body: string, headers: Headers, path = 'hook'): Promise<Answer> {
  return relay.ask('POST', `/webhook/in/${path}`, body, headers);
}

function hex(text: string, secret = SECRET): string {
  return createHmac('sha256', secret).update(text).digest('hex');
}

const github = (body: string, secret = SECRET): Headers => ({
  'X-Hub-Signature-256': `sha256=${hex(body, secret)}`, 'X-GitHub-Event': 'push',
  'X-GitHub-Delivery': 'a-delivery',
});

test('a request of GitHub is verified, and its action is told what came', async (context) => {
  const relay = await start(context, { secret: SECRET, verification: { preset: 'github' } });
  const body = '{"a":[1]}';
  const { status, json } = await relay.ask('POST', '/webhook/in/hook?b=2', body, github(body));
  assert.equal(status, 200);
  const { receivedAt, ...data } = json['data'] as Record<string, unknown>;
  assert.deepEqual(data, {
    payload: { a: [1] }, query: 'b=2', body, contentType: 'application/json', method: 'POST',
    path: '/webhook/in/hook', event: 'push', eventId: 'a-delivery',
    verified: { preset: 'github', secret: 'current' }, request: null, attempt: 1, replay: false,
  });
  assert.ok(Math.abs(Date.parse(String(receivedAt)) - Date.now()) < 60_000);
});

test('what is not the sender\'s is 401 whatever failed, told by one line and counted',
  async (context) => {
    const relay = await start(context, { secret: SECRET, verification: { preset: 'github' } });
    const calls: readonly Headers[] = [
      {}, { 'X-Hub-Signature-256': hex('{}') }, github('{} '), github('{}', 'other'),
      { 'X-Hub-Signature-256': [`sha256=${hex('{}')}`, `sha256=${hex('{}')}`] },
      { 'X-Signature': `sha256=${hex('{}')}` },
    ];
    for (const headers of calls) {
      const { status, text, headers: answered } = await post(relay, '{}', headers);
      assert.equal(status, 401);
      assert.equal(text,
        '{"success":false,"message":"Signature verification failed","data":{}}');
      assert.equal(answered['www-authenticate'], undefined);
    }
    await relay.ask('DELETE', '/webhook/in/hook');
    const counts = new Map(relay.webhooks.rejections().map(({ reason, count }) => [reason, count]));
    assert.deepEqual(Object.fromEntries(counts), {
      signature_missing: 2, signature_form: 2, mismatch: 2, method: 1,
    });
    const lines = relay.logLines.filter((line) => line.includes('was rejected'));
    assert.ok(lines.length >= 1 && lines.length < calls.length, `${lines.length} lines`);
    assert.match(lines[0] ?? '', /"check":"signature_missing".*no X-Hub-Signature-256/);
    assert.ok(!relay.logLines.some((line) => line.includes('planted')));
  });

test('a webhook that needs a secret and has none takes nothing', async (context) => {
  const relay = await start(context, { verification: { preset: 'dropbox' } });
  assert.equal((await relay.ask('GET', '/webhook/in/hook?challenge=c')).status, 401);
  assert.equal((await post(relay, '{}', { 'X-Dropbox-Signature': hex('{}', '') })).status, 401);
});

test('a handshake by GET is answered, and GET is allowed for nothing else', async (context) => {
  const verification = { preset: 'meta', verifyToken: 'planted-token' };
  const relay = await start(context, { secret: SECRET, verification });
  const ask = (query: string): Promise<Answer> => relay.ask('GET', `/webhook/in/hook?${query}`);
  const whole = 'hub.mode=subscribe&hub.verify_token=planted-token&hub.challenge=%3Cb%3E7';
  const answered = await ask(whole);
  assert.deepEqual([answered.status, answered.text], [200, '<b>7']);
  assert.equal(answered.headers['content-type'], 'text/plain');
  assert.equal(answered.headers['x-content-type-options'], 'nosniff');
  for (const query of [
    whole.replace('planted', 'other'), 'hub.mode=subscribe&hub.verify_token=planted-token',
    whole.replace('subscribe', 'other'), 'hub.challenge=7', whole.replace('%3Cb%3E7', ''),
  ]) assert.equal((await ask(query)).status, 401, query);
  assert.equal((await ask('')).status, 405);
  assert.equal((await ask('a=b')).status, 405);
  assert.ok(!relay.logLines.some((line) => line.includes('planted')));
});

test('a signed handshake is answered after its signature alone', async (context) => {
  const relay = await start(context, { secret: SECRET, verification: { preset: 'slack' } });
  const body = '{"type":"url_verification","challenge":"3eZb"}';
  const stamp = String(Math.floor(Date.now() / 1000));
  const headers = {
    'X-Slack-Request-Timestamp': stamp, 'X-Slack-Signature': `v0=${hex(`v0:${stamp}:${body}`)}`,
  };
  const { status, text, headers: answered } = await post(relay, body, headers);
  assert.deepEqual([status, text, answered['content-type']], [200, '3eZb', 'text/plain']);
  assert.equal((await post(relay, body, {})).status, 401);
  const old = String(Number(stamp) - 1000);
  const stale = {
    'X-Slack-Request-Timestamp': old, 'X-Slack-Signature': `v0=${hex(`v0:${old}:${body}`)}`,
  };
  assert.equal((await post(relay, body, stale)).status, 401);
  assert.match(relay.logLines.filter((line) => line.includes('rejected')).join(), /check/);
});

test('both secrets count until the previous one ends', async (context) => {
  const relay = await start(context, { secret: SECRET, verification: { preset: 'github' } });
  const hooks = relay.store.collection('incoming-webhooks');
  const record = JSON.parse(String(hooks.bytesAt(hooks.walk().next()))) as Record<string, unknown>;
  const id = String(record['identifier']);
  const store = (validUntil: string, rest: object): Promise<unknown> => {
    const previousSecret = { secret: 'planted-old', validUntil };
    return relay.store.transact((transaction) => transaction.put('incoming-webhooks', id,
      JSON.stringify({ ...record, ...rest, previousSecret })));
  };
  const by = async (secret: string): Promise<unknown> => {
    const { status, json } = await post(relay, '{}', {
      ...github('{}', secret), 'X-Signature': `sha256=${hex('{}', secret)}`,
    });
    const verified = (json['data'] as Record<string, unknown>)['verified'];
    return status === 200 ? (verified as Record<string, unknown>)['secret'] : status;
  };
  for (const rest of [{}, { verification: undefined }]) {
    await store('2999-01-01T00:00:00.000Z', rest);
    assert.deepEqual([await by(SECRET), await by('planted-old'), await by('x')],
      ['current', 'previous', 401]);
    await store('2020-01-01T00:00:00.000Z', rest);
    assert.deepEqual([await by(SECRET), await by('planted-old')], ['current', 401]);
  }
  const path = `/api/incoming-webhooks/${id}`;
  assert.equal((await relay.ask('GET', path)).json['previousSecret'], undefined);
  await store('2999-01-01T00:00:00.000Z', {});
  const shown = await relay.ask('GET', path);
  assert.deepEqual(shown.json['previousSecret'], { validUntil: '2999-01-01T00:00:00.000Z' });
  const put = await relay.ask('PUT', path, {
    pathSegment: 'hook', actionConfiguration: record['actionConfiguration'],
    previousSecret: { secret: 'forged', validUntil: '2998-01-01T00:00:00.000Z' },
  });
  assert.deepEqual(put.json['previousSecret'], shown.json['previousSecret']);
  assert.ok(!relay.logLines.concat(shown.text, put.text).some((text) => text.includes('planted')));
});

test('only allowed addresses may call, decided before the rate limit and the body',
  async (context) => {
    const relay = await start(context, { allowedAddresses: ['10.0.0.0/8', '2001:db8::/32'] },
      { incoming: { rateLimit: 1 } });
    for (const _ of [1, 2, 3]) {
      const { status, text } = await post(relay, '{}', { 'Content-Length': '99999999' });
      assert.equal(status, 403);
      assert.equal(text, '{"success":false,"message":"Address not allowed","data":{}}');
    }
    assert.equal((await relay.ask('GET', '/webhook/in/hook')).status, 405);
    assert.deepEqual(relay.webhooks.rejections(), [
      { hook: 'hook', reason: 'address', count: 3 }, { hook: 'hook', reason: 'method', count: 1 },
    ]);
    for (const [path, allowed] of [['v4', '127.0.0.0/8'], ['mapped', '::ffff:127.0.0.1']]) {
      await relay.hook({ actionType: 'shows' }, { pathSegment: path, allowedAddresses: [allowed] });
      assert.equal((await post(relay, '{}', {}, path)).status, 200, allowed);
    }
  });

test('the control socket has no address to be allowed', async (context) => {
  const relay = await start(context, { allowedAddresses: ['10.0.0.0/8'] });
  assert.equal((await relay.control('/webhook/in/hook', {})).status, 200);
  assert.equal((await post(relay, '{}', {})).status, 403);
});

test('one line at the start names the webhooks that refuse everything', async (context) => {
  const quiet = await start(context, {});
  quiet.webhooks.start();
  assert.ok(!quiet.logLines.join().includes('refuse every request'));
  const relay = await start(context, { secret: 'planted', verification: { preset: 'stripe' } });
  await relay.hook({ actionType: 'log' }, { pathSegment: 'off', enabled: false, ...BARE });
  await relay.hook({ actionType: 'log' },
    { pathSegment: 'odd', secret: 'whsec_planted?', verification: { preset: 'standard' } });
  for (let count = 0; count < 12; count += 1) {
    await relay.hook({ actionType: 'log' }, { pathSegment: `bare-${count}`, ...BARE });
  }
  relay.webhooks.start();
  const lines = relay.logLines.filter((line) => line.includes('refuse every request'));
  assert.equal(lines.length, 1);
  const { level, count, webhooks } = JSON.parse(lines[0] ?? '');
  assert.deepEqual([level, count, webhooks.length], ['warning', 13, 10]);
  assert.deepEqual(webhooks.slice(0, 2), [
    'odd: the current secret is not base64 after whsec_',
    'bare-0: the webhook has no secret',
  ]);
  assert.ok(!lines.join().includes('planted'));
});

const BARE = { verification: { preset: 'github' } };
const FORM = 'application/x-www-form-urlencoded';
const BODIES: readonly [string | undefined, string, string, unknown][] = [
  [undefined, FORM, 'a=1', []],
  ['json', FORM, '{"a":1}', { a: 1 }],
  ['form', 'text/plain', 'b=1&a=2&b=3+4&__proto__=5', JSON.parse(
    '{"b":["1","3 4"],"a":"2","__proto__":"5"}')],
  ['form', FORM, '', {}],
  ['text', FORM, 'plain é', { text: 'plain é' }],
  ['auto', 'application/cloudevents+json; charset=utf-8', '[1]', [1]],
  ['auto', 'Application/JSON', '{"a":1}', { a: 1 }],
  ['auto', `${FORM};charset=utf-8`, 'a=1', { a: '1' }],
  ['auto', 'text/csv', 'a,b', { text: 'a,b' }],
  ['auto', 'application/octet-stream', '{"a":1}', []],
  ['form', FORM, `${'a&'.repeat(9999)}a`, { a: Array.from({ length: 10_000 }, () => '') }],
  [undefined, FORM, 'a=1&'.repeat(20_000), []],
];

test('the payload is made of the body as bodyFormat says', async (context) => {
  const relay = await start(context, {});
  for (const [index, [bodyFormat, type, body, payload]] of BODIES.entries()) {
    await relay.hook({ actionType: 'shows' }, { pathSegment: `at-${index}`, bodyFormat });
    const { json } = await post(relay, body, { 'Content-Type': type }, `at-${index}`);
    const { payload: given } = json['data'] as Record<string, unknown>;
    assert.equal(JSON.stringify(given), JSON.stringify(payload), `${bodyFormat} ${type}`);
  }
});

test('a form of more than 10,000 fields is refused, and does not arrive empty', async (context) => {
  const relay = await start(context, {});
  const body = `${'a=1&'.repeat(10_000)}a=1`;
  for (const [bodyFormat, type] of [['form', 'text/plain'], ['auto', FORM]] as const) {
    await relay.hook({ actionType: 'shows' }, { pathSegment: `at-${bodyFormat}`, bodyFormat });
    const { status, json } = await post(relay, body, { 'Content-Type': type }, `at-${bodyFormat}`);
    assert.equal(status, 413);
    assert.deepEqual(json, { success: false, message: 'Payload too large', data: {} });
  }
  assert.ok(relay.logLines.some((line) => line.includes('form has more than 10000 fields')));
  const preset = { pathSegment: 'twilio', secret: SECRET,
    verification: { preset: 'twilio', url: 'https://shop.example/webhook/in/twilio' } };
  await relay.hook({ actionType: 'shows' }, preset);
  assert.equal((await post(relay, body, { 'Content-Type': FORM }, 'twilio')).status, 413);
});

test('the field that a preset names holds the payload of a form', async (context) => {
  const relay = await start(context, { secret: SECRET, verification: { preset: 'github' } });
  const body = `payload=${encodeURIComponent('{"zen":"é"}')}`;
  const { json } = await post(relay, body, { ...github(body), 'Content-Type': FORM });
  assert.deepEqual((json['data'] as Record<string, unknown>)['payload'], { zen: 'é' });
});

const REFUSED: readonly [object, string, RegExp][] = [
  [{ verification: { preset: 'githbu' } }, '/verification/preset', /did you mean `github`/],
  [{ verification: {} }, '/verification/preset', /required/],
  [{ verification: { preset: 'square' } }, '/verification/url', /needed.*URL as registered/],
  [{ verification: { preset: 'paypal' } }, '/verification/webhookId', /needed/],
  [{ verification: { preset: 'meta' } }, '/verification/verifyToken', /needed/],
  [{ verification: { preset: 'github', url: 'https://a.example/' } }, '/verification/url',
    /cannot be used.*remove it/],
  [{ verification: { preset: 'github', toleranceS: 60 } }, '/verification/toleranceS',
    /signs no time/],
  [{ verification: { preset: 'stripe', toleranceS: 0 } }, '/verification/toleranceS', /1 to 86400/],
  [{ verification: { preset: 'custom' } }, '/verification/scheme', /needed/],
  [{ verification: { preset: 'stripe', scheme: {} } }, '/verification/scheme', /required|custom/],
  [{ verification: { preset: 'custom', scheme: { algorithm: 'md5' } } },
    '/verification/scheme/algorithm', /hmac-sha256/],
  [{ allowedAddresses: ['10.0.0.0/33'] }, '/allowedAddresses/0', /CIDR/],
  [{ allowedAddresses: ['10.0.0.0/08'] }, '/allowedAddresses/0', /CIDR/],
  [{ allowedAddresses: ['10.0.0.08'] }, '/allowedAddresses/0', /CIDR/],
  [{ allowedAddresses: [] }, '/allowedAddresses', /null/],
  [{ bodyFormat: 'xml' }, '/bodyFormat', /json, form, text, auto/],
  [{ secret: 'x'.repeat(8193) }, '/secret', /8192 bytes/],
  [{ secret: 'é'.repeat(4097) }, '/secret', /8192 bytes/],
];

test('what a preset lacks or cannot use is refused with its pointer', async (context) => {
  const relay = await start(context, {});
  for (const [hook, pointer, detail] of REFUSED) {
    const { status, json } = await relay.hook({ actionType: 'shows' },
      { pathSegment: 'refused', ...hook });
    assert.equal(status, 422, JSON.stringify(hook));
    const [error] = (json['errors'] as { pointer: string; detail: string }[])
      .filter((one) => one.pointer.startsWith(pointer));
    assert.match(error?.detail ?? JSON.stringify(json), detail);
  }
});

test('a scheme is shown as it is, a verify token is not, and what is shown can be sent back',
  async (context) => {
    const scheme = {
      algorithm: 'hmac-sha512', key: 'utf8', content: '{timestamp}.{body}',
      signature: { from: { header: 'X-Sum' }, encoding: 'hex' },
      timestamp: { from: { header: 'X-Time' }, unit: 's', tolerance: 60 },
      needs: ['verifyToken'],
    };
    const verification = { preset: 'custom', scheme, verifyToken: 'planted-token' };
    const relay = await start(context, { secret: SECRET, verification });
    const [made] = (await relay.ask('GET', '/api/incoming-webhooks')).json as unknown as
      Record<string, unknown>[];
    assert.deepEqual(made?.['verification'], { ...verification, verifyToken: '***' });
    const put = await relay.ask('PUT', `/api/incoming-webhooks/${String(made?.['identifier'])}`,
      made);
    assert.deepEqual([put.status, put.json['verification']], [200, made?.['verification']]);
    const stamp = String(Math.floor(Date.now() / 1000));
    const sum = createHmac('sha512', SECRET).update(`${stamp}.{}`).digest('hex');
    assert.equal((await post(relay, '{}', { 'X-Sum': sum, 'X-Time': stamp })).status, 200);
  });
