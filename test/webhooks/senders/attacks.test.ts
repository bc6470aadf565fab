/** What somebody who knows everything but the secret would try. */
import assert from 'node:assert/strict';
import { createHmac, generateKeyPairSync } from 'node:crypto';
import { test } from 'node:test';
import type { IncomingHttpHeaders } from 'node:http';
import { prepareSenderVerifier, type Verification } from
  '../../../src/webhooks/incoming/verification-member.ts';
import { RequestReader } from '../../../src/webhooks/senders/request/request-reader.ts';
import type { Scheme } from '../../../src/webhooks/senders/scheme/scheme.ts';
import { verify } from '../../../src/webhooks/senders/verification/verify.ts';
import { sendAs, senderOf } from '../../support/senders/table.ts';

const NOW_S = 1_770_000_000;
const BODY = Buffer.from('{"a":1}');

type Hook = { readonly verification: Verification; readonly secret: string };
type Request = {
  readonly headers?: IncomingHttpHeaders; readonly rawHeaders?: readonly string[];
  readonly body?: Buffer; readonly search?: string;
};

function judge(
  hook: Hook, { headers = {}, body = BODY, search = '', rawHeaders }: Request,
): string {
  const check = prepareSenderVerifier(hook);
  assert.ok(check);
  const lower = Object.fromEntries(Object.entries(headers).map(([name, value]) =>
    [name.toLowerCase(), value]));
  const verdict = verify(check.verifier, new RequestReader({
    method: 'POST', headers: lower, body, search,
    rawHeaders: rawHeaders ?? Object.entries(headers).flatMap(([name, value]) =>
      [name, String(value)]),
  }), NOW_S * 1000);
  return verdict.isGenuine ? 'genuine' : verdict.check;
}

test('the text of a public key is no key of an HMAC', () => {
  for (const preset of ['discord', 'sendgrid', 'paypal']) {
    const sender = senderOf(preset);
    const key = sender.makeKey('attacked');
    const sent = sendAs(sender, key, { body: BODY, atS: NOW_S });
    const name = sender.header ?? '';
    const { [name]: _, ...rest } = sent.headers;
    const forms: readonly (string | Buffer)[] = [
      key.secret, key.secret.trim(), Buffer.from(key.secret, 'hex'),
      Buffer.from(key.secret, 'base64'),
    ];
    for (const form of forms.filter((one) => one.length > 0)) {
      const content = Buffer.concat([Buffer.from(String(NOW_S)), BODY]);
      const forged = createHmac('sha256', form).update(content).digest(
        sender.encoding === 'hex' ? 'hex' : 'base64');
      const outcome = judge({ verification: sender.verification, secret: key.secret },
        { headers: { ...rest, [name]: forged } });
      assert.ok(outcome === 'mismatch' || outcome === 'signature_form', `${preset}: ${outcome}`);
    }
  }
});

test('a key of one algorithm does not serve another', () => {
  const pem = (type: 'ed25519' | 'ec' | 'rsa'): string => {
    const { publicKey } = type === 'ed25519' ? generateKeyPairSync('ed25519')
      : type === 'rsa' ? generateKeyPairSync('rsa', { modulusLength: 1024 })
        : generateKeyPairSync('ec', { namedCurve: 'secp384r1' });
    return publicKey.export({ format: 'pem', type: 'spki' }).toString();
  };
  const wrong: readonly (readonly [string, string])[] = [
    ['paypal', pem('ed25519')], ['paypal', pem('ec')], ['discord', pem('rsa')],
    ['sendgrid', pem('ec')], ['sendgrid', pem('rsa')], ['sendgrid', 'AAAA'], ['discord', '00'],
    ['discord', 'z'.repeat(64)], ['paypal', '-----BEGIN PUBLIC KEY-----\nAAAA'],
    ['standard', 'whpk_AAAA'], ['standard', 'whsec_***'],
  ];
  for (const [preset, secret] of wrong) {
    const sender = senderOf(preset);
    const { headers } = sendAs(sender, sender.makeKey('any'), { body: BODY, atS: NOW_S });
    assert.equal(judge({ verification: sender.verification, secret }, { headers }), 'secret',
      `${preset} ${secret.slice(0, 40)}`);
  }
});

