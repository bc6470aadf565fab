/** The requests by which senders find out who listens, byte for byte as their documents ask. */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import { ManualClock } from '../../support/manual-clock.ts';
import { rawRequest, type RawAnswer } from '../../support/raw-http.ts';
import { hmacKey, type Key } from '../../support/senders/signer.ts';
import { sendAs, senderOf } from '../../support/senders/table.ts';
import { createActionClass } from '../context.ts';
import { startRelayFor, startRelayWithHook, type Relay } from '../relay.ts';

const SECRET = 'a shared sécret';
const MIB = 1_048_576;

let runCount = 0;
const Counts = createActionClass('counts', () => {
  runCount += 1;
  return { success: true, data: {} };
});

type Ask = {
  readonly method?: string; readonly query?: string; readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
};
type Answered = readonly [status: number, type: string | undefined, body: string];
type Row = readonly [title: string, ask: Ask, answered: Answered];

const REFUSED: Answered = [401, 'application/json',
  '{"success":false,"message":"Signature verification failed","data":{}}'];
const TAKEN: Answered = [200, 'application/json', '{"success":true,"message":"","data":{}}'];
const NO_METHOD: Answered = [405, 'application/json',
  '{"success":false,"message":"Method not allowed","data":{}}'];
const text = (body: string): Answered => [200, 'text/plain', body];
const json = (body: string): Answered => [200, 'application/json', body];

function macOf(value: string, encoding: 'hex' | 'base64'): string {
  return createHmac('sha256', SECRET).update(value).digest(encoding);
}

/** `body` as the sender of `preset` signs it. */
function signed(preset: string, body: string, key: Key = hmacKey(SECRET), atS?: number): Ask {
  const { headers, query } = sendAs(senderOf(preset), key, {
    body: Buffer.from(body), ...atS === undefined ? {} : { atS },
  });
  return { body, headers, query };
}

const OLD_S = Math.floor(Date.now() / 1000) - 3600;
const slack = (more = ''): string => `{"token":"x","type":"url_verification"${more}}`;
const zoom = (token: string): string =>
  `{"payload":{"plainToken":${token}},"event_ts":1,"event":"endpoint.url_validation"}`;
const OTHER = hmacKey('another');
const meta = 'hub.mode=subscribe&hub.verify_token=a+v%C3%A9rify%26token&hub.challenge=';

const SLACK: readonly Row[] = [
  ['a signed one', signed('slack', slack(',"challenge":"3eZbrw <b>é&"')), text('3eZbrw <b>é&')],
  ['one that is not signed', { body: slack(',"challenge":"c"') }, REFUSED],
  ['one by another secret', signed('slack', slack(',"challenge":"c"'), OTHER), REFUSED],
  ['an old one', signed('slack', slack(',"challenge":"c"'), hmacKey(SECRET), OLD_S), REFUSED],
  ['one without challenge', signed('slack', slack()), REFUSED],
  ['one with an empty challenge', signed('slack', slack(',"challenge":""')), REFUSED],
  ['one whose challenge is an object', signed('slack', slack(',"challenge":{"a":1}')), REFUSED],
  ['an event', signed('slack', '{"type":"event_callback"}'), TAKEN],
  ['a GET', { method: 'GET', query: 'challenge=c' }, NO_METHOD],
];

const META: readonly Row[] = [
  ['a right one', { method: 'GET', query: `${meta}1158201444` }, text('1158201444')],
  ['one with markup', { method: 'GET', query: `${meta}%3Cb%3E%C3%A9` }, text('<b>é')],
  ['a wrong token', {
    method: 'GET', query: 'hub.mode=subscribe&hub.verify_token=a&hub.challenge=1',
  }, REFUSED],
  ['no token', { method: 'GET', query: 'hub.mode=subscribe&hub.challenge=1' }, REFUSED],
  ['no challenge', { method: 'GET', query: meta.replace('&hub.challenge=', '') }, REFUSED],
  ['an empty challenge', { method: 'GET', query: meta }, REFUSED],
  ['another mode', { method: 'GET', query: `${meta.replace('subscribe', 'other')}1` }, REFUSED],
  ['a GET that is none', { method: 'GET', query: 'a=1' }, NO_METHOD],
  ['a HEAD', { method: 'HEAD', query: `${meta}1` }, [405, 'application/json', '']],
  ['the secret for the token', {
    method: 'GET',
    query: `hub.mode=subscribe&hub.challenge=1&hub.verify_token=${encodeURIComponent(SECRET)}`,
  }, REFUSED],
  ['an event', signed('meta', '{"object":"page","entry":[]}'), TAKEN],
];

