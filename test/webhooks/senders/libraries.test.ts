/**
 * The senders' own libraries against our presets, both ways: incoming webhooks take what they sign,
 * and they take what outgoing webhooks sign. Those that only verify also take what the signers of
 * our tests sign. They are no dependency of ours: `node .ci/senders.mjs` installs them aside and
 * names their folder.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { generateKeyPairSync } from 'node:crypto';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { startHttpTarget } from '../../support/http-target.ts';
import { startRelayFor, type Headers } from '../relay.ts';
import { hmacKey, type Sent } from '../../support/senders/signer.ts';
import { sendAs, senderOf } from '../../support/senders/table.ts';
import { turnsUntil } from '../../support/turns.ts';

const FOLDER = process.env['SENDERS_FOLDER'];
const skip = FOLDER === undefined && 'run `node .ci/senders.mjs`';
const require = createRequire(join(FOLDER ?? import.meta.dirname, 'package.json'));
const BODY = '{"id":"evt_1","type":"a","note":"Wörld ☃ <&>"}';
const WHSEC = `whsec_${Buffer.from('thirty-two bytes of a secret key').toString('base64')}`;
const nowS = (): number => Math.floor(Date.now() / 1000);

/** As an import of it would; what it holds is the library's own affair. */
function load(name: string) {
  return import(pathToFileURL(pathOf(name)).href);
}

function pathOf(name: string): string {
  try {
    return require.resolve(name);
  } catch {
    // It has nothing for `require`.
    const folder = join(FOLDER ?? '', 'node_modules', name);
    const { exports } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    return join(folder, exports['.'].node.import);
  }
}

type Signing = {
  readonly preset: string; readonly secret: string; readonly settings?: object;
  readonly body?: string; readonly type?: string;
  readonly sign: () => Promise<Readonly<Record<string, string>>>;
};

const PARAMS = { From: '+14158675309', Body: 'a b&c=é', AccountSid: 'AC1' };
const URL = 'https://hooks.example.com/in?a=1';

const SIGNING: readonly Signing[] = [
  {
    preset: 'stripe', secret: WHSEC,
    async sign() {
      const { default: Stripe } = await load('stripe');
      const { webhooks } = new Stripe('sk_test_1');
      return {
        'Stripe-Signature': webhooks.generateTestHeaderString({ payload: BODY, secret: WHSEC }),
      };
    },
  },
  {
    preset: 'github', secret: 'a sécret',
    async sign() {
      const { sign } = await load('@octokit/webhooks-methods');
      return { 'X-Hub-Signature-256': await sign('a sécret', BODY) };
    },
  },
  ...(['standard', 'svix'] as const).map((preset) => ({
    preset, secret: WHSEC,
    async sign() {
      const { Webhook } = await load(preset === 'svix' ? 'svix' : 'standardwebhooks');
      const prefix = preset === 'svix' ? 'svix' : 'webhook';
      const at = new Date();
      return {
        [`${prefix}-id`]: 'msg_1', [`${prefix}-timestamp`]: String(Math.floor(+at / 1000)),
        [`${prefix}-signature`]: new Webhook(WHSEC).sign('msg_1', at, BODY),
      };
    },
  })),
  {
    preset: 'twilio', secret: 'auth-token', settings: { url: URL },
    body: new URLSearchParams(PARAMS).toString(), type: 'application/x-www-form-urlencoded',
    async sign() {
      const { default: twilio } = await load('twilio');
      return {
        'X-Twilio-Signature': twilio.getExpectedTwilioSignature('auth-token', URL, PARAMS),
      };
    },
  },
];

for (const { preset, secret, settings, body = BODY, type = 'application/json', sign } of SIGNING) {
  test(`takes what the library of ${preset} signs`, { skip }, async (context) => {
    const relay = await startRelayFor(context);
    await relay.hook({ actionType: 'log' }, { secret, verification: { preset, ...settings } });
    const headers: Headers = { ...await sign(), 'Content-Type': type };
    const post = async (text: string): Promise<number> =>
      (await relay.ask('POST', '/webhook/in/hook', text, headers)).status;
    assert.equal(await post(body), 200);
    assert.equal(await post(body.replace('a', 'b')), 401);
  });
}