test('an Ed25519 webhook of Standard Webhooks takes no HMAC keyed with its public key', () => {
  const { publicKey } = generateKeyPairSync('ed25519');
  const raw = publicKey.export({ format: 'der', type: 'spki' }).subarray(-32);
  const secret = `whpk_${raw.toString('base64')}`;
  for (const key of [raw, secret, raw.toString('base64')]) {
    const mac = createHmac('sha256', key).update(`msg_1.${NOW_S}.`).update(BODY).digest('base64');
    for (const spelt of [`v1,${mac}`, `v1a,${mac}`, `v1,${mac} v1a,${mac}`]) {
      const outcome = judge({ verification: { preset: 'standard' }, secret }, {
        headers: {
          'webhook-id': 'msg_1', 'webhook-timestamp': String(NOW_S), 'webhook-signature': spelt,
        },
      });
      assert.ok(['mismatch', 'signature_form'].includes(outcome), outcome);
    }
  }
});

test('a time and an id that are moved into the body sign nothing else', () => {
  const secret = 'whsec_dGVzdA==';
  const key = Buffer.from('test');
  const mac = createHmac('sha256', key).update(`a.${NOW_S}.b.${NOW_S}.{}`).digest('base64');
  const headers = (id: string): IncomingHttpHeaders => ({
    'webhook-id': id, 'webhook-timestamp': String(NOW_S), 'webhook-signature': `v1,${mac}`,
  });
  const verification = { preset: 'standard' };
  assert.equal(judge({ verification, secret },
    { headers: headers('a'), body: Buffer.from(`b.${NOW_S}.{}`) }), 'genuine');
  // The separator may stand in an id; its time is checked all the same, and is the same one.
  assert.equal(judge({ verification, secret },
    { headers: headers(`a.${NOW_S}.b`), body: Buffer.from('{}') }), 'genuine');
  assert.equal(judge({ verification, secret }, {
    headers: { ...headers('a'), 'webhook-timestamp': String(NOW_S + 1) },
    body: Buffer.from(`b.${NOW_S}.{}`),
  }), 'mismatch');
});

const TIMES: readonly string[] = [
  '', ' ', '-1', '1e9', '0x65', 'NaN', 'Infinity', `${NOW_S}.5`, `+${NOW_S}`, ` ${NOW_S}`,
  `${NOW_S}000`, '9'.repeat(400), `${NOW_S}\n`, '١٧٧٠٠٠٠٠٠٠',
];

test('a time that is no plain number of seconds is refused, right as its signature is', () => {
  for (const time of TIMES) {
    const sum = createHmac('sha256', 'key').update(`v0:${time}:`).update(BODY).digest('hex');
    const outcome = judge({ verification: { preset: 'slack' }, secret: 'key' }, {
      headers: { 'X-Slack-Request-Timestamp': time, 'X-Slack-Signature': `v0=${sum}` },
    });
    assert.equal(outcome, 'parts', JSON.stringify(time));
    const pair = createHmac('sha256', 'key').update(`${time}.`).update(BODY).digest('hex');
    assert.equal(judge({ verification: { preset: 'stripe' }, secret: 'key' },
      { headers: { 'Stripe-Signature': `t=${time},v1=${pair}` } }) === 'genuine', false, time);
  }
});

