/** Deliveries with access tokens: how tokens are asked for, kept, renewed and never shown. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { closedPort, type Received } from '../../../support/servers.ts';
import { turnsUntil } from '../../../support/turns.ts';
import { assertRefused, startRelayFor, type Relay, type RelayOptions } from '../../relay.ts';
import {
  headerOf, respond, startProtectedTarget, startTokenServer, type TokenServer,
} from './token-server.ts';

const SECRET = 'planted secret:%';

type Place = {
  readonly relay: Relay; readonly tokenServer: TokenServer; readonly valid: Set<string>;
  readonly received: () => readonly Received[];
  /** The path of the webhook. */
  readonly path: string;
  deliver(): Promise<readonly Attempt[]>;
};

type Attempt = { readonly statusCode: number | null; readonly error: string | null };

async function open(
  context: TestContext, members: Readonly<Record<string, unknown>> = {},
  options: RelayOptions = {},
): Promise<Place> {
  const valid = new Set<string>();
  const tokenServer = await startTokenServer();
  const target = await startProtectedTarget(valid);
  const relay = await startRelayFor(context, {
    ...options, outgoing: { retrySchedule: [], ...options.outgoing },
  });
  context.after(() => Promise.all([tokenServer.close(), target.close()]));
  relay.webhooks.start();
  const added = await relay.ask('POST', '/api/outgoing-webhooks', {
    targetUrl: target.url('/in'), triggerEvent: 'x', ...members,
    oauth2: {
      tokenUrl: tokenServer.url, clientId: 'an id', clientSecret: SECRET,
      ...members['oauth2'] as object | undefined,
    },
  });
  assert.equal(added.status, 201, added.text);
  const deliver = async (): Promise<readonly Attempt[]> => {
    const { json } = await relay.ask('POST', '/api/events', { name: 'x', payload: {} });
    const [id = ''] = json['deliveries'] as readonly string[];
    return readAttempts(relay, id);
  };
  return {
    relay, tokenServer, valid, received: () => target.received, deliver,
    path: `/api/outgoing-webhooks/${String(added.json['identifier'])}`,
  };
}

/** The attempts of a delivery once it has ended. */
async function readAttempts(relay: Relay, id: string): Promise<readonly Attempt[]> {
  await turnsUntil(() => relay.webhooks.deliveries.totals().pending === 0);
  const { json, text } = await relay.ask('GET', `/api/deliveries/${id}`);
  assert.ok(!/planted/.test(text), text);
  return json['attempts'] as readonly Attempt[];
}

/** Takes each token as soon as it is given. */
function trustNewTokens({ tokenServer, valid }: Place): void {
  const push = tokenServer.tokens.push.bind(tokenServer.tokens);
  tokenServer.tokens.push = (...tokens) => {
    for (const token of tokens) valid.add(token);
    return push(...tokens);
  };
}

const AUTHENTICATIONS = [
  {
    title: 'in the header, each encoded as a form', oauth2: {},
    header: `Basic ${btoa('an+id:planted+secret%3A%25')}`,
    body: 'grant_type=client_credentials',
  },
  {
    title: 'in the body', header: undefined,
    oauth2: { clientAuthentication: 'body', scope: 'a b', audience: 'https://there/?x' },
    body: 'grant_type=client_credentials&scope=a+b&audience=https%3A%2F%2Fthere%2F%3Fx'
      + '&client_id=an+id&client_secret=planted+secret%3A%25',
  },
];
for (const { title, oauth2, header, body } of AUTHENTICATIONS) {
  test(`id and secret go ${title}`, async (context) => {
    const place = await open(context, { oauth2 });
    trustNewTokens(place);
    const [attempt] = await place.deliver();
    assert.equal(attempt?.statusCode, 200);
    const [asked] = place.tokenServer.server.received;
    assert.ok(asked !== undefined);
    assert.match(asked.head, /^POST \/token HTTP/);
    assert.equal(headerOf(asked, 'content-type'), 'application/x-www-form-urlencoded');
    assert.equal(headerOf(asked, 'accept'), 'application/json');
    assert.equal(headerOf(asked, 'authorization'), header);
    assert.equal(String(asked.body), body);
  });
}

test('one token is asked for, however many deliveries wait for it', async (context) => {
  const place = await open(context);
  trustNewTokens(place);
  const waiting: Received[] = [];
  place.tokenServer.plan.push((received) => waiting.push(received));
  const ids: string[] = [];
  for (let count = 0; count < 20; count += 1) {
    const { json } = await place.relay.ask('POST', '/api/events', { name: 'x', payload: {} });
    ids.push(...json['deliveries'] as readonly string[]);
  }
  await turnsUntil(() => waiting.length === 1);
  const [first] = waiting;
  assert.ok(first !== undefined);
  place.valid.add('slow');
  respond(first, 200, { access_token: 'slow', expires_in: 3600 });
  for (const id of ids) {
    const [attempt] = await readAttempts(place.relay, id);
    assert.equal(attempt?.statusCode, 200);
  }
  assert.equal(place.tokenServer.server.received.length, 1);
  assert.equal(place.received().length, 20);
});

