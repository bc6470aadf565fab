import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test, type TestContext } from 'node:test';
import { startRelayFor, startRelayWithHook, type Relay } from '../relay.ts';

const SECRET = 'planted-secret-of-a-sender';
const BODY = '{"a": 1}';
const AT = '2026-11-22T01:00:00Z';
const AT_S = Date.parse(AT) / 1000;

type Result = { readonly check: string; readonly status: string; readonly finding: string };
type Found = { accepted: boolean; failedCheck: string | null; checks: readonly Result[] };
type Given = {
  readonly headers?: object; readonly body?: string; readonly url?: string;
  readonly method?: string; readonly client?: string; readonly at?: string;
};

const CHECKS = [
  'configuration', 'secret', 'address', 'handshake', 'signature_missing', 'signature_form', 'parts',
  'mismatch', 'near_miss', 'stale', 'duplicate', 'coverage',
];

function start(context: TestContext, hook: object = {}): Promise<Relay> {
  return startRelayWithHook(context, { actionType: 'log' }, { secret: SECRET, ...hook });
}

async function look(relay: Relay, { body = BODY, ...given }: Given): Promise<Found> {
  const { status, text, json } = await relay.ask('POST',
    '/api/incoming-webhooks/hook/diagnose',
    { headers: {}, at: AT, ...given, body: Buffer.from(body).toString('base64') });
  assert.equal(status, 200, text);
  assert.ok(!text.includes('planted'), text);
  const found = json as unknown as Found;
  assert.deepEqual(found.checks.map(({ check }) => check), CHECKS);
  const failed = found.checks.filter((one) => one.status === 'failed').map(({ check }) => check);
  assert.deepEqual(failed, found.failedCheck === null ? [] : [found.failedCheck]);
  return found;
}

function findingOf({ checks }: Found, name: string): string {
  return checks.find(({ check }) => check === name)?.finding ?? '';
}

const hex = (text: string, secret = SECRET): string =>
  createHmac('sha256', secret).update(text).digest('hex');
const github = (body = BODY, secret = SECRET): object =>
  ({ 'X-Hub-Signature-256': `sha256=${hex(body, secret)}` });
const stripe = (atS: number | string, body = BODY): object =>
  ({ 'stripe-signature': `t=${atS},v1=${hex(`${atS}.${body}`)}` });

const GITHUB = { verification: { preset: 'github' } };
const STRIPE = { verification: { preset: 'stripe' } };
const SQUARE = { verification: { preset: 'square', url: 'http://a.example/in' } };
const square = (url: string): object => ({
  'x-square-hmacsha256-signature':
    createHmac('sha256', SECRET).update(url + BODY).digest('base64'),
});

const FAULTS: readonly (readonly [
  name: string, hook: object, given: Given, failed: string | null, check: string, finding: RegExp,
])[] = [
  ['a disabled webhook', { ...GITHUB, enabled: false }, { headers: github() },
    'configuration', 'configuration', /disabled/],
  ['a method', GITHUB, { headers: github(), method: 'PUT' },
    'configuration', 'configuration', /PUT is not among POST/],
  ['no secret', { ...GITHUB, secret: undefined }, { headers: github() },
    'configuration', 'configuration', /no secret/],
  ['a secret that is not base64', { verification: { preset: 'standard' }, secret: 'whsec_?' }, {},
    'secret', 'secret', /is not base64 after whsec_/],
  ['a newline at the secret\'s end', { ...GITHUB, secret: `${SECRET}\n` }, { headers: github() },
    'secret', 'secret', /ends in a newline/],
  ['a newline that the sender has too', { ...GITHUB, secret: `${SECRET}\n` },
    { headers: github(BODY, `${SECRET}\n`) }, null, 'secret', /ends in a newline/],
  ['an address', { ...GITHUB, allowedAddresses: ['10.0.0.0/8'] },
    { headers: github(), client: '203.0.113.9' },
    'address', 'address', /^203\.0\.113\.9 is not in allowedAddresses$/],
  ['a handshake without its challenge', { verification: { preset: 'dropbox' } },
    { method: 'GET', url: '/webhook/in/hook?challenge=', body: '' },
    'handshake', 'handshake', /not whole/],
  ['another sender\'s signature', GITHUB, { headers: stripe(AT_S) },
    'signature_missing', 'signature_missing',
    /^no X-Hub-Signature-256; there is Stripe-Signature: is the preset stripe\?$/],
  ['no prefix', GITHUB, { headers: { 'x-hub-signature-256': hex(BODY) } },
    'signature_form', 'signature_form', /lacks the prefix sha256=/],
  ['base64 for hex', GITHUB, { headers: { 'x-hub-signature-256':
    `sha256=${createHmac('sha256', SECRET).update(BODY).digest('base64')}` } },
  'signature_form', 'signature_form', /is 44 characters of base64, expected 64 of hex/],
  ['two signatures', GITHUB, { headers: { 'X-Hub-Signature-256': ['sha256=a', 'sha256=b'] } },
    'signature_form', 'signature_form', /more than once/],
  ['milliseconds', STRIPE, { headers: stripe(AT_S * 1000) },
    'parts', 'parts', /in milliseconds, expected seconds/],
  ['another secret', GITHUB, { headers: github(BODY, 'another') },
    'mismatch', 'near_miss', /no usual mistake/],
  ['CRLF lost on the way', GITHUB, { headers: github(`${BODY}\r\n`) },
    'mismatch', 'near_miss', /^would match if the body ended in CRLF$/],
  ['JSON written again', GITHUB, { headers: github('{"a":1}') },
    'mismatch', 'near_miss', /if the JSON were compact/],
  ['http for https', SQUARE, { headers: square('https://a.example/in') },
    'mismatch', 'near_miss', /if verification\.url began with https$/],
  ['another URL', SQUARE,
    { headers: square('https://b.example/in?x=1'), url: 'https://b.example/in?x=1' },
    'mismatch', 'near_miss', /if verification\.url were the URL that was called$/],
  ['another preset', { verification: { preset: 'meta', verifyToken: 'planted-token' } },
    { headers: { ...github('{}'), 'x-gitea-signature': hex(BODY) } },
    'mismatch', 'near_miss', /if the preset were gitea/],
  ['an old request', STRIPE, { headers: stripe(AT_S - 412) },
    'stale', 'stale', /^signed 412 s ago, limit 300 s$/],
  ['a clock that is ahead', STRIPE, { headers: stripe(AT_S + 12) },
    null, 'stale', /^12 s in the future: check the clock$/],
  ['a time that is not signed', GITHUB, { headers: github() },
    null, 'coverage', /^body is signed, but the time is not/],
];