/** `url` is the address that is registered with the sender. */
type Verifying = (sent: Sent, secret: string, url: string) => Promise<boolean>;

async function isQuiet(run: () => unknown): Promise<boolean> {
  try {
    return await run() !== false;
  } catch {
    return false;
  }
}

const header = ({ headers }: Sent, name: string): string =>
  headers[name] ?? headers[name.toLowerCase()] ?? '';

const VERIFYING: Readonly<Record<string, Verifying>> = {
  async slack(sent, secret) {
    const { verifySlackRequest } = await load('@slack/bolt');
    return isQuiet(() => verifySlackRequest({
      signingSecret: secret, body: sent.body.toString(),
      headers: {
        'x-slack-signature': header(sent, 'X-Slack-Signature'),
        'x-slack-request-timestamp': Number(header(sent, 'X-Slack-Request-Timestamp')),
      },
    }));
  },
  async square(sent, secret, url) {
    const { WebhooksHelper } = await load('square');
    return isQuiet(() => WebhooksHelper.verifySignature({
      requestBody: sent.body.toString(), signatureKey: secret, notificationUrl: url,
      signatureHeader: header(sent, 'x-square-hmacsha256-signature'),
    }));
  },
  async sendgrid(sent, secret) {
    const { EventWebhook } = (await load('@sendgrid/eventwebhook'))['default'];
    const webhook = new EventWebhook();
    return isQuiet(() => webhook.verifySignature(webhook.convertPublicKeyToECDSA(secret),
      sent.body, header(sent, 'X-Twilio-Email-Event-Webhook-Signature'),
      header(sent, 'X-Twilio-Email-Event-Webhook-Timestamp')));
  },
  async discord(sent, secret) {
    const { verifyKey } = await load('discord-interactions');
    return isQuiet(() => verifyKey(sent.body, header(sent, 'X-Signature-Ed25519'),
      header(sent, 'X-Signature-Timestamp'), secret));
  },
  async linear(sent, secret) {
    const { LinearWebhookClient } = await load('@linear/sdk/webhooks');
    return isQuiet(() => new LinearWebhookClient(secret).verify(sent.body,
      header(sent, 'Linear-Signature'), nowS() * 1000));
  },
  async stripe(sent, secret) {
    const { default: Stripe } = await load('stripe');
    const { webhooks } = new Stripe('sk_test_1');
    return isQuiet(() => webhooks.constructEvent(sent.body, header(sent, 'Stripe-Signature'),
      secret));
  },
  async github(sent, secret) {
    const { verify } = await load('@octokit/webhooks-methods');
    return isQuiet(() => verify(secret, sent.body.toString(), header(sent, 'X-Hub-Signature-256')));
  },
};

for (const [preset, verify] of Object.entries(VERIFYING)) {
  test(`the library of ${preset} takes what our signer signs`, { skip }, async () => {
    const sender = senderOf(preset);
    const key = preset === 'slack' ? hmacKey('0123abcd') : sender.makeKey('library');
    const sent = sendAs(sender, key, { body: Buffer.from(BODY) });
    assert.equal(await verify(sent, key.secret, URL), true);
    const changed = Buffer.from(sent.body.toString().replace('evt', 'evy'));
    assert.equal(await verify({ ...sent, body: changed }, key.secret, URL), false);
    const other = preset === 'discord' ? senderOf(preset).makeKey('') : key;
    assert.ok(preset !== 'discord' || await verify(sent, other.secret, URL) === false);
  });
}

const makeEcdsaPem = (): string => generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
  .export({ format: 'pem', type: 'pkcs8' }).toString();

