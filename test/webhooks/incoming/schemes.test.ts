/** Schemes of users: what is refused when saved, and webhooks that change under load. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sendAs, senderOf } from '../../support/senders/table.ts';
import { hmacKey } from '../../support/senders/signer.ts';
import { startRelayFor, type Relay } from '../relay.ts';

const SOUND = {
  algorithm: 'hmac-sha256', key: 'utf8', content: '{body}',
  signature: { from: { header: 'X-Sum' }, encoding: 'hex' },
};
const nest = (depth: number): unknown => depth === 0 ? 'x' : { from: nest(depth - 1) };
const own = (name: string, value: unknown): object =>
  Object.defineProperty({}, name, { value, enumerable: true });
const withChallenge = (challenge: unknown): object => ({ ...SOUND, challenge: [challenge] });
const CHALLENGE = {
  method: 'GET', when: [{ from: { query: 'c' } }],
  answer: { status: 200, type: 'text/plain', body: { query: 'c' } },
};

const REFUSED: readonly (readonly [title: string, scheme: unknown, pointer: string])[] = [
  ['a string', 'github', ''], ['a list', [SOUND], ''], ['nothing', {}, '/algorithm'],
  ['an unknown algorithm', { ...SOUND, algorithm: 'md5' }, '/algorithm'],
  ['none', { ...SOUND, algorithm: 'none' }, '/algorithm'],
  ['an unknown member', { ...SOUND, code: 'x' }, '/code'],
  ['a member called __proto__', { ...SOUND, ...own('__proto__', { a: 1 }) }, '/__proto__'],
  ['a member called constructor', { ...SOUND, constructor: { a: 1 } }, '/constructor'],
  ['a placeholder called constructor', { ...SOUND, content: '{constructor}' }, '/content'],
  ['a placeholder called __proto__', { ...SOUND, content: '{__proto__}' }, '/content'],
  ['an unknown placeholder', { ...SOUND, content: '{secret}' }, '/content'],
  ['an unknown one beside the body', { ...SOUND, content: '{body}{web_hook}' }, '/content'],
  ['a placeholder with spaces', { ...SOUND, content: '{body}{ timestamp }' }, '/content'],
  ['a placeholder with a path', { ...SOUND, content: '{body}{body.id}' }, '/content'],
  ['an empty placeholder', { ...SOUND, content: '{}' }, '/content'],
  ['a body signed twice', { ...SOUND, content: '{body}{body}' }, '/content'],
  ['nothing that is signed', { ...SOUND, content: '' }, '/content'],
  ['a time that is nowhere', { ...SOUND, content: '{timestamp}{body}' }, '/content'],
  ['an HMAC keyed by a public key', { ...SOUND, key: 'spki' }, '/key'],
  ['a public key read as text', { ...SOUND, algorithm: 'ed25519', key: 'utf8' }, '/key'],
  ['a signature that is compared as text', {
    ...SOUND, signature: { ...SOUND.signature, encoding: 'utf8' },
  }, '/signature/encoding'],
  ['two places at once', {
    ...SOUND, signature: { ...SOUND.signature, from: { header: 'A', query: 'b' } },
  }, '/signature/from'],
  ['no place', { ...SOUND, signature: { ...SOUND.signature, from: {} } }, '/signature/from'],
  ['a place called __proto__', {
    ...SOUND, signature: { ...SOUND.signature, from: own('__proto__', 'x') },
  }, '/signature/from'],
  ['no place in a list', { ...SOUND, signature: { ...SOUND.signature, from: [] } },
    '/signature/from'],
  ['too many places', {
    ...SOUND, signature: { ...SOUND.signature, from: Array(5).fill({ header: 'A' }) },
  }, '/signature/from'],
  ['a text for a place', { ...SOUND, signature: { ...SOUND.signature, from: 'X-Sig' } },
    '/signature/from'],
  ['a bad second place', {
    ...SOUND, signature: { ...SOUND.signature, from: [{ header: 'A' }, { json: 'a..b' }] },
  }, '/signature/from/1/json'],
  ['a prefix that is optional, and none', {
    ...SOUND, signature: { ...SOUND.signature, prefixOptional: true },
  }, '/signature/prefixOptional'],
  ['a header with a line break', {
    ...SOUND, signature: { ...SOUND.signature, from: { header: 'X\r\nY' } },
  }, '/signature/from/header'],
  ['places within places', { ...SOUND, id: nest(50) }, '/id'],
  ['a path of a thousand steps', { ...SOUND, id: { json: 'a.'.repeat(99) + 'a' } }, '/id/json'],
  ['a path of empty steps', { ...SOUND, id: { json: 'a..b' } }, '/id/json'],
  ['a path as long as a book', { ...SOUND, id: { json: 'a'.repeat(100_000) } }, '/id/json'],
  ['a content as long as a book', { ...SOUND, content: `${'x'.repeat(100_000)}{body}` },
    '/content'],
  ['a tolerance without end', {
    ...SOUND, timestamp: { from: { header: 'T' }, unit: 's', tolerance: 1e12 },
  }, '/timestamp/tolerance'],
  ['a hundred challenges', { ...SOUND, challenge: Array(100).fill(CHALLENGE) }, '/challenge'],
  ['a challenge without a condition', withChallenge({ ...CHALLENGE, when: [] }),
    '/challenge/0/when'],
  ['a challenge that answers with a failure', withChallenge({
    ...CHALLENGE, answer: { ...CHALLENGE.answer, status: 500 },
  }), '/challenge/0/answer/status'],
  ['a challenge whose type splits the answer', withChallenge({
    ...CHALLENGE, answer: { ...CHALLENGE.answer, type: 'text/plain\r\nSet-Cookie: a=b' },
  }), '/challenge/0/answer/type'],
  ['a challenge for the secret', withChallenge({
    ...CHALLENGE, verify: { from: { query: 'c' }, setting: 'secret' },
  }), '/challenge/0/verify'],
  ['a challenge for a token that need not be set', withChallenge({
    ...CHALLENGE, verify: { from: { query: 'c' }, setting: 'verifyToken' },
  }), '/challenge/0/verify'],
  ['a challenge whose value has no place', withChallenge({
    ...CHALLENGE, answer: { ...CHALLENGE.answer, value: { query: 'c' } },
  }), '/challenge/0/answer/value'],
  ['a challenge whose place has no value', withChallenge({
    ...CHALLENGE, answer: { ...CHALLENGE.answer, body: '{"a":{value}}' },
  }), '/challenge/0/answer/body'],
  ['a challenge that has anything signed', withChallenge({
    ...CHALLENGE, answer: { ...CHALLENGE.answer, hmac: 'hex' },
  }), '/challenge/0/answer/hmac'],
  ['a challenge that sets the length', withChallenge({
    ...CHALLENGE, answer: { ...CHALLENGE.answer, headers: { 'Content-Length': '1' } },
  }), '/challenge/0/answer/headers/Content-Length'],
  ['a challenge with a header of a number', withChallenge({
    ...CHALLENGE, answer: { ...CHALLENGE.answer, headers: { 'X-A': 1 } },
  }), '/challenge/0/answer/headers/X-A'],
  ['a challenge for any', withChallenge({ ...CHALLENGE, method: 'DELETE' }),
    '/challenge/0/method'],
];

test('a scheme that cannot be sound is refused where it is wrong', async (context) => {
  const relay = await startRelayFor(context);
  const wrong: string[] = [];
  for (const [title, scheme, pointer] of REFUSED) {
    const { status, json, text } = await relay.hook({ actionType: 'log' },
      { secret: 's', verification: { preset: 'custom', scheme } });
    const errors = (json['errors'] ?? []) as readonly { pointer: string }[];
    const wanted = `/verification/scheme${pointer}`;
    const isThere = errors.some((error) => error.pointer.startsWith(wanted));
    if (status !== 422 || !isThere) wrong.push(`${title}: ${status} ${text.slice(0, 300)}`);
  }
  assert.deepEqual(wrong, []);
  assert.ok(!relay.logLines.some((line) => line.includes('"level":"error"')));
});

test('what a scheme lacks is told at once, with an example that is taken', async (context) => {
  const relay = await startRelayFor(context);
  const save = (scheme: unknown, path: string): ReturnType<typeof relay.hook> =>
    relay.hook({ actionType: 'log' }, {
      secret: 's', pathSegment: path, verification: { preset: 'custom', ...scheme as object },
    });
  for (const [scheme, pointers] of [
    [{ algorithm: 'token' }, ['', '/key', '/signature']],
    [{ algorithm: 'hmac-sha256' }, ['', '/key', '/signature', '/content']],
    [{ algorithm: 'hmac-sha256', key: 'utf8', content: '' }, ['', '/signature', '/content']],
    [{}, ['', '/algorithm', '/key', '/signature', '/content']],
  ] as const) {
    const refused = await save({ scheme }, 'refused');
    assert.equal(refused.status, 422);
    const errors = refused.json['errors'] as readonly { pointer: string; detail: string }[];
    assert.deepEqual(errors.map(({ pointer }) => pointer),
      pointers.map((pointer) => `/verification/scheme${pointer}`));
    const [, example = ''] = /such as (\{.*\})$/.exec(errors[0]?.detail ?? '') ?? [];
    const path = `path-${JSON.stringify(scheme).length}`;
    const saved = await save({ scheme: JSON.parse(example) }, path);
    assert.equal(saved.status, 201, saved.text);
  }
  const none = await save({}, 'none');
  assert.match(none.text, /is needed by the preset custom, such as \{/);
});

test('a webhook whose preset changes takes each request by one of the two', async (context) => {
  const relay = await startRelayFor(context);
  const made = await relay.hook({ actionType: 'log' },
    { secret: 'same', verification: { preset: 'github' } });
  const path = `/api/incoming-webhooks/${String(made.json['identifier'])}`;
  const key = hmacKey('same');
  const statuses = new Map<string, Set<number>>();
  const call = async (preset: string, secret = key): Promise<void> => {
    const sent = sendAs(senderOf(preset), secret, { body: Buffer.from('{"a":1}') });
    const { status } = await relay.ask('POST', '/webhook/in/hook', sent.body, sent.headers);
    const name = secret === key ? preset : 'forged';
    statuses.set(name, (statuses.get(name) ?? new Set()).add(status));
  };
  for (const preset of ['stripe', 'slack', 'github', 'linear', 'stripe', 'github']) {
    const change = relay.ask('PATCH', path, { verification: { preset } });
    await Promise.all(['github', 'stripe', 'slack', 'linear'].flatMap((name) =>
      [call(name), call(name), call(name, hmacKey('other'))]));
    assert.equal((await change).status, 200);
    await call(preset);
    assert.deepEqual(await statusOf(relay, preset), 200);
  }
  assert.deepEqual([...statuses.get('forged') ?? []], [401]);
  for (const [, seen] of statuses) for (const one of seen) assert.ok(one === 200 || one === 401);
});

async function statusOf(relay: Relay, preset: string): Promise<number> {
  const sent = sendAs(senderOf(preset), hmacKey('same'), { body: Buffer.from('{}') });
  return (await relay.ask('POST', '/webhook/in/hook', sent.body, sent.headers)).status;
}
