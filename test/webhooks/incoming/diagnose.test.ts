/** What a diagnosis says of a request; at least five planted faults for each check are named. */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { hmacKey, type Key, type Sent } from '../../support/senders/signer.ts';
import { sendAs, senderOf } from '../../support/senders/table.ts';
import { startRelayFor, startRelayWithHook, type Relay } from '../relay.ts';

const AT = '2026-11-22T01:00:00Z';
const AT_S = Date.parse(AT) / 1000;
const SECRET = 'planted-secret';
const KEY = hmacKey(SECRET);
const JSON_BODY = '{"a": [1, 2],\n "b": "é"}\n';

type Request = Partial<Omit<Sent, 'headers'>> & {
  readonly headers?: object; readonly method?: string; readonly client?: string;
  readonly text?: string; readonly url?: string;
};
type Fault = readonly [
  hook: Readonly<Record<string, unknown>>, request: Request, failed: string | null, finding: RegExp,
];

function as(preset: string, more: {
  readonly text?: string; readonly key?: Key; readonly atS?: number;
} = {}): Sent {
  const { text = JSON_BODY, key = KEY, atS = AT_S } = more;
  return sendAs(senderOf(preset), key, { body: Buffer.from(text), atS });
}

/** A request that is right but for its headers. */
function with_(sent: Sent, headers: Readonly<Record<string, string | undefined>>): Request {
  const all = Object.entries({ ...sent.headers, ...headers });
  return {
    ...sent, headers: Object.fromEntries(all.flatMap(([name, value]) =>
      value === undefined ? [] : [[name, value]])),
  };
}

/** Signed over one text, and received as another. */
function altered(preset: string, signed: string, received: string): Request {
  return { ...as(preset, { text: signed }), body: Buffer.from(received) };
}

/** Signed before it was compressed. */
function compressed(
  preset: string, encoding: string, compress: (bytes: Buffer) => Buffer,
): Request {
  const sent = as(preset);
  return with_({ ...sent, body: compress(sent.body) }, { 'Content-Encoding': encoding });
}

const of = (preset: string, more: object = {}): Readonly<Record<string, unknown>> =>
  ({ secret: SECRET, verification: { preset, ...more } });
const GITHUB = of('github');
const STRIPE = of('stripe');
const BASIC = { ...of('basic'), secret: `me:${SECRET}` };
const STANDARD = { ...of('standard'), secret: `whsec_${Buffer.from(SECRET).toString('base64')}` };
const HUB = 'X-Hub-Signature-256';
const SHA1_ALONE =
  /^no X-Hub-Signature-256; its X-Hub-Signature is of SHA-1 alone,.* sender sign with SHA-256$/;
const only = (...addresses: readonly string[]): Readonly<Record<string, unknown>> =>
  ({ ...GITHUB, allowedAddresses: addresses });
const META = of('meta', { verifyToken: 'planted-token' });
const get = (query: string): Request => ({ method: 'GET', query, text: '' });
const sign = (preset: string, key: string): Request => as(preset, { key: hmacKey(key) });
const scheme = (more: object): Readonly<Record<string, unknown>> => of('custom', {
  scheme: {
    algorithm: 'hmac-sha256', key: 'utf8', content: '{body}',
    signature: { from: { header: 'X-Sum' }, encoding: 'hex' }, ...more,
  },
});
const slackHello = '{"type":"url_verification"}';