const DROPBOX: readonly Row[] = [
  ['a right one', { method: 'GET', query: 'challenge=abc%20123' }, text('abc 123')],
  ['the first of two', { method: 'GET', query: 'challenge=a&challenge=b' }, text('a')],
  ['an empty challenge', { method: 'GET', query: 'challenge=' }, REFUSED],
  ['a GET that is none', { method: 'GET' }, NO_METHOD],
  ['a POST with a challenge and no signature',
    { query: 'challenge=a', body: '{}' }, REFUSED],
  ['an event', signed('dropbox', '{"list_folder":{"accounts":[]}}'), TAKEN],
];

const ZOOM: readonly Row[] = [
  ['a signed one', signed('zoom', zoom('"qgg8vlvZRS6UYooatFL8Aw"')), json(
    '{"plainToken":"qgg8vlvZRS6UYooatFL8Aw",'
    + `"encryptedToken":"${macOf('qgg8vlvZRS6UYooatFL8Aw', 'hex')}"}`)],
  ['a token that would break JSON', signed('zoom', zoom('"a\\"$&é"')), json(
    `{"plainToken":"a\\"$&é","encryptedToken":"${macOf('a"$&é', 'hex')}"}`)],
  ['one that is not signed', { body: zoom('"q"') }, REFUSED],
  ['one by another secret', signed('zoom', zoom('"q"'), OTHER), REFUSED],
  ['one without token', signed('zoom', '{"event":"endpoint.url_validation"}'), REFUSED],
  ['one with an empty token', signed('zoom', zoom('""')), REFUSED],
  ['an event', signed('zoom', '{"event":"meeting.started"}'), TAKEN],
];

const X: readonly Row[] = [
  ['a right one', { method: 'GET', query: 'crc_token=9b4507b3&nonce=1' },
    json(`{"response_token":"sha256=${macOf('9b4507b3', 'base64')}"}`)],
  ['an empty token', { method: 'GET', query: 'crc_token=' }, REFUSED],
  ['a GET that is none', { method: 'GET', query: 'crc=1' }, NO_METHOD],
  ['an event', signed('x', '{"for_user_id":"1"}'), TAKEN],
];

const GRAPH: readonly Row[] = [
  ['a right one', { query: 'validationToken=Validation%3A+Testing%20%3Cb%3E', body: '' },
    text('Validation: Testing <b>')],
  ['an empty token', { query: 'validationToken=', body: '' }, REFUSED],
  ['a GET', { method: 'GET', query: 'validationToken=a' }, NO_METHOD],
  ['an event', { body: JSON.stringify({ value: [{ clientState: SECRET }] }) }, TAKEN],
  ['an event of which one is another\'s',
    { body: JSON.stringify({ value: [{ clientState: SECRET }, { clientState: 'x' }] }) }, REFUSED],
  ['an event of which one says nothing',
    { body: JSON.stringify({ value: [{ clientState: SECRET }, {}] }) }, REFUSED],
  ['no events', { body: '{"value":[]}' }, REFUSED],
];

const TRELLO: readonly Row[] = [
  ['a HEAD', { method: 'HEAD' }, [200, 'text/plain', '']],
  ['a GET', { method: 'GET' }, NO_METHOD],
  ['an event', signed('trello', '{"action":{"type":"updateCard"}}', hmacKey(SECRET, 'sha1')),
    TAKEN],
];

const OKTA: readonly Row[] = [
  ['a right one', { method: 'GET', headers: { 'X-Okta-Verification-Challenge': 'my"value' } },
    json('{"verification":"my\\"value"}')],
  ['a GET that is none', { method: 'GET' }, NO_METHOD],
  ['an event', { body: '{"eventId":"1"}', headers: { Authorization: 'okta-secret' } },
    TAKEN],
];

const offered = (secret: string, body = '{}'): Ask =>
  ({ body, headers: { 'X-Hook-Secret': secret } });
const ASANA: readonly Row[] = [
  ['one with the secret again', offered('asana-secret'), text('')],
  ['one with another secret', offered('another-secret'), REFUSED],
  ['an event', signed('asana', '{"events":[]}', hmacKey('asana-secret')), TAKEN],
  ['an event by another secret', signed('asana', '{"events":[]}', OTHER), REFUSED],
];

