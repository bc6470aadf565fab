/** Deliveries in the dialects of senders, which our own verifier of the same preset must accept. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { PRESETS } from '../../../src/webhooks/senders/presets/preset-table.ts';
import { listSigningPresets } from '../../../src/webhooks/outgoing/signing-member.ts';
import { startHttpTarget, type HttpTarget } from '../../support/http-target.ts';
import { answer, startServer } from '../../support/servers.ts';
import { until } from '../../support/until.ts';
import { startRelayFor, type Answer, type Relay } from '../relay.ts';
import { ECDSA, RSA, SCHEMES, SECRETS, WHSK, scheme, type Scheme } from './signings.ts';

const REFUSED = ['mailgun', 'microsoft-graph', 'linear', 'paypal', 'custom'];

async function start(context: TestContext): Promise<Relay> {
  const relay = await startRelayFor(context);
  relay.webhooks.start();
  await relay.ask('POST', '/api/action-configurations', { identifier: 'log', actionType: 'log' });
  return relay;
}

async function create(relay: Relay, members: object): Promise<Answer & { readonly path: string }> {
  const made = await relay.ask('POST', '/api/outgoing-webhooks', {
    targetUrl: 'http://127.0.0.1:9/', ...members,
  });
  assert.equal(made.status, 201, made.text);
  return { ...made, path: `/api/outgoing-webhooks/${String(made.json['identifier'])}` };
}

/** The receiver: an incoming webhook of the relay itself. */
async function receive(relay: Relay, members: object): Promise<void> {
  const made = await relay.ask('POST', '/api/incoming-webhooks', {
    pathSegment: 'in', actionConfiguration: 'log', inbox: 'all', ...members,
  });
  assert.equal(made.status, 201, made.text);
}

type Received = {
  readonly event: string | null; readonly eventId: string | null;
  readonly headers: readonly (readonly [string, string])[]; readonly query: string;
};

async function findReceived(relay: Relay): Promise<Received> {
  const list = await relay.ask('GET', '/api/requests');
  const [first] = JSON.parse(list.text) as Received[];
  assert.ok(first, 'no request came');
  return first;
}

/** The delivery of a new event, once it was attempted. */
async function deliver(relay: Relay, name: string, payload: object): Promise<Answer['json']> {
  const emitted = await relay.ask('POST', '/api/events', { name, payload });
  const [id = ''] = emitted.json['deliveries'] as string[];
  let delivery: Answer['json'] = {};
  await until('the delivery was attempted', async () => {
    delivery = (await relay.ask('GET', `/api/deliveries/${id}`)).json;
    return (delivery['attempts'] as unknown[]).length > 0;
  });
  return delivery;
}

const PAYLOAD = { id: 7, text: '{id} {timestamp} {signature} W\u00f6rld' };

test('every preset can sign but those whose dialect cannot be spoken', () => {
  const others = PRESETS.map(({ name }) => name).filter((name) =>
    !listSigningPresets().includes(name));
  assert.deepEqual(others.sort(), [...REFUSED].sort());
});