const FAULTS: Readonly<Record<string, readonly Fault[]>> = {
  configuration: [
    [{ ...GITHUB, enabled: false }, as('github'), 'configuration', /disabled/],
    [{ ...GITHUB, secret: undefined }, as('github'), 'configuration', /no secret/],
    [GITHUB, { ...as('github'), method: 'PUT' }, 'configuration', /PUT is not among POST/],
    [{ ...GITHUB, allowedMethods: ['PUT', 'PATCH'] }, as('github'), 'configuration',
      /POST is not among PUT, PATCH/],
    [{ ...META, secret: undefined }, as('meta'), 'configuration', /meta.*no secret/],
  ],
  secret: [
    [{ ...GITHUB, secret: `${SECRET}\n` }, as('github'), 'secret', /ends in a newline/],
    [{ ...GITHUB, secret: ` ${SECRET}` }, as('github'), 'secret', /white space around/],
    [{ ...GITHUB, secret: `"${SECRET}"` }, as('github'), 'secret', /quotes/],
    [{ ...STANDARD, secret: 'whsec_planted!' }, as('standard'), 'secret', /base64 after whsec_/],
    [{ ...of('discord'), secret: SECRET }, {}, 'secret', /not hex/],
    // The sender has the newline, too.
    [{ ...GITHUB, secret: `${SECRET}\n` }, sign('github', `${SECRET}\n`), null,
      /ends in a newline/],
  ],
  address: [
    [only('10.0.0.0/8'), { ...as('github'), client: '203.0.113.9' }, 'address',
      /^203\.0\.113\.9 is not in allowedAddresses$/],
    [only('10.0.0.0/8'), { ...as('github'), client: '::ffff:11.0.0.1' }, 'address', /11\.0\.0\.1/],
    [only('2001:db8::/32'), { ...as('github'), client: '2001:db9::1' }, 'address', /2001:db9::1/],
    [only('192.0.2.1'), { ...as('github'), client: '192.0.2.2' }, 'address', /192\.0\.2\.2/],
    [only('::1'), { ...as('github'), client: '127.0.0.1' }, 'address', /127\.0\.0\.1/],
  ],
  handshake: [
    [META, get('hub.mode=subscribe&hub.verify_token=x&hub.challenge=1'), 'handshake',
      /token is not verification\.verifyToken/],
    [META, get('hub.mode=subscribe&hub.verify_token=planted-token'), 'handshake', /not whole/],
    [META, get('hub.verify_token=planted-token&hub.challenge=1'), 'handshake', /not whole/],
    [of('dropbox'), get('challenge='), 'handshake', /not whole/],
    [of('slack'), as('slack', { text: slackHello }), 'handshake', /url_verification.*not whole/],
  ],
  signature_missing: [
    [GITHUB, as('stripe'), 'signature_missing',
      /^no X-Hub-Signature-256; there is Stripe-Signature: is the preset stripe\?$/],
    [STRIPE, as('slack'), 'signature_missing', /there is X-Slack-Signature: is the preset slack/],
    [GITHUB, { headers: {} }, 'signature_missing', /^no X-Hub-Signature-256$/],
    [of('mailgun'), { text: '{"a":1}' }, 'signature_missing', /`signature\.signature` in the JSON/],
    [GITHUB, { headers: { 'X-GitHub-Event': 'push' } }, 'signature_missing',
      /^no X-Hub-Signature-256; by its X-GitHub-Event the preset github is right$/],
    [GITHUB, { headers: { 'X-Hub-Signature': 'sha1=00', 'X-GitHub-Event': 'push' } },
      'signature_missing', SHA1_ALONE],
    [GITHUB, { headers: { 'X-Hub-Signature': 'sha1=00' } }, 'signature_missing', SHA1_ALONE],
    [STRIPE, { headers: { 'X-Hub-Signature': 'sha1=00' } }, 'signature_missing',
      /^no Stripe-Signature$/],
    [STRIPE, { headers: { 'X-Hub-Signature': 'sha1=00', 'X-GitHub-Event': 'push' } },
      'signature_missing', /there is X-GitHub-Event: is the preset github\?$/],
    [GITHUB, { headers: { 'X-Hub-Signature': 'sha256=00', 'X-Event-Key': 'push' } },
      'signature_missing', /there is X-Hub-Signature: is the preset bitbucket\?$/],
    [of('gitlab'), as('gitlab-token'), 'signature_missing', /is the preset gitlab-token\?/],
  ],
  signature_form: [
    [GITHUB, with_(as('github'), { [HUB]: 'c0ffee' }), 'signature_form',
      /lacks the prefix sha256=/],
    [GITHUB, with_(as('github'), { [HUB]: `sha256=${'A'.repeat(43)}=` }), 'signature_form',
      /is 44 characters of base64, expected 64 of hex/],
    [STRIPE, with_(as('stripe'), { 'Stripe-Signature': `t=${AT_S},v0=00` }), 'signature_form',
      /has no `v1`/],
    [of('shopify'), with_(as('shopify'), { 'X-Shopify-Hmac-SHA256': 'ab'.repeat(32) }),
      'signature_form', /expected 44 of base64/],
    [BASIC, with_(as('basic'), { Authorization: 'Bearer x' }), 'signature_form',
      /is not `Basic` and base64/],
    [GITHUB, { headers: { [HUB]: ['sha256=a', 'sha256=b'] } }, 'signature_form',
      /more than once/],
  ],
  parts: [
    [STRIPE, as('stripe', { atS: AT_S * 1000 }), 'parts', /in milliseconds, expected seconds/],
    [of('slack'), with_(as('slack'), { 'X-Slack-Request-Timestamp': undefined }), 'parts',
      /^no X-Slack-Request-Timestamp$/],
    [STANDARD, with_(as('standard'), { 'webhook-id': undefined }), 'parts', /^no webhook-id$/],
    [of('zendesk'), with_(as('zendesk'), {
      'X-Zendesk-Webhook-Signature-Timestamp': 'Tuesday',
    }), 'parts', /no RFC 3339 time/],
    [of('linear'), {
      ...as('linear'), body: Buffer.from('{"webhookTimestamp":1700000000}'),
    }, 'parts', /in seconds, expected milliseconds/],
  ],
  mismatch: [
    [GITHUB, sign('github', 'another'), 'mismatch', /not that of this request/],
    [STRIPE, altered('stripe', '{"a":1}', '{"a":2}'), 'mismatch', /not that of this request/],
    [of('gitlab-token'), as('gitlab-token', { key: hmacKey('another') }), 'mismatch',
      /token is not the secret/],
    [of('twilio', { url: 'https://hooks.example.com/in?a=1' }),
      as('twilio', { key: hmacKey('another', 'sha1') }), 'mismatch', /not that of this request/],
    [of('slack'), altered('slack', 'a=1', 'a=2'), 'mismatch', /not that of this request/],
  ],
  near_miss: [
    [GITHUB, altered('github', '{"a":1}\r\n', '{"a":1}'), 'mismatch',
      /^would match if the body ended in CRLF$/],
    [GITHUB, altered('github', '{"a":1}', '{"a":1}\n'), 'mismatch', /^would match if the body/],
    [GITHUB, altered('github', '{"a":1}', '{ "a": 1 }'), 'mismatch', /JSON were compact/],
    [GITHUB, compressed('github', 'gzip', gzipSync), 'mismatch',
      /if the body had no Content-Encoding.*custom with \{plainBody\}/],
    [GITHUB, compressed('github', 'br', brotliCompressSync), 'mismatch', /no Content-Encoding/],
    [of('square', { url: 'http://hooks.example.com/in?a=1' }), as('square'), 'mismatch',
      /verification\.url began with https$/],
    [of('square', { url: 'https://b.example/in' }),
      { ...as('square'), url: 'https://hooks.example.com/in?a=1' }, 'mismatch',
      /if verification\.url were the URL that was called$/],
    [META, with_(as('gitea'), as('meta', { text: '{}' }).headers), 'mismatch',
      /if the preset were gitea/],
    [GITHUB, { headers: {} }, 'signature_missing',
      /^nothing can be tried without X-Hub-Signature-256: the sender has no secret, or signs/],
    [GITHUB, sign('github', 'another'), 'mismatch', /no usual mistake.*another secret/],
    [GITHUB, sign('github', `${SECRET}\n`), 'mismatch', /if the secret ended in a newline$/],
    [GITHUB, sign('github', `${SECRET}\r\n`), 'mismatch', /if the secret ended in CRLF$/],
    [GITHUB, sign('github', `${SECRET} `), 'mismatch', /if the secret ended in a space$/],
    [GITHUB, sign('github', ` ${SECRET}`), 'mismatch', /if the secret began with a space$/],
    [{ ...GITHUB, secret: `SECRET=${SECRET}` }, as('github'), 'mismatch', /no name and =/],
  ],
  stale: [
    [STRIPE, as('stripe', { atS: AT_S - 412 }), 'stale', /^signed 412 s ago, limit 300 s$/],
    [STRIPE, as('stripe', { atS: AT_S + 412 }), 'stale', /412 s in the future.*check the clock/],
    [of('linear'), as('linear', { atS: AT_S - 61 }), 'stale', /^signed 61 s ago, limit 60 s$/],
    [of('slack', { toleranceS: 10 }), as('slack', { atS: AT_S - 11 }), 'stale', /limit 10 s/],
    [STRIPE, as('stripe', { atS: AT_S + 12 }), null, /^12 s in the future: check the clock$/],
  ],
  coverage: [
    [GITHUB, as('github'), null,
      /^body is signed, but the time is not: a captured request stays valid/],
    [of('mailgun'), as('mailgun'), null, /^time and id are signed, but the body is not/],
    [of('bearer'), as('bearer'), null, /a token covers neither body nor time/],
    [of('zendesk'), as('zendesk'), null, /^body and time are signed, but no age is limited/],
    [scheme({ content: 'a{body}' }), with_(as('github'), {}), 'signature_missing',
      /^body is signed, but the time is not/],
  ],
};

