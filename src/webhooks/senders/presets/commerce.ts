/** Presets of payment services and shops. */
import { jsonSample, type Preset } from './preset.ts';

export const COMMERCE: readonly Preset[] = [
  {
    name: 'stripe', sender: 'Stripe',
    scheme: {
      // The secret is not decoded: its `whsec_` is a part of the key.
      algorithm: 'hmac-sha256', key: 'utf8', content: '{timestamp}.{body}',
      signature: {
        from: { header: 'Stripe-Signature' }, split: ',', param: 'v1', encoding: 'hex',
      },
      timestamp: { param: 't', unit: 's', tolerance: 300 },
      id: { json: 'id' },
      dedupeSigned: true,
      event: { json: 'type' },
      retryWindow: 3 * 24 * 3600,
      ackWithin: 20,
    },
    setup: {
      url: 'Dashboard, Developers, Webhooks, Add destination, Endpoint URL',
      secret: 'shown on the page of the endpoint: Signing secret (begins with whsec_)',
    },
    onFailure: 'again and again for 3 days, with a new time each',
    documentation: 'https://docs.stripe.com/webhooks/signature',
    sample: {
      body: '{"id":"evt_1","object":"event","type":"charge.succeeded",'
        + '"data":{"object":{"id":"ch_1","amount":1999}}}',
      contentType: 'application/json; charset=utf-8',
    },
    unconfirmed: 'answer within 20 s: Stripe states no limit',
  },
  {
    name: 'shopify', sender: 'Shopify',
    scheme: {
      algorithm: 'hmac-sha256', key: 'utf8', content: '{body}',
      signature: {
        from: [{ header: 'X-Shopify-Hmac-SHA256' }, { header: 'Shopify-Hmac-Sha256' }],
        encoding: 'base64',
      },
      id: [{ header: 'X-Shopify-Webhook-Id' }, { header: 'Shopify-Webhook-Id' }],
      event: [{ header: 'X-Shopify-Topic' }, { header: 'Shopify-Topic' }],
      retryWindow: 4 * 3600,
      ackWithin: 5,
    },
    setup: {
      url: 'admin, Settings, Notifications, Webhooks, Create webhook, URL',
      secret: 'shown below the list of webhooks; of an app: its client secret',
    },
    onFailure: '8 more times in 4 hours; then a subscription that was made over the API is removed',
    documentation: 'https://shopify.dev/docs/apps/build/webhooks/subscribe/https',
    sample: jsonSample('{"id":1,"email":"reader@example.com","total_price":"19.99"}', {
      'X-Shopify-Topic': 'orders/create',
      'X-Shopify-Webhook-Id': 'b54557e4-bdd9-4b37-8a5f-bf7d70bcd043',
    }),
  },
  {
    name: 'paypal', sender: 'PayPal',
    scheme: {
      algorithm: 'rsa-sha256', key: 'pem',
      content: '{id}|{timestamp}|{webhookId}|{bodyCrc32}',
      signature: { from: { header: 'PAYPAL-TRANSMISSION-SIG' }, encoding: 'base64' },
      timestamp: { from: { header: 'PAYPAL-TRANSMISSION-TIME' }, unit: 'iso', tolerance: null },
      id: { header: 'PAYPAL-TRANSMISSION-ID' },
      // Only a checksum covers the body, which can be forged.
      dedupe: { json: 'id' },
      event: { json: 'event_type' },
      retryWindow: 3 * 24 * 3600,
      needs: ['webhookId'],
    },
    signingObstacle: 'its receivers trust PayPal\'s certificate alone',
    setup: {
      url: 'Developer Dashboard, Apps & Credentials, the app, Add Webhook, Webhook URL',
      secret: 'the certificate behind PAYPAL-CERT-URL (https, below paypal.com), as PEM; the '
        + 'webhook ID stands in the list of webhooks',
    },
    onFailure: 'up to 25 more times in 3 days',
    documentation: 'https://developer.paypal.com/api/rest/webhooks/rest/',
    sample: jsonSample(
      '{"id":"WH-1","event_type":"PAYMENT.CAPTURE.COMPLETED","resource":{"id":"1"}}'),
  },
  {
    name: 'square', sender: 'Square',
    scheme: {
      algorithm: 'hmac-sha256', key: 'utf8', content: '{url}{body}',
      signature: { from: { header: 'x-square-hmacsha256-signature' }, encoding: 'base64' },
      id: { json: 'event_id' },
      dedupeSigned: true,
      event: { json: 'type' },
      retryWindow: 3 * 24 * 3600,
      ackWithin: 10,
      needs: ['url'],
    },
    setup: {
      url: 'Developer Console, the application, Webhooks, Subscriptions, Add subscription, URL',
      secret: 'the page of the subscription: Signature key',
    },
    onFailure: 'again and again for 24 hours',
    documentation: 'https://developer.squareup.com/docs/webhooks/step3validate',
    sample: jsonSample(
      '{"event_id":"6a8f5f28-54a1-4eb0-a98a-3111513fd4fc","type":"payment.created",'
        + '"data":{"type":"payment","id":"1"}}'),
    unconfirmed: 'answer within 10 s, for how long it is sent again: its pages differ',
  },
  {
    name: 'paddle', sender: 'Paddle Billing',
    scheme: {
      algorithm: 'hmac-sha256', key: 'utf8', content: '{timestamp}:{body}',
      signature: {
        from: { header: 'Paddle-Signature' }, split: ';', param: 'h1', encoding: 'hex',
      },
      timestamp: { param: 'ts', unit: 's', tolerance: 300 },
      id: { json: 'event_id' },
      dedupeSigned: true,
      event: { json: 'event_type' },
      retryWindow: 3 * 24 * 3600,
      ackWithin: 5,
    },
    setup: {
      url: 'Paddle, Developer Tools, Notifications, New destination, URL',
      secret: 'the page of the destination: Secret key (begins with pdl_ntfset_)',
    },
    onFailure: 'up to 60 more times in 3 days; of a sandbox 3 more times in 15 minutes',
    documentation: 'https://developer.paddle.com/webhooks/about/signature-verification',
    sample: jsonSample(
      '{"event_id":"evt_01hv8x2acma2gz7he8kg2s0hna","event_type":"transaction.completed",'
        + '"data":{"id":"txn_1"}}'),
    unconfirmed: 'the 300 s (its libraries allow 5), the sandbox\'s retries',
  },
];