type Receiving = {
  readonly title: string; readonly preset: string; readonly secret: string;
  /** Gets the public key where the secret is a private one. */
  readonly verify: Verifying;
  /** The other members of the outgoing webhook. */
  readonly members?: object;
};

const verifiedBy = (preset: string): Verifying => {
  const verify = VERIFYING[preset];
  assert.ok(verify);
  return verify;
};

/** The library of Standard Webhooks, or Svix's own. */
const createStandardVerifying = (name: string, prefix: string): Verifying =>
  async (sent, secret) => {
    const { Webhook } = await load(name);
    const names = ['id', 'timestamp', 'signature'].map((part) => `${prefix}-${part}`);
    return isQuiet(() => void new Webhook(secret).verify(sent.body.toString(),
      Object.fromEntries(names.map((each) => [each, header(sent, each)]))));
  };

const RECEIVING: readonly Receiving[] = [
  ...['slack', 'square', 'stripe', 'github'].map((preset) =>
    ({ title: preset, preset, secret: 'a secret', verify: verifiedBy(preset) })),
  {
    title: 'sendgrid', preset: 'sendgrid', secret: makeEcdsaPem(), verify: verifiedBy('sendgrid'),
  },
  {
    title: 'discord', preset: 'discord', verify: verifiedBy('discord'),
    secret: `whsk_${Buffer.alloc(32, 'a seed').toString('base64')}`,
  },
  {
    title: 'standard', preset: 'standard', secret: WHSEC,
    verify: createStandardVerifying('standardwebhooks', 'webhook'),
  },
  {
    title: 'standard, an envelope', preset: 'standard', secret: WHSEC,
    members: { format: 'envelope' },
    async verify(sent, secret) {
      const verify = createStandardVerifying('standardwebhooks', 'webhook');
      const { type, data } = JSON.parse(sent.body.toString());
      return await verify(sent, secret, '') && type === 'hookshelf.send' && data.id === 'evt_1';
    },
  },
  {
    title: 'svix', preset: 'svix', secret: WHSEC,
    verify: createStandardVerifying('svix', 'svix'),
  },
  {
    title: 'twilio, JSON', preset: 'twilio', secret: 'auth-token',
    async verify(sent, secret, url) {
      const { default: twilio } = await load('twilio');
      return isQuiet(() => twilio.validateRequestWithBody(secret,
        header(sent, 'X-Twilio-Signature'), `${url.split('?')[0]}?${sent.query}`,
        sent.body.toString()));
    },
  },
  {
    title: 'twilio, a form', preset: 'twilio', secret: 'auth-token',
    members: {
      contentType: 'application/x-www-form-urlencoded',
      payloadTemplate: 'Body={{ note }}&From=%2B14158675309&AccountSid=AC1&Id={{ id }}',
    },
    async verify(sent, secret, url) {
      const { default: twilio } = await load('twilio');
      const fields = Object.fromEntries(new URLSearchParams(sent.body.toString()));
      return isQuiet(() => twilio.validateRequest(secret, header(sent, 'X-Twilio-Signature'), url,
        fields));
    },
  },
  {
    title: 'shopify', preset: 'shopify', secret: 'a secret',
    members: {
      headers: {
        'X-Shopify-Topic': 'orders/create', 'X-Shopify-Shop-Domain': 'a.myshopify.com',
        'X-Shopify-API-Version': '2026-10',
      },
    },
    async verify({ headers, body }, secret) {
      await load('@shopify/shopify-api/adapters/node');
      const { shopifyApi, ApiVersion, LogSeverity } = await load('@shopify/shopify-api');
      const shopify = shopifyApi({
        apiKey: 'a', apiSecretKey: secret, hostName: 'a.example.com', isEmbeddedApp: false,
        apiVersion: Object.values(ApiVersion)[0], logger: { level: LogSeverity.Error },
      });
      const { valid } = await shopify.webhooks.validate({
        rawBody: body.toString(), rawResponse: {},
        rawRequest: { headers, method: 'POST', url: '/' },
      });
      return valid;
    },
  },
];