for (const [check, faults] of Object.entries(FAULTS)) {
  test(`a diagnosis names faults of ${check}`, async (context) => {
    assert.ok(faults.length >= 5);
    const relay = await startRelayFor(context);
    const wrong: string[] = [];
    for (const [index, [hook, request, failed, finding]] of faults.entries()) {
      const name = `at-${index}`;
      const made = await relay.hook({ actionType: 'log' }, { pathSegment: name, ...hook });
      assert.equal(made.status, 201, made.text);
      const found = await look(relay, name, request);
      const said = found.checks.find((one) => one.check === check)?.finding ?? '';
      const isNamed = found.failedCheck === failed && finding.test(said)
        && found.accepted === (failed === null);
      if (!isNamed) wrong.push(`${index}: ${finding}, was ${JSON.stringify(found)}`);
    }
    assert.deepEqual(wrong, []);
    assert.ok(!relay.logLines.some((line) => line.includes('planted')));
  });
}

test('a diagnosis says why it cannot tell duplicates', async (context) => {
  const relay = await startRelayFor(context);
  await relay.hook({ actionType: 'log' }, { pathSegment: 'a', ...GITHUB });
  const { checks } = await look(relay, 'a', as('github'));
  assert.match(JSON.stringify(checks),
    /"duplicate","status":"skipped","finding":"the request has no event id"/);
});