const asanaLike = (answer: object): object => ({
  verification: {
    preset: 'custom', scheme: {
      algorithm: 'token', key: 'utf8', signature: { from: { query: 'token' }, encoding: 'utf8' },
      challenge: [{
        method: 'POST', when: [{ from: { header: 'X-Ask' } }],
        answer: { status: 200, type: 'application/json', ...answer },
      }],
    },
  },
});
const CUSTOM: readonly Row[] = [
  ['a value in a header and within JSON', { body: '{"a":"x\\"y"}', headers: { 'X-Ask': 'q' } },
    json('{"got":"x\\"y"}')],
  ['one without a value', { body: '{}', headers: { 'X-Ask': 'q' } }, REFUSED],
];

const discordKey = senderOf('discord').makeKey('');
const otherKey = senderOf('discord').makeKey('');
const DISCORD: readonly Row[] = [
  ['an interaction\'s', signed('discord', '{"type":1,"id":"7"}', discordKey), json('{"type":1}')],
  ['an event\'s', signed('discord', '{"version":1,"application_id":"1","type":0}', discordKey),
    [204, 'application/json', '']],
  ['an event of type 1', signed('discord', '{"type":1,"event":{"type":"A"}}', discordKey), TAKEN],
  ['one with a bad signature', signed('discord', '{"type":1}', otherKey), REFUSED],
  ['an event\'s with a bad signature', signed('discord', '{"type":0}', otherKey), REFUSED],
  ['one that is not signed', { body: '{"type":1}' }, REFUSED],
  ['a command', signed('discord', '{"type":2,"id":"1"}', discordKey), TAKEN],
];

const TABLES: readonly (readonly [preset: string, hook: object, rows: readonly Row[]])[] = [
  ['slack', {}, SLACK], ['dropbox', {}, DROPBOX], ['zoom', {}, ZOOM], ['x', {}, X],
  ['microsoft-graph', {}, GRAPH], ['discord', { secret: discordKey.secret }, DISCORD],
  ['trello', { verification: { preset: 'trello', url: 'https://hooks.example.com/in?a=1' } },
    TRELLO], ['okta', { secret: 'okta-secret' }, OKTA],
  ['asana', { secret: 'asana-secret' }, ASANA],
  ['custom', asanaLike({
    body: '{"got":{value}}', value: { json: 'a' }, headers: { 'X-Back': { header: 'X-Ask' } },
  }), CUSTOM],
  ['meta', { verification: { preset: 'meta', verifyToken: 'a vérify&token' } }, META],
];

for (const [preset, hook, rows] of TABLES) {
  test(`the handshake of ${preset} is answered as it asks, and nothing else is`,
    async (context) => {
      const relay = await startRelayWithHook(context, { actionType: 'counts' },
        { secret: SECRET, verification: { preset }, ...hook }, { actions: [Counts] });
      for (const [title, question, answered] of rows) {
        runCount = 0;
        const answer = await ask(relay, question);
        assert.deepEqual([answer.status, answer.headers['content-type'], answer.body],
          answered, title);
        assert.equal(answer.headers['x-content-type-options'], 'nosniff', title);
        assert.equal(runCount, answered === TAKEN ? 1 : 0, `${title}: the action`);
      }
    });

  test(`a webhook of ${preset} without its secret answers no handshake`, async (context) => {
    const relay = await startRelayFor(context, { actions: [Counts] });
    const { secret: _, ...rest } = { secret: SECRET, verification: { preset }, ...hook };
    await relay.hook({ actionType: 'counts' }, rest);
    const [, question = {}] = rows[0] ?? [];
    assert.equal((await ask(relay, question)).status, 401);
  });
}

test('a handshake that is sent in a large body is refused like any other', async (context) => {
  const relay = await startRelayFor(context, { actions: [Counts] });
  await relay.hook({ actionType: 'counts' }, { secret: SECRET, verification: { preset: 'slack' } });
  const body = slack(`,"challenge":"${'c'.repeat(MIB)}"`);
  assert.equal((await ask(relay, signed('slack', body))).status, 413);
});