for (const { title, preset, secret, verify, members } of RECEIVING) {
  const claim = `the library of ${title} takes what an outgoing webhook signs`;
  test(claim, { skip }, async (context) => {
    const relay = await startRelayFor(context);
    const target = await startHttpTarget();
    context.after(() => target.close());
    const targetUrl = `${target.url}/in?a=1`;
    const made = await relay.ask('POST', '/api/outgoing-webhooks', {
      targetUrl, secret, signing: { preset }, ...members,
    });
    assert.equal(made.status, 201, made.text);
    const { identifier, publicKey = secret } = made.json;
    await relay.ask('POST', `/api/outgoing-webhooks/${String(identifier)}/send`,
      `{"payload":${BODY}}`);
    const [received] = target.received;
    assert.ok(received);
    const sent: Sent = {
      headers: Object.fromEntries(Object.entries(received.headers).map(([name, value]) =>
        [name, String(value)])),
      query: received.url.split('?')[1] ?? '', body: received.body,
    };
    assert.equal(await verify(sent, String(publicKey), targetUrl), true);
    const changed = Buffer.from(sent.body.toString().replace('evt', 'evy'));
    assert.notDeepEqual(changed, sent.body);
    assert.equal(await verify({ ...sent, body: changed }, String(publicKey), targetUrl), false);
  });
}

type SentEvent = { readonly headers: Readonly<Record<string, unknown>>; readonly body: unknown };

test('the SDK of CloudEvents sends what the preset reads, in both modes', { skip },
  async (context) => {
    const { CloudEvent, HTTP } = await load('cloudevents');
    const relay = await startRelayFor(context);
    await relay.hook({ actionType: 'log' }, {
      secret: 'a-token', inbox: 'all', verification: { preset: 'cloudevents' },
    });
    const makeEvent = (id: string): unknown => new CloudEvent({
      id, source: '/a%20b', type: 'com.example.ü', subject: 'x y', data: { a: 'é' },
    });
    for (const [mode, messageOf] of [
      ['binary', HTTP.binary], ['structured', HTTP.structured],
    ] as const) {
      const { headers, body } = messageOf(makeEvent(mode)) as SentEvent;
      const sentHeaders = Object.fromEntries(Object.entries(headers)
        .map(([name, value]) => [name, String(value)]));
      const { status } = await relay.ask('POST', '/webhook/in/hook', Buffer.from(String(body)),
        { ...sentHeaders, Authorization: 'Bearer a-token' });
      assert.equal(status, 200, mode);
      const { text } = await relay.ask('GET', '/api/requests?limit=1');
      const [{ event, eventId }] = JSON.parse(text);
      assert.deepEqual([event, eventId],
        ['com.example.ü', JSON.stringify([mode === 'binary' ? '/a b' : '/a%20b', mode])], mode);
    }
  });

test('the SDK of CloudEvents reads what we send', { skip }, async (context) => {
  const { HTTP } = await load('cloudevents');
  const target = await startHttpTarget();
  context.after(() => target.close());
  const relay = await startRelayFor(context);
  const { status, text } = await relay.ask('POST', '/api/outgoing-webhooks', {
    targetUrl: target.url, format: 'cloudevents', triggerEvent: 'a.b',
  });
  assert.equal(status, 201, text);
  relay.webhooks.start();
  await relay.ask('POST', '/api/events', { name: 'a.b', payload: { a: 'é' } });
  await turnsUntil(() => target.received.length > 0);
  const [{ headers, body } = { headers: {}, body: Buffer.alloc(0) }] = target.received;
  const event = HTTP.toEvent({ headers, body: body.toString() });
  assert.equal(event.validate(), true);
  assert.deepEqual([event.specversion, event.source, event.data],
    ['1.0', 'urn:hookshelf', { a: 'é' }]);
  assert.match(event.id, /^[0-9a-f-]{36}$/);
  assert.equal(event.type, 'a.b');
});