for (const [name, hook, given, failed, check, finding] of FAULTS) {
  test(`names the fault: ${name}`, async (context) => {
    const found = await look(await start(context, hook), given);
    assert.equal(found.failedCheck, failed, JSON.stringify(found));
    assert.equal(found.accepted, failed === null);
    assert.match(findingOf(found, check), finding);
  });
}

test('shows 8 characters of the signature and none of the expected one', async (context) => {
  const relay = await start(context, GITHUB);
  const expected = hex(BODY);
  const wrong = hex(BODY, 'another');
  const right = JSON.stringify(await look(relay, { headers: github() }));
  assert.ok(right.includes(`begins ${expected.slice(0, 8)}`));
  assert.ok(!right.includes(expected.slice(0, 9)));
  const refused = JSON.stringify(await look(relay, { headers: github(BODY, 'another') }));
  assert.ok(refused.includes(wrong.slice(0, 8)) && !refused.includes(wrong.slice(0, 9)));
  assert.ok(!refused.includes(expected.slice(0, 8)));
});

test('tells a handshake, and what would be answered', async (context) => {
  const relay = await start(context, { verification: { preset: 'slack' } });
  const body = '{"type":"url_verification","challenge":"c"}';
  const headers = {
    'X-Slack-Request-Timestamp': String(AT_S),
    'X-Slack-Signature': `v0=${hex(`v0:${AT_S}:${body}`)}`,
  };
  const found = await look(relay, { headers, body });
  assert.equal(found.accepted, true);
  assert.equal(findingOf(found, 'handshake'),
    'Slack\'s url_verification; would be answered 200 as text/plain, when its signature is right');
});

test('a webhook without secret and verification takes anything', async (context) => {
  const relay = await start(context, { secret: undefined });
  const found = await look(relay, {});
  assert.equal(found.accepted, true);
  assert.match(findingOf(found, 'configuration'), /every request is taken/);
});

test('refuses what is no request', async (context) => {
  const relay = await start(context, GITHUB);
  const refused: readonly (readonly [body: object, message: RegExp])[] = [
    [{ request: 'an-id', body: '' }, /"\/body".*has its own/],
    [{ body: '' }, /"\/headers".*is required, or request/],
    [{ headers: { a: 1 } }, /"\/headers\/a"/],
    [{ headers: {}, body: 'n!t' }, /"\/body".*base64/],
    [{ headers: {}, at: 'noon' }, /"\/at"/],
    [{ headers: {}, client: '999' }, /must be an IP address such as 203\.0\.113\.9/],
  ];
  const path = '/api/incoming-webhooks/hook/diagnose';
  for (const [body, message] of refused) {
    const { status, text } = await relay.ask('POST', path, body);
    assert.equal(status, 422);
    assert.match(text, message);
  }
  assert.equal((await relay.ask('POST', path, { request: 'an-id' })).status, 404);
  const unknown = await relay.ask('POST', '/api/incoming-webhooks/none/diagnose', {});
  assert.equal(unknown.status, 404);
});

test('a webhook without a secret is said to refuse all where unsigned ones are not allowed', async (
  context,
) => {
  for (const allowUnsignedWhenSecretMissing of [true, false]) {
    const relay = await startRelayFor(context, { incoming: { allowUnsignedWhenSecretMissing } });
    await relay.hook({ actionType: 'log' });
    const { json } = await relay.ask('POST', '/api/incoming-webhooks/hook/diagnose',
      { headers: {} });
    assert.equal(json['accepted'], allowUnsignedWhenSecretMissing);
  }
});
