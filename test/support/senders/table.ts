/** A signer for each preset, some with two ways to send. */
import { createHash } from 'node:crypto';
import { bare, giteaForm, hub, standard, token, version0 } from './families.ts';
import {
  FORM_TYPE, JSON_TYPE, crc32, ecdsaKey, ed25519Key, hmacKey, join, row, rsaKey, textKey,
  type Key, type Sender, type Sent, type Wanted,
} from './signer.ts';

const REGISTERED = 'https://hooks.example.com/in?a=1';

export const SENDERS: readonly Sender[] = [
  hub('hookshelf', 'X-Signature'),
  hub('github', 'X-Hub-Signature-256'),
  hub('bitbucket', 'X-Hub-Signature'),
  hub('meta', 'X-Hub-Signature-256', { verifyToken: 'a verify token' }),
  bare('gitea', 'X-Gitea-Signature', 'hex'),
  giteaForm('gitea', 'X-Gitea-Signature'),
  bare('forgejo', 'X-Forgejo-Signature', 'hex'),
  giteaForm('forgejo', 'X-Forgejo-Signature'),
  bare('gogs', 'X-Gogs-Signature', 'hex'),
  giteaForm('gogs', 'X-Gogs-Signature'),
  bare('dropbox', 'X-Dropbox-Signature', 'hex'),
  bare('asana', 'X-Hook-Signature', 'hex'),
  bare('shopify', 'X-Shopify-Hmac-SHA256', 'base64'),
  { ...bare('shopify', 'Shopify-Hmac-Sha256', 'base64'), title: 'shopify, events' },
  bare('x', 'x-twitter-webhooks-signature', 'base64', 'sha256='),
  standard('standard', 'webhook'), standard('svix', 'svix'), standard('gitlab', 'webhook'),
  version0('slack', 'X-Slack-Signature', 'X-Slack-Request-Timestamp'),
  version0('zoom', 'x-zm-signature', 'x-zm-request-timestamp'),
  token('gitlab-token', 'X-Gitlab-Token', (secret) => secret),
  token('basic', 'Authorization', (secret) => `Basic ${Buffer.from(secret).toString('base64')}`),
  token('bearer', 'Authorization', (secret) => `Bearer ${secret}`),
  token('okta', 'Authorization', (secret) => secret),
  token('cloudevents', 'Authorization', (secret) => `Bearer ${secret}`,
    { 'ce-specversion': '1.0', 'ce-id': '1', 'ce-source': '/a', 'ce-type': 'a' }),
  row({
    preset: 'stripe', header: 'Stripe-Signature', between: ',v1=', tolerance: 300,
    makeKey: (seed) => hmacKey(`whsec_${seed}`),
    send: ({ sign: mac }, { body, atS, spell }) => ({
      query: '', body,
      headers: {
        ...JSON_TYPE,
        'Stripe-Signature':
          `t=${atS},v1=${spell(mac(join(`${atS}.`, body)).toString('hex'))},v0=${'0'.repeat(64)}`,
      },
    }),
  }),
  row({
    preset: 'twilio', title: 'twilio, form', header: 'X-Twilio-Signature', encoding: 'base64',
    settings: { url: REGISTERED }, makeKey: (seed) => hmacKey(`auth ${seed}`, 'sha1'),
    send: ({ sign: mac }, { body, spell }) => {
      const fields = { From: '+14158675309', Body: body.toString('latin1'), AccountSid: 'AC1' };
      const signed = `${REGISTERED}AccountSidAC1Body${fields.Body}From${fields.From}`;
      return {
        query: 'a=1', body: Buffer.from(new URLSearchParams(fields).toString()),
        headers: {
          ...FORM_TYPE, 'X-Twilio-Signature': spell(mac(Buffer.from(signed)).toString('base64')),
        },
      };
    },
  }),
  row({
    preset: 'twilio', title: 'twilio, JSON', header: 'X-Twilio-Signature', encoding: 'base64',
    settings: { url: REGISTERED }, makeKey: (seed) => hmacKey(`auth ${seed}`, 'sha1'),
    send: ({ sign: mac }, { body, spell }) => {
      const query = `a=1&bodySHA256=${createHash('sha256').update(body).digest('hex')}`;
      const signed = Buffer.from(`https://hooks.example.com/in?${query}`);
      return {
        query, body,
        headers: { ...JSON_TYPE, 'X-Twilio-Signature': spell(mac(signed).toString('base64')) },
      };
    },
  }),
  row({
    preset: 'square', header: 'x-square-hmacsha256-signature', encoding: 'base64',
    settings: { url: REGISTERED }, makeKey: textKey,
    send: ({ sign: mac }, { body, spell }) => ({
      query: '', body,
      headers: {
        ...JSON_TYPE, 'x-square-hmacsha256-signature':
          spell(mac(join(REGISTERED, body)).toString('base64')),
      },
    }),
  }),
  row({
    preset: 'trello', header: 'X-Trello-Webhook', encoding: 'base64',
    settings: { url: REGISTERED }, makeKey: (seed) => hmacKey(`oauth ${seed}`, 'sha1'),
    send: ({ sign: mac }, { body, spell }) => ({
      query: '', body,
      headers: {
        ...JSON_TYPE, 'X-Trello-Webhook': spell(mac(join(body, REGISTERED)).toString('base64')),
      },
    }),
  }),
  row({
    preset: 'paddle', header: 'Paddle-Signature', between: ';h1=', tolerance: 300,
    makeKey: (seed) => hmacKey(`pdl_ntfset_${seed}`),
    send: ({ sign: mac }, { body, atS, spell }) => ({
      query: '', body,
      headers: {
        ...JSON_TYPE,
        'Paddle-Signature': `ts=${atS};h1=${spell(mac(join(`${atS}:`, body)).toString('hex'))}`,
      },
    }),
  }),
  row({
    preset: 'zendesk', header: 'X-Zendesk-Webhook-Signature', encoding: 'base64',
    makeKey: textKey,
    send: ({ sign: mac }, { body, atS, spell }) => {
      const time = new Date(atS * 1000).toISOString().replace('.000Z', 'Z');
      return {
        query: '', body,
        headers: {
          ...JSON_TYPE, 'X-Zendesk-Webhook-Signature-Timestamp': time,
          'X-Zendesk-Webhook-Signature': spell(mac(join(time, body)).toString('base64')),
        },
      };
    },
  }),
  row({
    preset: 'linear', header: 'Linear-Signature', tolerance: 60, makeKey: textKey,
    send: ({ sign: mac }, { body, atS, spell }) => {
      const json = Buffer.from(
        JSON.stringify({ note: body.toString('latin1'), webhookTimestamp: atS * 1000 }));
      return {
        query: '', body: json,
        headers: { ...JSON_TYPE, 'Linear-Signature': spell(mac(json).toString('hex')) },
      };
    },
  }),
  row({
    preset: 'mailgun', coversBody: false, makeKey: textKey,
    send: ({ sign: mac }, { body, atS, spell }) => {
      const token = createHash('sha256').update(body).digest('hex').slice(0, 50);
      const signature = spell(mac(Buffer.from(`${atS}${token}`)).toString('hex'));
      return {
        query: '', headers: JSON_TYPE,
        body: Buffer.from(JSON.stringify({
          signature: { timestamp: String(atS), token, signature },
          'event-data': { note: body.toString('latin1') },
        })),
      };
    },
  }),
  row({
    preset: 'microsoft-graph', encoding: 'text', coversBody: false, makeKey: textKey,
    send: ({ secret }, { body, spell }) => ({
      query: '', headers: JSON_TYPE,
      body: Buffer.from(JSON.stringify({
        value: [
          { id: '1', clientState: secret, note: body.toString('latin1') },
          { id: '2', clientState: spell(secret) },
        ],
      })),
    }),
  }),
  row({
    preset: 'discord', header: 'X-Signature-Ed25519', makeKey: ed25519Key,
    send: ({ sign: own }, { body, atS, spell }) => ({
      query: '', body,
      headers: {
        ...JSON_TYPE, 'X-Signature-Timestamp': String(atS),
        'X-Signature-Ed25519': spell(own(join(String(atS), body)).toString('hex')),
      },
    }),
  }),
  row({
    preset: 'sendgrid', header: 'X-Twilio-Email-Event-Webhook-Signature', encoding: 'base64',
    makeKey: ecdsaKey,
    send: ({ sign: own }, { body, atS, spell }) => ({
      query: '', body,
      headers: {
        ...JSON_TYPE, 'X-Twilio-Email-Event-Webhook-Timestamp': String(atS),
        'X-Twilio-Email-Event-Webhook-Signature':
          spell(own(join(String(atS), body)).toString('base64')),
      },
    }),
  }),
  row({
    preset: 'paypal', header: 'PAYPAL-TRANSMISSION-SIG', encoding: 'base64', makeKey: rsaKey,
    settings: { webhookId: '8PT597110X687430LKGECATA' },
    send: ({ sign: own }, { body, atS, spell }) => {
      const time = new Date(atS * 1000).toISOString().replace('.000Z', 'Z');
      const signed = `tid-1|${time}|8PT597110X687430LKGECATA|${crc32(body)}`;
      return {
        query: '', body,
        headers: {
          ...JSON_TYPE, 'PAYPAL-TRANSMISSION-ID': 'tid-1', 'PAYPAL-TRANSMISSION-TIME': time,
          'PAYPAL-TRANSMISSION-SIG': spell(own(Buffer.from(signed)).toString('base64')),
        },
      };
    },
  }),
];

/** The first row of a preset. */
export function senderOf(preset: string): Sender {
  const found = SENDERS.find(({ verification }) => verification.preset === preset);
  if (found === undefined) throw new Error(`no signer of ${preset}`);
  return found;
}

/** A right request of `sender`. */
export function sendAs(
  sender: Sender, key: Key, wanted: Partial<Wanted> & { readonly body: Buffer },
): Sent {
  return sender.send(key, {
    atS: Math.floor(Date.now() / 1000), spell: (signature) => signature, ...wanted,
  });
}
