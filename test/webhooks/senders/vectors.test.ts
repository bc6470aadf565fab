import assert from 'node:assert/strict';
import { createHash, createHmac } from 'node:crypto';
import { test } from 'node:test';
import { findPreset } from '../../../src/webhooks/senders/presets/preset-table.ts';
import {
  RequestReader, type RawRequest,
} from '../../../src/webhooks/senders/request/request-reader.ts';
import { createVerifier, verify } from '../../../src/webhooks/senders/verification/verify.ts';

/** Test vectors that the senders publish, or that their own libraries accept. */
type Vector = {
  readonly preset: string;
  readonly secret: string;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly atS?: number;
  readonly settings?: Readonly<Record<string, string>>;
};

const FORM = 'application/x-www-form-urlencoded';

const VECTORS: readonly Vector[] = [
  {
    preset: 'github', secret: "It's a Secret to Everybody", body: 'Hello, World!',
    headers: {
      'X-Hub-Signature-256':
        'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17',
    },
  },
  {
    preset: 'bitbucket', secret: "It's a Secret to Everybody", body: 'Hello World!',
    headers: {
      'X-Hub-Signature':
        'sha256=a4771c39fbe90f317c7824e83ddef3caae9cb3d976c214ace1f2937e133263c9',
    },
  },
  ...['standard', 'gitlab', 'svix'].map((preset) => {
    const prefix = preset === 'svix' ? 'svix' : 'webhook';
    return {
      preset, secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', body: '{"test": 2432232314}',
      atS: 1614265330,
      headers: {
        [`${prefix}-id`]: 'msg_p5jXN8AQM9LWM0D4loKWxJek', [`${prefix}-timestamp`]: '1614265330',
        [`${prefix}-signature`]: 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
      },
    };
  }),
  {
    preset: 'slack', secret: '8f742231b10e8888abcd99yyyzzz85a5', atS: 1531420618,
    body: 'token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow'
      + '&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner'
      + '&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands'
      + '%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN'
      + '&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c',
    headers: {
      'X-Slack-Request-Timestamp': '1531420618',
      'X-Slack-Signature':
        'v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503',
    },
  },
  {
    preset: 'twilio', secret: '12345',
    settings: { url: 'https://mycompany.com/myapp.php?foo=1&bar=2' },
    body: new URLSearchParams({
      CallSid: 'CA1234567890ABCDE', Caller: '+14158675309', Digits: '1234', From: '+14158675309',
      To: '+18005551212',
    }).toString(),
    headers: { 'Content-Type': FORM, 'X-Twilio-Signature': 'RSOYDt4T1cUTdK1PDd93/VVr8B8=' },
  },
  {
    preset: 'square', secret: 'signature-key',
    settings: { url: 'https://webhook.site/webhooks' },
    body: '{"data":{"type":"webhooks","id":"fake_id"}}',
    headers: {
      'x-square-hmacsha256-signature': 'W3FlCNk5IA3ZQ2LHTWoajvzfaDu/OwY2tNHIHC3IUOA=',
    },
  },
  {
    preset: 'dropbox', secret: 'the_secret', body: '{"delta": {"users": [12345]}}',
    headers: {
      'X-Dropbox-Signature': '0a8c16b085420b960dc78664279fe09e936a2a01b1f91064869d9e77dfd64529',
    },
  },
  {
    preset: 'hookshelf', secret: 'Jefe', body: 'what do ya want for nothing?',
    headers: {
      'X-Signature': 'sha256=5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
    },
  },
  {
    preset: 'basic', secret: 'Aladdin:open sesame', body: '',
    headers: { Authorization: 'Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==' },
  },
  { preset: 'bearer', secret: 'a-token', body: '', headers: { Authorization: 'bearer a-token' } },
  { preset: 'gitlab-token', secret: 'tok', body: '{}', headers: { 'X-Gitlab-Token': 'tok' } },
  // A header of UTF-8, as node:http reads it, one of Latin-1, and one given for a diagnosis.
  ...[[Buffer.from('té à').toString('latin1'), 'té à'], ['té à', 'té à'], ['Łuk', 'Łuk']]
    .map(([given = '', secret = '']) => ({
      preset: 'gitlab-token', secret, body: '{}', headers: { 'X-Gitlab-Token': given },
    })),
  {
    preset: 'stripe', secret: 'whsec_test_secret', body: '{"id":"evt_1","object":"event"}',
    atS: 1700000000,
    headers: {
      'Stripe-Signature': 't=1700000000,'
        + 'v1=0c8670ed117751cc551a20e35839447075c42800ea3cf3e8a2fbda99cd1e6edd',
    },
  },
  {
    preset: 'discord', body: '{"type":1}',
    secret: 'd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a',
    headers: {
      'X-Signature-Timestamp': '1700000000',
      'X-Signature-Ed25519': '1695961a47c91a1ec033b819b7e87e3dbc583dd0cee6d1fd0216f58ac87b6228'
        + 'ae531ddbf91fb7bc28d7edf7f08604da16f54624f38a6bc0614e4dc13cd47f0f',
    },
  },
  {
    preset: 'shopify', secret: 'shpss_test', body: '{"id":1}',
    headers: { 'X-Shopify-Hmac-SHA256': '1GxccvotnkOedTjSm8S0m/VA3yAUKshyqT52ccNYHj4=' },
  },
  {
    preset: 'linear', secret: 'lin_wh_test', body: '{"webhookTimestamp":1700000000000}',
    atS: 1700000000,
    headers: {
      'Linear-Signature': 'e14436649525508e76a3c8ca0da7e92c02604fcb3fefc4dc398e391384f086f9',
    },
  },
  ...['gitea', 'forgejo', 'gogs'].flatMap((preset) => [
    { body: '{"a":1}', type: 'application/json' },
    { body: `payload=${encodeURIComponent('{"a":1}')}`, type: FORM },
  ].map(({ body, type }) => ({
    preset, secret: 'secret', body,
    headers: {
      'Content-Type': type,
      [`X-${preset}-Signature`]: 'aa9e2e3575f5d7098b6caccd790888c36d5fdb63342a73bada2d6a51747a8494',
    },
  }))),
  {
    preset: 'zendesk', secret: 'dGhpc19zZWNyZXRfaXNfZm9yX3Rlc3Rpbmdfb25seQ==', body: '{"a":1}',
    headers: {
      'X-Zendesk-Webhook-Signature-Timestamp': '2021-03-25T05:09:27Z',
      'X-Zendesk-Webhook-Signature': '/mXSigLOoEkcTQbsWqgaVKrxFhN+K298pf/niM2rAnI=',
    },
  },
  {
    preset: 'mailgun', secret: 'key-test', headers: {},
    body: JSON.stringify({
      signature: {
        timestamp: '1700000000', token: '0123456789abcdef0123456789abcdef0123456789abcdef01',
        signature: '66fb2fd23ecf7d0717976cfe129522272dec49647d6ffee8aaf94480309503b2',
      },
      'event-data': { event: 'delivered' },
    }),
  },
  {
    preset: 'meta', secret: 'app_secret', body: '{"object":"page","entry":[]}',
    settings: { verifyToken: 'v' },
    headers: {
      'X-Hub-Signature-256':
        'sha256=22d3988d1017c437ea81a89d41e2d3266c00a508cffdb23f8ad8746d232d77e9',
    },
  },
  {
    preset: 'microsoft-graph', secret: 'state', headers: {},
    body: '{"value":[{"id":"1","clientState":"state"},{"id":"2","clientState":"state"}]}',
  },
];