for (const preset of listSigningPresets()) {
  test(`what is signed as ${preset} is verified as ${preset}`, async (context) => {
    const relay = await start(context);
    const targetUrl = `${relay.url}/webhook/in/in?a=b%20c`;
    const secret = SECRETS[preset] ?? 'a s\u00e9cret';
    const made = await create(relay, {
      targetUrl, signing: { preset }, secret: preset === 'bearer' ? 'token' : secret,
      triggerEvent: 'a.thing', ...preset === 'cloudevents' ? { format: 'cloudevents' } : {},
    });
    const { needs = [] } = PRESETS.find(({ name }) => name === preset)?.scheme ?? {};
    await receive(relay, {
      secret: made.json['publicKey'] ?? (preset === 'bearer' ? 'token' : secret),
      verification: {
        preset, ...needs.includes('url') ? { url: targetUrl } : {},
        ...needs.includes('verifyToken') ? { verifyToken: 'a' } : {},
      },
    });
    const delivery = await deliver(relay, 'a.thing', PAYLOAD);
    assert.equal(delivery['status'], 'delivered', JSON.stringify(delivery));
    const { event, eventId, headers } = await findReceived(relay);
    const { scheme: row } = PRESETS.find(({ name }) => name === preset) ?? {};
    const names = (sources: unknown): string[] => [sources].flat().flatMap((source) =>
      typeof source === 'object' && source !== null && 'header' in source
        ? [String(source.header).toLowerCase()] : []);
    if (names(row?.event).length > 0) assert.equal(event, 'a.thing');
    if (names(row?.id).length > 0) assert.equal(eventId, delivery['identifier']);
    // What is shown of the request is what came.
    const shown = (delivery['sent'] as { headers: [string, string][] }).headers;
    const came = new Map(headers.map(([name, value]) => [name.toLowerCase(), value]));
    for (const [name, value] of shown) {
      // The inbox hides by its name what is no secret here.
      const isHidden = value === '***' || name === 'i-twilio-idempotency-token';
      if (isHidden) assert.ok(came.has(name), name);
      else assert.equal(came.get(name), value, name);
    }
    for (const name of names([row?.id, row?.event, row?.timestamp?.from, row?.signature.from])) {
      if (came.has(name)) assert.ok(shown.some(([one]) => one === name), name);
    }
    assert.ok(!JSON.stringify(delivery).includes(secret), 'the secret is shown');
  });
}

for (const [title, ownScheme, secret] of SCHEMES) {
  test(`a scheme is signed as it is verified: ${title}`, async (context) => {
    const relay = await start(context);
    const made = await create(relay, {
      targetUrl: `${relay.url}/webhook/in/in`, signing: { scheme: ownScheme }, secret,
      triggerEvent: 'a.thing',
    });
    assert.deepEqual((made.json['signing'] as { scheme: { signature: unknown } }).scheme.signature,
      ownScheme['signature']);
    await receive(relay, {
      secret: made.json['publicKey'] ?? secret,
      verification: { preset: 'custom', scheme: ownScheme },
    });
    const delivery = await deliver(relay, 'a.thing', PAYLOAD);
    assert.equal(delivery['status'], 'delivered', JSON.stringify([delivery, relay.logLines]));
    assert.equal((await findReceived(relay)).eventId, delivery['identifier']);
    const { text: inbox } = await relay.ask('GET', '/api/requests');
    for (const text of [JSON.stringify(delivery), inbox, ...relay.logLines]) {
      assert.ok(!text.includes('planted'), text);
    }
  });
}

test('both secrets sign after a rotation where the dialect can hold two', async (context) => {
  const relay = await start(context);
  const target = await startTarget(context);
  const cases = [
    ['standard', 'webhook-signature', /^v1,\S+ v1,\S+$/],
    ['stripe', 'stripe-signature', /^t=\d+,v1=[0-9a-f]{64},v1=[0-9a-f]{64}$/],
    ['github', 'x-hub-signature-256', /^sha256=[0-9a-f]{64}$/],
    ['gitlab-token', 'x-gitlab-token', /^new$/],
  ] as const;
  for (const [preset, header, pattern] of cases) {
    const { path } = await create(relay, {
      targetUrl: target.url, secret: 'old', signing: { preset },
    });
    await relay.ask('POST', `${path}/rotate-secret`, { secret: 'new' });
    assert.equal((await relay.ask('POST', `${path}/send`, { payload: {} })).json['success'], true);
    assert.match(String(target.received.at(-1)?.headers[header]), pattern);
    await relay.ask('POST', `${path}/rotate-secret`, {
      secret: 'newer', force: true, overlapHours: 0,
    });
    await relay.ask('POST', `${path}/send`, { payload: {} });
    assert.doesNotMatch(String(target.received.at(-1)?.headers[header]), / |,v1=.*,v1=/);
  }
});

async function startTarget(context: TestContext): Promise<HttpTarget> {
  const target = await startHttpTarget();
  context.after(() => target.close());
  return target;
}

type Refusal = readonly [title: string, members: object, pointer: string, says: RegExp];