test('a 401 is repeated at once with a new token, within one attempt', async (context) => {
  const place = await open(context, { secret: 'signing' });
  trustNewTokens(place);
  place.tokenServer.members = {};
  await place.deliver();
  await place.deliver();
  assert.equal(place.tokenServer.tokens.length, 1, 'without expires_in it is used until a 401');
  place.valid.clear();
  const attempts = await place.deliver();
  assert.deepEqual(attempts.map(({ statusCode }) => statusCode), [200]);
  assert.equal(place.tokenServer.tokens.length, 2);
  const [refused, repeated] = place.received().slice(-2);
  assert.ok(refused !== undefined && repeated !== undefined);
  assert.equal(headerOf(repeated, 'authorization'), `Bearer ${place.tokenServer.tokens[1]}`);
  for (const name of ['webhook-id', 'webhook-signature']) {
    assert.equal(headerOf(refused, name), headerOf(repeated, name));
  }
});

test('a target that refuses each token is asked twice in an attempt, not more', async (context) => {
  const place = await open(context);
  const attempts = await place.deliver();
  assert.deepEqual(attempts.map(({ statusCode, error }) => [statusCode, error]), [[401, null]]);
  assert.equal(place.received().length, 2);
  assert.equal(place.tokenServer.tokens.length, 2);
  const { json } = await place.relay.ask('POST', `${place.path}/send`);
  assert.equal(json['message'], 'The target answered 401');
});

test('the token is *** in what is shown of a delivery and of a send', async (context) => {
  const place = await open(context);
  trustNewTokens(place);
  const { json } = await place.relay.ask('POST', '/api/events', { name: 'x', payload: {} });
  const [id = ''] = json['deliveries'] as readonly string[];
  await readAttempts(place.relay, id);
  const shown = await place.relay.ask('GET', `/api/deliveries/${id}`);
  const { headers } = shown.json['sent'] as { readonly headers: readonly unknown[] };
  assert.ok(headers.some((pair) => JSON.stringify(pair) === '["authorization","***"]'));
  const sent = await place.relay.ask('POST', `${place.path}/send`);
  assert.deepEqual(sent.json['response'], { echo: 'Bearer ***', php: 'Bearer ***' });
  for (const text of [shown.text, sent.text, ...place.relay.logLines]) {
    assert.ok(!text.includes('planted'), text);
  }
});

test('a token goes with a foreign signature, both hidden, not with a token', async (context) => {
  const place = await open(context, { signing: { preset: 'github' }, secret: 'planted-key' });
  trustNewTokens(place);
  const { json } = await place.relay.ask('POST', '/api/events', { name: 'x', payload: {} });
  const [id = ''] = json['deliveries'] as readonly string[];
  const [attempt] = await readAttempts(place.relay, id);
  assert.equal(attempt?.statusCode, 200);
  const [request] = place.received();
  assert.ok(request !== undefined);
  assert.match(headerOf(request, 'x-hub-signature-256') ?? '', /^sha256=[0-9a-f]{64}$/);
  const shown = await place.relay.ask('GET', `/api/deliveries/${id}`);
  const { headers } = shown.json['sent'] as { readonly headers: readonly [string, string][] };
  const values = new Map(headers.map(([name, value]) => [name.toLowerCase(), value]));
  assert.deepEqual([values.get('authorization'), values.get('x-hub-signature-256')],
    ['***', '***']);
  assertRefused(await place.relay.ask('PATCH', place.path, {
    signing: { preset: 'bearer' }, secret: 'planted-key',
  }), '/signing');
});

const echo = (status: number, make: (received: Received) => unknown) =>
  (received: Received): void => respond(received, status, make(received));