for (const vector of VECTORS) {
  const { preset, secret, body, headers, atS = 1700000000, settings = {} } = vector;

  test(`takes ${preset}'s vector, and refuses it with a byte or the secret changed`, () => {
    const judge = (given: { body?: string; secret?: string; headers?: typeof headers }) =>
      verdictOf(preset, given.secret ?? secret, settings, atS,
        requestOf(given.body ?? body, given.headers ?? headers));
    assert.equal(judge({}), 'current');
    assert.equal(judge({ secret: flipped(secret) }), 'mismatch');
    assert.equal(judge({ headers: {} }), headers === vector.headers && hasHeader(headers)
      ? 'signature_missing' : 'current');
    if (coversBody(preset)) assert.notEqual(judge({ body: `${body} ` }), 'current');
  });
}

test("Twilio's signature of an address alone covers no body, and no other address", () => {
  const url = 'https://relay.example/webhook/in/tw';
  const signed = (address: string): string =>
    createHmac('sha1', 'token').update(address).digest('base64');
  const judge = (search: string, body: string, type: string, signature: string): string =>
    verdictOf('twilio', 'token', { url }, 1700000000,
      { ...requestOf(body, { 'Content-Type': type, 'X-Twilio-Signature': signature }), search });
  const bare = signed(url);
  const json = '{"forged":true}';
  const claim = `bodySHA256=${createHash('sha256').update(json).digest('hex')}`;
  const fields = Array.from({ length: 20_000 }, (_, index) => `a${index}=1`).join('&');
  assert.equal(judge('', '', FORM, bare), 'current');
  assert.equal(judge(claim, json, 'application/json', signed(`${url}?${claim}`)), 'current');
  assert.equal(judge(claim, json, 'application/json', bare), 'mismatch');
  assert.equal(judge('', json, 'application/json', bare), 'mismatch');
  assert.equal(judge('', fields, FORM, bare), 'mismatch');
  assert.equal(judge('evil=1', '', FORM, bare), 'mismatch');
});

function verdictOf(
  name: string, secret: string, settings: Readonly<Record<string, string>>, atS: number,
  request: RawRequest,
): string {
  const preset = findPreset(name);
  assert.ok(preset?.scheme);
  const verifier = createVerifier({
    scheme: preset.scheme, settings, toleranceS: null, quirk: preset.quirk ?? {},
    secrets: [{ text: secret, role: 'current', validUntilMs: Infinity }],
  });
  const { scheme: { payload } } = verifier;
  const parts = new RequestReader(request, typeof payload === 'object' ? payload.formField : null);
  const verdict = verify(verifier, parts, atS * 1000);
  return verdict.isGenuine ? verdict.secret : verdict.check;
}

function requestOf(body: string, headers: Readonly<Record<string, string>>): RawRequest {
  return {
    method: 'POST', search: '', body: Buffer.from(body),
    headers: Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])),
    rawHeaders: Object.entries(headers).flat(),
  };
}

/** Another secret of the same form: one character in its middle is another one. */
function flipped(secret: string): string {
  const index = secret.length >> 1;
  const other = secret[index] === 'a' ? 'b' : 'a';
  return secret.slice(0, index) + other + secret.slice(index + 1);
}

function hasHeader(headers: Readonly<Record<string, string>>): boolean {
  return Object.keys(headers).some((name) => name !== 'Content-Type');
}

function coversBody(preset: string): boolean {
  return !['mailgun', 'basic', 'bearer', 'gitlab-token', 'microsoft-graph'].includes(preset);
}
