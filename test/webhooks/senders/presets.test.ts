/** Every preset against requests that are signed by independent code, without a server. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listCoveredParts, type Scheme } from '../../../src/webhooks/senders/scheme/scheme.ts';
import { PRESETS, findPreset } from '../../../src/webhooks/senders/presets/preset-table.ts';
import { createRequestReader } from '../../../src/webhooks/senders/request/request-reader.ts';
import { createVerifier, verify } from '../../../src/webhooks/senders/verification/verify.ts';
import { casesOf, type Case } from '../../support/senders/cases.ts';
import { CUSTOM_SENDERS } from '../../support/senders/custom.ts';
import type { Sender } from '../../support/senders/signer.ts';
import { SENDERS } from '../../support/senders/table.ts';

const NOW_S = 1_770_000_000;
const ALL = [...SENDERS, ...CUSTOM_SENDERS];

test('a signature covers what its content names, and a token covers nothing', () => {
  for (const [preset, covers] of [
    ['github', ['body']], ['stripe', ['body', 'time', 'id']], ['discord', ['body', 'time', 'id']],
    ['paypal', ['time']], ['linear', ['body', 'time']], ['mailgun', ['time', 'id']],
    ['gitlab-token', []], ['microsoft-graph', []],
  ] as const) {
    const scheme = findPreset(preset)?.scheme ?? null;
    assert.ok(scheme);
    assert.deepEqual(listCoveredParts(scheme), covers, preset);
  }
});

test('there is a signer of every preset', () => {
  const signed = new Set(ALL.map(({ verification: { preset } }) => preset));
  assert.deepEqual([...signed].sort(), PRESETS.map(({ name }) => name).sort());
});

for (const sender of ALL) {
  test(`requests of ${sender.title} are judged as its rules say, and told without secrets`, () => {
    const wrong: string[] = [];
    for (const one of casesOf(sender, NOW_S)) {
      const { title, expected, secret } = one;
      const { outcome, finding } = judge(sender, one);
      const isRight = expected === 'refused'
        ? outcome !== 'current' && outcome !== 'previous' : outcome === expected;
      if (!isRight) wrong.push(`${title}: expected ${expected}, was ${outcome} (${finding})`);
      assert.ok(!finding.includes(secret), `${title}: ${finding}`);
      // Nor a signature.
      for (const word of finding.match(/[A-Za-z0-9+/=_-]{24,}/g) ?? []) {
        assert.ok(/^X-|^x-|^PAYPAL|^webhook|^svix|^Stripe|^Shopify/.test(word), finding);
      }
    }
    assert.deepEqual(wrong, []);
  });
}

test('no sender takes what another one signed with the same secret', () => {
  for (const sender of SENDERS) {
    const key = sender.makeKey('current');
    for (const other of SENDERS.filter((one) => !isAlike(one, sender))) {
      const sent = other.send({ ...other.makeKey('current'), secret: key.secret }, {
        body: Buffer.from('{"a":1}'), atS: NOW_S, spell: (text) => text,
      });
      const { outcome } = judge(sender, {
        title: '', expected: 'refused', secret: key.secret, previous: null,
        sent: { ...sent, rawHeaders: Object.entries(sent.headers).flat() },
      });
      assert.ok(outcome !== 'current', `${other.title} sent to ${sender.title}`);
    }
  }
});

/** They sign in the same way. */
function isAlike(one: Sender, other: Sender): boolean {
  const families = [['github', 'meta'], ['standard', 'gitlab'], ['gitea', 'forgejo', 'gogs'],
    ['bearer', 'cloudevents'],
    ['okta', 'cloudevents']];
  const [left, right] = [one.verification.preset, other.verification.preset];
  return left === right || families.some((names) => names.includes(left) && names.includes(right));
}

function judge(sender: Sender, { sent, secret, previous }: Case): {
  readonly outcome: string; readonly finding: string;
} {
  const { preset: name, scheme: given, ...settings } = sender.verification;
  const preset = findPreset(name);
  const scheme = preset?.scheme ?? given as Scheme;
  const verifier = createVerifier({
    scheme, settings, toleranceS: null, quirk: preset?.quirk ?? {},
    secrets: [
      { text: secret, role: 'current', validUntilMs: Infinity },
      ...previous === null ? [] : [{
        text: previous.secret, role: 'previous' as const,
        validUntilMs: NOW_S * 1000 + (previous.isOver ? 0 : 1),
      }],
    ],
  });
  const parts = createRequestReader(scheme, {
    method: 'POST', search: sent.query, body: sent.body, rawHeaders: sent.rawHeaders,
    headers: Object.fromEntries(Object.entries(sent.headers).map(([header, value]) =>
      [header.toLowerCase(), value])),
  });
  const verdict = verify(verifier, parts, NOW_S * 1000);
  return verdict.isGenuine ? { outcome: verdict.secret, finding: '' }
    : { outcome: verdict.check, finding: verdict.finding };
}

test('a token that only the unusable secret might have is refused for that secret', () => {
  const scheme = findPreset('basic')?.scheme ?? null;
  assert.ok(scheme);
  const verifier = createVerifier({
    scheme, settings: {}, toleranceS: null, quirk: {},
    secrets: [
      { text: 'no colon', role: 'current', validUntilMs: Infinity },
      { text: 'user:old', role: 'previous', validUntilMs: NOW_S * 1000 + 1 },
    ],
  });
  const verifyCredentials = (credentials: string): string => {
    const authorization = `Basic ${Buffer.from(credentials).toString('base64')}`;
    const verdict = verify(verifier, createRequestReader(scheme, {
      method: 'POST', search: '', body: Buffer.from('{}'),
      rawHeaders: ['Authorization', authorization], headers: { authorization },
    }), NOW_S * 1000);
    return verdict.isGenuine ? verdict.secret : verdict.finding;
  };
  assert.equal(verifyCredentials('user:old'), 'previous');
  assert.equal(verifyCredentials('user:new'), 'the current secret is not user:password');
});