const signedAs = (preset: string | null, secret = 's'): object => ({ secret, signing: { preset } });
const schemed = (more: Scheme): object =>
  ({ secret: 's', signing: { scheme: scheme('hmac-sha256', 'utf8', more) } });
const signatureIn = (header: string, more: Scheme = {}): object =>
  schemed({ signature: { from: { header }, encoding: 'hex', ...more } });
const timeFrom = (from: object): Scheme => ({ timestamp: { from, unit: 's', tolerance: 60 } });
const key = (prefix: string, length: number): string =>
  `${prefix}_${Buffer.alloc(length).toString('base64')}`;
const WITH_USER = { targetUrl: 'http://me:planted@127.0.0.1:9/' };
const NO_KEY = '-----BEGIN PRIVATE KEY-----\nYWJj\n-----END PRIVATE KEY-----\n';

const REFUSALS: readonly Refusal[] = [
  ...['mailgun', 'microsoft-graph', 'linear', 'paypal'].map((preset): Refusal => [
    preset, signedAs(preset), '/signing/preset', new RegExp(`^${preset} cannot be signed as: `),
  ]),
  ['custom', signedAs('custom'), '/signing/preset', /^custom cannot be signed as: .*give a scheme/],
  ['an unknown preset', signedAs('githbu'), '/signing/preset', /is not a known preset.*github/],
  ['neither', { secret: 's', signing: {} }, '/signing', /one of preset and scheme/],
  ['both', { secret: 's', signing: { preset: 'github', scheme: scheme('hmac-sha256', 'utf8') } },
    '/signing', /one of preset and scheme/],
  ['null for a preset', signedAs(null), '/signing', /one of preset and scheme/],
  ...['X-Hookshelf-Chain', 'content-type'].map((header): Refusal => [
    `a signature in ${header}`, signatureIn(header), '/signing/scheme',
    /^cannot be signed: .* says something else/,
  ]),
  ['no secret', { signing: { preset: 'github' } }, '/secret', /is needed by signing/],
  ['no seed', signedAs('discord', 'abc'), '/secret', /must be whsk_ and the base64 of 32 bytes/],
  ['a seed that is too short', signedAs('standard', 'whsk_YWJj'), '/secret', /32 bytes.*64/],
  ['a pair whose halves do not fit', signedAs('standard', key('whsk', 64)), '/secret',
    /is not the seed's/],
  ['a public key', signedAs('standard', key('whpk', 32)), '/secret',
    /is a public key, which cannot sign/],
  ['no base64', signedAs('svix', 'whsec_?'), '/secret', /base64 after whsec_/],
  ['no PEM', signedAs('sendgrid', 'abc'), '/secret', /PKCS#8 PEM.*openssl pkcs8/],
  ['a PEM that holds no key', signedAs('sendgrid', NO_KEY), '/secret', /this one cannot be read/],
  ['a key of another algorithm', signedAs('sendgrid', RSA), '/secret', /is no key for ecdsa-p256/],
  ['a token that no header can hold', signedAs('gitlab-token', 'a\r\nX-B: c'), '/secret',
    /control characters/],
  ['a token with space at its end', signedAs('bearer', 'a '), '/secret', /no space at its ends/],
  ['a signature in the body', schemed({
    content: '{timestamp}', signature: { from: { json: 'sig' }, encoding: 'hex' },
  }), '/signing/scheme/signature/from', /its signature stands in the body/],
  ['a time in the body', schemed({
    timestamp: { from: { json: 'at' }, unit: 's', tolerance: null },
  }), '/signing/scheme/timestamp', /its timestamp stands in the body/],
  ['a signed id in the body', schemed({ id: { json: 'id' } }), '/signing/scheme/id',
    /its id stands/],
  ['an identifier of the sender', schemed({ content: '{webhookId}{body}', needs: ['webhookId'] }),
    '/signing/scheme/content', /\{webhookId\}/],
  ['a header of the connection', signatureIn('Host'), '/signing/scheme', /Host may not/],
  ...['Host', 'Content-Length', 'X-Hookshelf-Event'].map((header): Refusal => [
    `the event's name in ${header}`, schemed({ event: { header } }), '/signing/scheme',
    /^cannot be signed: /,
  ]),
  ...([
    [{ id: { header: 'x-acme-signature' } }, 'signature and id'],
    [timeFrom({ header: 'X-Acme-Signature' }), 'signature and timestamp'],
    [{ event: { header: 'X-Acme-Id' } }, 'id and event'],
    [{ id: { query: 'q' }, ...timeFrom({ query: 'q' }) }, 'timestamp and id'],
  ] as const).map(([more, values]): Refusal => [
    `one place for ${values}`, schemed(more), '/signing/scheme',
    new RegExp(`^cannot be signed: its ${values} would stand in one place`),
  ]),
  ...['basic', 'bearer'].flatMap((preset): Refusal[] => [
    [`${preset} beside a header of its own`,
      { ...signedAs(preset, 'a:b'), headers: { authorization: 'Bearer planted' } },
      '/signing', /^cannot stand beside Authorization in headers/],
    [`${preset} beside credentials in the URL`, { ...signedAs(preset, 'a:b'), ...WITH_USER },
      '/signing', /^cannot stand beside user and password in targetUrl/],
  ]),
  ["the event's name in place of credentials in the URL",
    { ...schemed({ event: { header: 'Authorization' } }), ...WITH_USER },
    '/signing', /^cannot stand beside user and password in targetUrl/],
  ['a prefix that no header can hold', signatureIn('X-A', { prefix: 'a\n' }), '/signing/scheme',
    /control/],
];

test('what cannot be signed is refused when it is saved, with its pointer', async (context) => {
  const relay = await start(context);
  for (const [title, members, pointer, says] of REFUSALS) {
    const { status, json, text } = await relay.ask('POST', '/api/outgoing-webhooks', {
      targetUrl: 'http://127.0.0.1:9/', ...members,
    });
    assert.equal(status, 422, `${title}: ${text}`);
    const errors = json['errors'] as { pointer: string; detail: string }[];
    const error = errors.find((one) => one.pointer === pointer);
    assert.ok(error, `${title}: ${text}`);
    assert.match(error.detail, says, title);
    assert.doesNotMatch(text, /BEGIN PRIVATE KEY-----\n/, title);
  }
});

test('a signing of any shape is refused, and is no error of ours', async (context) => {
  const relay = await start(context);
  const { path } = await create(relay, { secret: 'abc' });
  const shapes = [
    '', 0, true, [null], ['X'], { header: 5 }, { header: null }, { header: { toString: 1 } },
  ].map((from) => ({
    scheme: scheme('hmac-sha256', 'utf8', { signature: { from, encoding: 'hex' } }),
  }));
  const events = [5, 'X', [null], { header: 5 }].map((event) =>
    ({ scheme: scheme('hmac-sha256', 'utf8', { event }) }));
  const others = [{ preset: { toString: 1 } }, { preset: 5 }, 'github', []];
  for (const signing of [...shapes, ...events, ...others]) {
    const { status, text } = await relay.ask('PATCH', path, { signing });
    assert.equal(status, 422, JSON.stringify(signing) + text);
  }
});

test('a secret cannot be taken from what signs with it', async (context) => {
  const relay = await start(context);
  const { path } = await create(relay, { secret: 'abc', signing: { preset: 'github' } });
  const refused = await relay.ask('PATCH', path, { secret: null });
  assert.equal(refused.status, 422);
  assert.match(refused.text, /"\/secret".*is needed by signing/);
  const rotated = await relay.ask('PATCH', path, { signing: { preset: 'discord' } });
  assert.match(rotated.text, /"\/secret".*must be whsk_/);
  assert.equal((await relay.ask('PATCH', path, { signing: null, secret: null })).status, 200);
});

test('a secret that is sent is asked for anew when the target changes origin', async (context) => {
  const relay = await start(context);
  const target = await startTarget(context);
  const there = 'http://127.0.0.1:9/';
  const custom = { scheme: { ...SCHEMES.at(-1)?.[1] } };
  for (const [signing, isSent] of [
    [{ preset: 'gitlab-token' }, true], [{ preset: 'basic' }, true], [custom, true],
    [{ preset: 'github' }, false], [{ scheme: scheme('hmac-sha256', 'utf8') }, false],
  ] as const) {
    const members = { targetUrl: target.url, secret: 'planted:secret', signing };
    const { path } = await create(relay, members);
    const ask = async (method: string, body: object): Promise<number> => {
      const { status, text } = await relay.ask(method, path, body);
      if (status === 422) assert.match(text, /"\/secret".*must be given anew/);
      assert.doesNotMatch(text, /planted/);
      return status;
    };
    const expected = isSent ? 422 : 200;
    // The same origin keeps it.
    assert.equal(await ask('PATCH', { targetUrl: `${target.url}/here` }), 200);
    assert.equal(await ask('PUT', { targetUrl: target.url, signing }), 200);
    assert.equal(await ask('PATCH', { targetUrl: there, description: 'a' }), expected);
    assert.equal(await ask('PATCH', { targetUrl: target.url }), 200);
    assert.equal(await ask('PUT', { targetUrl: there, signing }), expected);
    assert.equal(await ask('PATCH', { targetUrl: target.url }), 200);
    assert.equal(await ask('PATCH', { targetUrl: there, secret: 'planted:secret' }), 200);
    assert.equal(await ask('PUT', { ...members, secret: '***' }), 422);
    // What has been kept still signs.
    assert.equal(await ask('PATCH', { targetUrl: target.url, secret: 'planted:other' }), 200);
    const sent = await relay.ask('POST', `${path}/send`, { payload: {} });
    assert.equal(sent.json['success'], true, sent.text);
  }
});

test('a secret that is sent is *** also where the target repeats it', async (context) => {
  const relay = await start(context);
  const target = await startServer({
    onRequest({ head, socket }) {
      socket.write(answer(200, head));
    },
  });
  context.after(() => target.close());
  const inQuery = {
    ...SCHEMES.at(-1)?.[1], signature: { from: { query: 'key' }, encoding: 'utf8' },
  };
  for (const signing of [
    { preset: 'gitlab-token' }, { preset: 'basic' }, { preset: 'bearer' }, { scheme: inQuery },
  ]) {
    const { path } = await create(relay, {
      targetUrl: target.url('/'), secret: 'planted:k\u00e9y', signing, triggerEvent: 'x',
    });
    const sent = await relay.ask('POST', `${path}/send`, { payload: {} });
    const delivery = JSON.stringify(await deliver(relay, 'x', {}));
    for (const text of [sent.text, delivery]) {
      assert.match(text, /\*\*\*/);
      assert.doesNotMatch(text, /planted|cGxhbnRlZDpr/);
    }
    await relay.ask('DELETE', path);
  }
});

test('the password of basic is *** where a target repeats it alone', async (context) => {
  const relay = await start(context);
  const target = await startServer({
    onRequest({ socket }) {
      socket.write(answer(200, '{"wrong":"planted:p\u00e4ss"}'));
    },
  });
  context.after(() => target.close());
  const { path } = await create(relay, {
    targetUrl: target.url('/'), secret: 'user:planted:p\u00e4ss', signing: { preset: 'basic' },
  });
  const { text } = await relay.ask('POST', `${path}/send`, { payload: {} });
  assert.match(text, /"wrong":"\*\*\*"/);
});

test('a webhook that begins to send its secret is asked for it, moved or not', async (context) => {
  const relay = await start(context);
  const { path } = await create(relay, { secret: 'abc', signing: { preset: 'github' } });
  const moved = { targetUrl: 'http://127.0.0.1:10/', signing: { preset: 'bearer' } };
  assert.equal((await relay.ask('PATCH', path, moved)).status, 422);
  // Nor after it has moved: the secret of a signature goes along.
  const { targetUrl, signing } = moved;
  assert.equal((await relay.ask('PATCH', path, { targetUrl })).status, 200);
  for (const [method, body] of [
    ['PATCH', { signing }], ['PUT', { targetUrl, signing }],
    ['PUT', { targetUrl, signing, secret: '***' }],
  ] as const) {
    const refused = await relay.ask(method, path, body);
    assert.equal(refused.status, 422, refused.text);
    assert.match(refused.text, /"\/secret".*must be given anew/);
  }
  assert.equal((await relay.ask('PATCH', path, { ...moved, secret: 'abc' })).status, 200);
  assert.equal((await relay.ask('PATCH', path, { description: 'x' })).status, 200);
});

test('a header that the signing sets cannot be configured', async (context) => {
  const relay = await start(context);
  const webhook = { targetUrl: 'http://a.example/', triggerEvent: 'a' };
  for (const [members, name] of [
    [{ secret: 'abc' }, 'Webhook-Id'],
    [{ secret: 'abc' }, 'webhook-timestamp'],
    [{ secret: 'abc' }, 'webhook-signature'],
    [{ secret: 'abc' }, 'X-Signature'],
    [{ secret: 'abc', signing: { preset: 'github' } }, 'X-GitHub-Delivery'],
    [{ secret: 'abc', signing: { preset: 'github' } }, 'x-hub-signature-256'],
  ] as const) {
    const body = { ...webhook, ...members, headers: { [name]: '1' } };
    const { status, text } = await relay.ask('POST', '/api/outgoing-webhooks', body);
    assert.equal(status, 422, text);
    assert.ok(text.includes(`"pointer":"/headers/${name}","detail":"cannot be configured`), text);
  }
  const unsigned = { ...webhook, headers: { 'X-Signature': 'mine' } };
  assert.equal((await relay.ask('POST', '/api/outgoing-webhooks', unsigned)).status, 201);
});

test('a configured header names the event', async (context) => {
  const relay = await start(context);
  const target = await startTarget(context);
  const { path } = await create(relay, {
    targetUrl: target.url, secret: 'abc', signing: { preset: 'github' },
    headers: { 'X-GitHub-Event': 'push', 'X-GitHub-Hook-ID': '7' },
  });
  await relay.ask('POST', `${path}/send`, {});
  const [received] = target.received;
  assert.ok(received);
  const { headers, rawHeaders } = received;
  assert.equal(headers['x-github-event'], 'push');
  assert.equal(headers['x-github-hook-id'], '7');
  assert.match(String(headers['x-hub-signature-256']), /^sha256=[0-9a-f]{64}$/);
  assert.match(String(headers['x-github-delivery']), /^[0-9a-f-]{36}$/);
  const names = rawHeaders.filter((_, index) => index % 2 === 0)
    .map((name) => name.toLowerCase());
  assert.equal(new Set(names).size, names.length, names.join());
  for (const name of ['x-signature', 'webhook-id', 'webhook-signature']) {
    assert.equal(headers[name], undefined, name);
  }
});

test('what is sent by hand has a name of its own for its event', async (context) => {
  const relay = await start(context);
  const target = await startTarget(context);
  const { path } = await create(relay, {
    targetUrl: target.url, secret: 'abc', signing: { preset: 'github' },
  });
  await relay.ask('POST', `${path}/send`, {});
  assert.equal(target.received[0]?.headers['x-github-event'], 'hookshelf.send');
});

test('a rotation claims no overlap where requests hold one signature', async (context) => {
  const relay = await start(context);
  for (const [preset, overlaps] of [
    ['standard', true], ['stripe', true], ['github', false], ['gitlab-token', false],
  ] as const) {
    const { path } = await create(relay, { secret: 'old', signing: { preset } });
    const rotated = await relay.ask('POST', `${path}/rotate-secret`, { secret: 'new' });
    assert.equal(rotated.status, 200, rotated.text);
    assert.equal(rotated.json['previousSecret'] !== undefined, overlaps, preset);
    const again = await relay.ask('POST', `${path}/rotate-secret`, { secret: 'newer' });
    assert.equal(again.status, overlaps ? 409 : 200, again.text);
  }
});

test('another signing ends an overlap if the old secret signs nothing more', async (context) => {
  const relay = await start(context);
  const cases = [
    [null, 'stripe', true], ['stripe', 'standard', true], ['stripe', 'github', false],
    [null, 'gitlab-token', false], ['stripe', null, true],
  ] as const;
  const toSigning = (preset: string | null) => preset === null ? null : { preset };
  for (const [before, after, overlaps] of cases) {
    const { path } = await create(relay, { secret: 'old', signing: toSigning(before) });
    const rotated = await relay.ask('POST', `${path}/rotate-secret`, { secret: 'new' });
    assert.notEqual(rotated.json['previousSecret'], undefined);
    const changed = await relay.ask('PATCH', path, {
      signing: toSigning(after), ...after === 'gitlab-token' ? { secret: 'new' } : {},
    });
    assert.equal(changed.status, 200, changed.text);
    assert.equal(changed.json['previousSecret'] !== undefined, overlaps, `${after}`);
    const again = await relay.ask('POST', `${path}/rotate-secret`, { secret: 'newer' });
    assert.equal(again.status, overlaps ? 409 : 200, again.text);
  }
});

test('a new secret has the form that the dialect needs', async (context) => {
  const relay = await start(context);
  for (const [preset, secret, form] of [
    ['github', 'abc', /^[0-9a-f]{64}$/], ['standard', 'abc', /^whsec_[\w+/]{43}=$/],
    ['standard', WHSK, /^whsk_[\w+/]{43}=$/], ['discord', WHSK, /^whsk_[\w+/]{43}=$/],
    ['basic', 'me:abc', /^me:[0-9a-f]{64}$/],
  ] as const) {
    const { json, path } = await create(relay, { secret, signing: { preset } });
    const rotated = await relay.ask('POST', `${path}/rotate-secret`);
    assert.match(String(rotated.json['secret']), form, preset);
    if (json['publicKey'] !== undefined) {
      assert.notEqual(rotated.json['publicKey'], json['publicKey']);
    }
    const refused = await relay.ask('POST', `${path}/rotate-secret`,
      { secret: 'whsec_?', force: true });
    assert.equal(refused.status, preset === 'github' ? 200 : 422, refused.text);
  }
  const { path } = await create(relay, { secret: ECDSA, signing: { preset: 'sendgrid' } });
  const { text } = await relay.ask('POST', `${path}/rotate-secret`);
  assert.match(text, /"\/secret".*openssl genpkey/);
});

test('a stored signing that cannot be used sends nothing, and says why', async (context) => {
  const relay = await start(context);
  for (const [preset, reason] of [
    ['newer', /this version knows no preset .*newer/], ['discord', /its secret must be whsk_/],
  ] as const) {
    const { json } = await create(relay, {
      secret: 'abc', signing: { preset: 'github' },
      triggerEvent: `a.${preset}`,
    });
    const id = String(json['identifier']);
    await relay.store.transact((transaction) => {
      const record = String(transaction.find('outgoing-webhooks', id));
      transaction.put('outgoing-webhooks', id, record.replace('"github"', `"${preset}"`));
    });
    const sent = await relay.ask('POST', `/api/outgoing-webhooks/${id}/send`, {});
    assert.match(sent.text, /Nothing was sent: /);
    assert.match(sent.text, reason);
    assert.match(JSON.stringify(await deliver(relay, `a.${preset}`, {})), reason);
  }
});

test('a token of OAuth 2 and one of a dialect are not the same header', async (context) => {
  const relay = await start(context);
  const oauth2 = { tokenUrl: 'http://127.0.0.1:9/token', clientId: 'a', clientSecret: 'b' };
  for (const [preset, status] of [
    ['bearer', 422], ['basic', 422], ['gitlab-token', 201],
  ] as const) {
    const { status: answered, text } = await relay.ask('POST', '/api/outgoing-webhooks', {
      targetUrl: 'http://127.0.0.1:9/', secret: 'a:b', signing: { preset }, oauth2,
    });
    assert.equal(answered, status, text);
    if (status === 422) assert.match(text, /"\/signing".*cannot stand beside oauth2/);
  }
});