test('Stripe\'s time counts once, and only beside its signature', () => {
  const sum = (at: number): string =>
    createHmac('sha256', 'key').update(`${at}.`).update(BODY).digest('hex');
  const hook = { verification: { preset: 'stripe' }, secret: 'key' };
  const old = NOW_S - 10_000;
  const outcomes = [
    `t=${old},v1=${sum(old)}`, `t=${old},t=${NOW_S},v1=${sum(old)}`,
    `t=${NOW_S},t=${old},v1=${sum(old)}`, `v1=${sum(old)}`, `t=${NOW_S},v1=${sum(old)}`,
    `t=${NOW_S},v0=${sum(NOW_S)}`, `t=${NOW_S},v1=${sum(NOW_S)}`,
  ].map((header) => judge(hook, { headers: { 'Stripe-Signature': header } }));
  assert.deepEqual(outcomes, ['stale', 'parts', 'parts', 'parts', 'mismatch', 'signature_form',
    'genuine']);
});

const PATHS: readonly string[] = [
  '__proto__', 'constructor', 'constructor.name', '__proto__.constructor.name', 'toString.name',
  'a.length', 'list.length', 'list.constructor.name', 'hasOwnProperty', 'text.0', 'list.-1',
  'list.1e0',
];

test('a path reads nothing but what was sent', () => {
  const reader = new RequestReader({
    method: 'POST', headers: {}, rawHeaders: [], search: '',
    body: Buffer.from('{"a":"x","list":["x"],"text":"abc"}'),
  });
  for (const json of PATHS) assert.equal(reader.read({ json }), null, json);
  const own = new RequestReader({
    method: 'POST', headers: {}, rawHeaders: [], search: '',
    body: Buffer.from('{"__proto__":{"a":"1"},"constructor":{"name":"2"}}'),
  });
  assert.equal(own.read({ json: '__proto__.a' }), '1');
  assert.equal(own.read({ json: 'constructor.name' }), '2');
});

// Anything but time in proportion would take hours with these.
test('bodies that are made to be slow are not', () => {
  const scheme: Scheme = {
    algorithm: 'token', key: 'utf8', content: '', signature: {
      from: { json: Array.from({ length: 16 }, () => 'a[]').join('.') }, encoding: 'utf8',
    },
  };
  let nested = '"x"';
  for (let depth = 0; depth < 16; depth += 1) nested = `{"a":[${nested},${nested}]}`;
  const bodies = [
    nested, `${'['.repeat(500_000)}`, `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`,
    `{"a":[${'{},'.repeat(200_000)}{}]}`, '"'.repeat(1_000_000),
  ];
  for (const text of bodies) {
    const outcome = judge({ verification: { preset: 'custom', scheme }, secret: 'x' },
      { body: Buffer.from(text) });
    assert.notEqual(outcome, 'genuine', text.slice(0, 30));
  }
});

test('of signatures without end only the first few are looked at', () => {
  const hook = { verification: { preset: 'standard' }, secret: 'whsec_dGVzdA==' };
  const wrong = `v1,${Buffer.alloc(32).toString('base64')}`;
  const right = createHmac('sha256', 'test').update(`m.${NOW_S}.`).update(BODY).digest('base64');
  const headers = (signatures: readonly string[]): IncomingHttpHeaders => ({
    'webhook-id': 'm', 'webhook-timestamp': String(NOW_S),
    'webhook-signature': signatures.join(' '),
  });
  const many = Array.from({ length: 10_000 }, () => wrong);
  assert.equal(judge(hook, { headers: headers([...many, `v1,${right}`]) }), 'mismatch');
  assert.equal(judge(hook, { headers: headers([wrong, wrong, `v1,${right}`]) }), 'genuine');
});

test('a time beyond the tolerance is stale, in the future as in the past', () => {
  const sender = senderOf('stripe');
  const key = sender.makeKey('attacked');
  for (const [offsetS, outcome] of [
    [-300, 'genuine'], [-301, 'stale'], [300, 'genuine'], [301, 'stale'],
  ] as const) {
    const { headers } = sendAs(sender, key, { body: BODY, atS: NOW_S + offsetS });
    const hook = { verification: sender.verification, secret: key.secret };
    assert.equal(judge(hook, { headers }), outcome, `${offsetS} s`);
  }
});