test('a diagnosis names all that is signed', async (context) => {
  const relay = await startRelayFor(context);
  await relay.hook({ actionType: 'log' }, { pathSegment: 'a', ...STANDARD });
  await relay.hook({ actionType: 'log' }, { pathSegment: 'b', ...STRIPE });
  const findings = [];
  for (const [name, preset] of [['a', 'standard'], ['b', 'stripe']] as const) {
    const { checks } = await look(relay, name, as(preset));
    findings.push(checks.find(({ check }) => check === 'coverage')?.finding);
  }
  assert.deepEqual(findings, ['body, time and id are signed', 'body, time and id are signed']);
});

const hex = (content: string, secret = SECRET): string =>
  createHmac('sha256', secret).update(content).digest('hex');

test('shows 8 characters of the signature and none of the expected one', async (context) => {
  const relay = await startRelayWithHook(context, { actionType: 'log' }, GITHUB);
  const [expected, wrong] = [hex(JSON_BODY), hex(JSON_BODY, 'another')];
  const right = JSON.stringify(await look(relay, 'hook', as('github')));
  assert.ok(right.includes(`begins ${expected.slice(0, 8)}`));
  assert.ok(!right.includes(expected.slice(0, 9)));
  const refused = JSON.stringify(await look(relay, 'hook', sign('github', 'another')));
  assert.ok(refused.includes(wrong.slice(0, 8)) && !refused.includes(wrong.slice(0, 9)));
  assert.ok(!refused.includes(expected.slice(0, 8)));
});

test('tells a handshake, and what would be answered', async (context) => {
  const relay = await startRelayWithHook(context, { actionType: 'log' }, of('slack'));
  const text = '{"type":"url_verification","challenge":"c"}';
  const { accepted, checks } = await look(relay, 'hook', as('slack', { text }));
  assert.equal(accepted, true);
  assert.equal(checks.find(({ check }) => check === 'handshake')?.finding,
    'Slack\'s url_verification; would be answered 200 as text/plain, when its signature is right');
});

test('without a secret all is taken, or refused where unsigned requests are', async (context) => {
  for (const allowUnsignedWhenSecretMissing of [true, false]) {
    const relay = await startRelayFor(context, { incoming: { allowUnsignedWhenSecretMissing } });
    await relay.hook({ actionType: 'log' });
    const { accepted, checks } = await look(relay, 'hook', {});
    assert.equal(accepted, allowUnsignedWhenSecretMissing);
    assert.equal(checks.some(({ finding }) => finding.includes('every request is taken')),
      allowUnsignedWhenSecretMissing);
  }
});

test('refuses what is no request', async (context) => {
  const relay = await startRelayWithHook(context, { actionType: 'log' }, GITHUB);
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

type Found = {
  readonly accepted: boolean; readonly failedCheck: string | null;
  readonly checks: readonly {
    readonly check: string; readonly status: string; readonly finding: string;
  }[];
};

const CHECKS = [
  'configuration', 'secret', 'address', 'handshake', 'signature_missing', 'signature_form', 'parts',
  'mismatch', 'near_miss', 'stale', 'duplicate', 'coverage',
];

async function look(relay: Relay, name: string, request: Request): Promise<Found> {
  const { headers = {}, text = '', body = Buffer.from(text), query = '', ...rest } = request;
  const { status, text: answer, json } = await relay.ask('POST',
    `/api/incoming-webhooks/${name}/diagnose`, {
      headers, body: body.toString('base64'), at: AT,
      url: `https://hooks.example.com/webhook/in/${name}${query === '' ? '' : `?${query}`}`,
      ...rest,
    });
  assert.equal(status, 200, answer);
  assert.ok(!answer.includes('planted'), answer);
  const found = json as unknown as Found;
  assert.deepEqual(found.checks.map(({ check }) => check).slice(0, CHECKS.length), CHECKS);
  const failed = found.checks.filter((one) => one.status === 'failed').map(({ check }) => check);
  assert.deepEqual(failed, found.failedCheck === null ? [] : [found.failedCheck]);
  return found;
}