test('the secret of a handshake is taken once, within ten minutes of being asked for',
  async (context) => {
    const clock = new ManualClock();
    const relay = await startRelayWithHook(context, { actionType: 'counts' },
      { verification: { preset: 'asana' } }, { actions: [Counts], clock });
    const path = '/api/incoming-webhooks/hook';
    const statusOf = async (question: Ask): Promise<number> => (await ask(relay, question)).status;
    assert.equal(await statusOf(offered('a-first-secret')), 401, 'nobody has asked for it');
    const awaits = await relay.ask('POST', `${path}/await-secret`);
    const until = new Date(clock.now() + 600_000).toISOString();
    assert.deepEqual([awaits.status, awaits.json['secretAwaitedUntil']], [200, until]);
    clock.standStill(600_000);
    assert.equal(await statusOf(offered('a-first-secret')), 401, 'too late');
    assert.ok(!('secretAwaitedUntil' in (await relay.ask('GET', path)).json));

    await relay.ask('POST', `${path}/await-secret`);
    clock.standStill(599_999);
    assert.equal((await relay.ask('PATCH', path, { description: 'x' })).status, 200);
    assert.equal(await statusOf(offered('')), 401, 'an empty one');
    const answers = await Promise.all(['one', 'two'].map(async (name) =>
      [name, await ask(relay, offered(name))] as const));
    const taken = answers.filter(([, { status }]) => status === 200);
    assert.equal(taken.length, 1);
    const [[secret = '', answer] = []] = taken;
    assert.equal(answer?.headers['x-hook-secret'], secret);
    const { json, text: shown } = await relay.ask('GET', path);
    assert.deepEqual([json['hasSecret'], json['secretAwaitedUntil']], [true, undefined]);
    assert.equal(await statusOf(signed('asana', '{"events":[]}', hmacKey(secret))), 200);
    assert.equal(await statusOf(offered(secret)), 200, 'it is brought again');
    assert.equal(await statusOf(offered('another')), 401);
    assert.equal((await relay.ask('POST', `${path}/await-secret`)).status, 409);
    const kept = await relay.ask('GET', '/api/requests');
    const told = [shown, kept.text, ...relay.logLines].join('\n');
    assert.ok(!/a-first-secret|another"/.test(told), 'no secret is shown');
  });

test('a secret is asked for only where a handshake brings it, and nobody plays the sender',
  async (context) => {
    const relay = await startRelayWithHook(context, { actionType: 'counts' },
      { verification: { preset: 'github' } }, { actions: [Counts] });
    assert.equal((await relay.ask('POST', '/api/incoming-webhooks/hook/await-secret')).status, 409);
    assert.equal((await relay.ask('POST', '/api/incoming-webhooks/none/await-secret')).status, 404);
    await relay.ask('PATCH', '/api/incoming-webhooks/hook', { verification: { preset: 'asana' } });
    await relay.ask('POST', '/api/incoming-webhooks/hook/await-secret');
    const sample = await relay.ask('POST', '/api/incoming-webhooks/hook/sample',
      { handshake: true });
    assert.notEqual(sample.status, 200);
    const { text: diagnosis } = await relay.ask('POST', '/api/incoming-webhooks/hook/diagnose',
      { headers: { 'X-Hook-Secret': 'a-secret' } });
    assert.match(diagnosis, /would be answered 200/);
  });

test('a custom scheme takes the secret of its handshake, too, and no signed one',
  async (context) => {
    const challenge = {
      method: 'POST', when: [{ from: { json: 'hello' } }], secret: { json: 'key' },
      answer: { status: 200, type: 'text/plain', body: 'ok' },
    };
    const scheme = {
      algorithm: 'hmac-sha256', key: 'utf8', content: '{body}',
      signature: { from: { header: 'X-Sum' }, encoding: 'hex' }, challenge: [challenge],
    };
    const verification = { preset: 'custom', scheme };
    const relay = await startRelayWithHook(context, { actionType: 'counts' },
      { verification }, { actions: [Counts] });
    const brought = { body: '{"hello":1,"key":"chosen"}' };
    await relay.ask('POST', '/api/incoming-webhooks/hook/await-secret');
    assert.equal((await ask(relay, { body: '{"hello":1}' })).status, 401, 'it brings none');
    assert.equal((await ask(relay, brought)).status, 200);
    const sum = createHmac('sha256', 'chosen').update('{}').digest('hex');
    assert.equal((await ask(relay, { body: '{}', headers: { 'X-Sum': sum } })).status, 200);
    const signedOne = { ...scheme, challenge: [{ ...challenge, verify: 'signature' }] };
    const refused = await relay.ask('PATCH', '/api/incoming-webhooks/hook',
      { verification: { preset: 'custom', scheme: signedOne } });
    assert.match(refused.text, /challenge\/0\/secret.*cannot be signed/);
  });

function ask(
  relay: Relay, { method = 'POST', query = '', body, headers = {} }: Ask,
): Promise<RawAnswer> {
  const path = `/webhook/in/hook${query === '' ? '' : `?${query}`}`;
  const type = body === undefined ? {} : { 'Content-Type': 'application/json' };
  return rawRequest({ port: relay.port }, method, path, { ...type, ...headers }, body);
}