const FAILURES: readonly [string, (received: Received) => void, string][] = [
  ['an error with a code', echo(401, () => ({
    error: 'invalid_client', error_description: `wrong: ${SECRET}`,
  })), 'the token server answered 401: invalid_client'],
  ['an error whose code repeats the request', echo(400, (received) => ({
    error: `${received.head} ${received.body}`,
  })), 'the token server answered 400'],
  ['a page that repeats the request', echo(500, (received) => `<h1>${received.head}</h1>`),
    'the token server answered 500'],
  ['a redirect', ({ socket }) => socket.write(
    'HTTP/1.1 307 Away\r\nLocation: /elsewhere\r\nContent-Length: 0\r\n\r\n'),
  'the token server answered 307, a redirect, which is not followed: tokenUrl must be the URL that '
    + 'it leads to'],
  ['no JSON', echo(200, () => '{"access_token": "planted'),
    "the token server's answer is not JSON"],
  ['no object', echo(200, () => '[]'), "the token server's answer is no JSON object"],
  ['no token', echo(200, () => ({})), "the token server's answer has no access_token"],
  ['a token with a line break', echo(200, () => ({ access_token: 'planted\r\nX: y' })),
    "the token server's answer has an access_token that no header can carry"],
  ['a token of another type', echo(200, () => ({ access_token: 'planted', token_type: 'mac' })),
    "the token server's answer has a token of another type than Bearer"],
  ['a type that is no text',
    echo(200, () => ({ access_token: 'planted', token_type: { toString: 1, valueOf: 1 } })),
    "the token server's answer has a token of another type than Bearer"],
  ['an answer that is too long', echo(200, () => ({ access_token: 't', pad: 'x'.repeat(65_536) })),
    "the token server's answer is longer than 64 KiB"],
  ['a cut connection', ({ socket }) => socket.destroy(),
    'the token server could not be reached: ECONNRESET'],
];
for (const [title, step, error] of FAILURES) {
  test(`${title} in place of a token fails the attempt, which says so`, async (context) => {
    const place = await open(context);
    place.tokenServer.plan.push(step, step);
    assert.deepEqual((await place.deliver()).map(({ statusCode, error }) => [statusCode, error]),
      [[null, error]]);
    assert.equal(place.received().length, 0);
    const { json } = await place.relay.ask('POST', `${place.path}/send`);
    assert.equal(json['message'], `Nothing was sent: ${error}`);
    for (const line of place.relay.logLines) assert.ok(!line.includes('planted'), line);
  });
}

test('a silent token server holds an attempt no longer than its time limit', async (context) => {
  const place = await open(context, { timeout: 0.1 });
  // One drips its answer, so that bytes keep coming.
  place.tokenServer.plan.push(() => {}, ({ socket }) => {
    socket.write('HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{');
  });
  for (const _ of place.tokenServer.plan.slice()) {
    const attempts = await place.deliver();
    assert.deepEqual(attempts.map(({ error }) => error),
      ['the token server gave no answer within 0.1 s']);
  }
});

test('a token server that is gone is named, and its answer asks for the wait', async (context) => {
  const port = await closedPort();
  const place = await open(context, { oauth2: { tokenUrl: `http://127.0.0.1:${port}/` } },
    { outgoing: { retrySchedule: [0.001] } });
  const attempts = await place.deliver();
  assert.deepEqual(attempts.map(({ error }) => error), Array.from({ length: 2 }, () =>
    'the token server could not be reached: ECONNREFUSED'));
});

test('after a 401 an attempt shows why there is no new token', async (context) => {
  const place = await open(context);
  place.tokenServer.plan.push(echo(200, () => ({ access_token: 'stale' })),
    echo(503, () => ({ error: 'temporarily_unavailable' })));
  const attempts = await place.deliver();
  assert.deepEqual(attempts.map(({ statusCode, error }) => [statusCode, error]),
    [[401, 'no new token: the token server answered 503: temporarily_unavailable']]);
});

test('a 401 for want of a new token is tried again, whatever retryOn says', async (context) => {
  const place = await open(context, { retryOn: ['5xx'], retrySchedule: [0.001, 0.001] });
  trustNewTokens(place);
  place.tokenServer.plan.push(echo(200, () => ({ access_token: 'stale' })),
    // The first may be a reused connection, of which the client does not ask why it was cut.
    ({ socket }) => socket.destroy(), ({ socket }) => socket.destroy());
  const attempts = await place.deliver();
  assert.deepEqual(attempts.map(({ statusCode }) => statusCode), [401, 200]);
  place.valid.clear();
  const { plan } = place.tokenServer;
  plan.push(echo(200, () => ({ access_token: 'stale' })));
  assert.deepEqual((await place.deliver()).map(({ statusCode }) => statusCode), [401]);
});

test('a token URL on the deny list is refused when it is saved', async (context) => {
  const place = await open(context, {}, { client: { denyAddresses: ['10.0.0.0/8'] } });
  assertRefused(await place.relay.ask('PATCH', place.path, {
    oauth2: { tokenUrl: 'http://10.0.0.1/', clientSecret: 'another' },
  }), '/oauth2/tokenUrl');
});

test('a change of the webhook begins with a new token', async (context) => {
  const place = await open(context);
  trustNewTokens(place);
  await place.deliver();
  await place.relay.ask('PATCH', place.path, { oauth2: { scope: 'more' } });
  await place.deliver();
  const bodies = place.tokenServer.server.received.map(({ body }) => String(body));
  assert.deepEqual(bodies, [
    'grant_type=client_credentials', 'grant_type=client_credentials&scope=more',
  ]);
});
