/** Presets that belong to no one sender: our own, standards, and HTTP authentication. */
import { hubSignature, jsonSample, standardWebhooks, type Preset } from './preset.ts';
import { cloudEventsQuirk } from './quirks.ts';

const HELLO = '{"message":"Hello, World!"}';
const SAMPLE = jsonSample(HELLO);
const ANYWHERE = { url: 'where the sender asks for a URL', secret: 'where the sender asks for it' };

export const GENERIC: readonly Preset[] = [
  {
    name: 'hookshelf', sender: 'hookshelf',
    scheme: hubSignature('X-Signature'),
    setup: {
      url: '`outgoingwebhook:create --target-url` of the other hookshelf',
      secret: '`--secret-file` of the same command',
    },
    onFailure: 'as its setting outgoing.retrySchedule says',
    documentation: 'https://www.rfc-editor.org/rfc/rfc2104',
    newSecret: 'hex',
    sample: SAMPLE,
  },
  {
    name: 'standard', sender: 'Standard Webhooks',
    scheme: standardWebhooks('webhook'),
    setup: ANYWHERE,
    onFailure: 'advised: again and again for 3 days, with a new time each',
    documentation: 'https://github.com/standard-webhooks/standard-webhooks',
    newSecret: 'whsec',
    sample: jsonSample('{"type":"message.created","data":{"id":1}}'),
  },
  {
    name: 'svix', sender: 'Svix and who sends through it (Clerk, Resend, …)',
    scheme: standardWebhooks('svix'),
    setup: {
      url: 'the sender\'s page of webhooks, Add Endpoint, Endpoint URL',
      secret: 'the page of the endpoint: Signing Secret (begins with whsec_)',
    },
    onFailure: '7 more times in 28 hours; after 5 days of failures the endpoint is switched off',
    documentation: 'https://docs.svix.com/receiving/verifying-payloads/how-manual',
    sample: jsonSample('{"type":"message.created","data":{"id":1}}'),
  },
  {
    name: 'basic', sender: 'anyone who sends user and password (HTTP Basic)',
    scheme: {
      algorithm: 'token', key: 'utf8', content: '',
      signature: { from: { header: 'Authorization' }, prefix: 'Basic ', encoding: 'base64' },
    },
    setup: { ...ANYWHERE, secret: 'the secret is `user:password`' },
    documentation: 'https://www.rfc-editor.org/rfc/rfc7617',
    newSecret: 'user:password',
    sample: SAMPLE,
  },
  {
    name: 'bearer', sender: 'anyone who sends a token (HTTP Bearer)',
    scheme: {
      algorithm: 'token', key: 'utf8', content: '',
      signature: { from: { header: 'Authorization' }, prefix: 'Bearer ', encoding: 'utf8' },
    },
    setup: ANYWHERE,
    documentation: 'https://www.rfc-editor.org/rfc/rfc6750',
    newSecret: 'hex',
    sample: SAMPLE,
  },
  {
    name: 'cloudevents', sender: 'CloudEvents (Azure Event Grid, Knative, …)',
    scheme: {
      algorithm: 'token', key: 'utf8', content: '',
      // RFC 6750 §2.1 and §2.3: the token is in the header, or in the query without a prefix.
      signature: {
        from: [{ header: 'Authorization' }, { query: 'access_token' }],
        prefix: 'Bearer ', prefixOptional: true, encoding: 'utf8',
      },
      event: { cloudEvent: 'type' },
      dedupe: { cloudEvent: 'id' },
      // The handshake of "HTTP 1.1 Web Hooks for Event Delivery", section 4.
      challenge: [{
        method: 'OPTIONS',
        when: [{ from: { header: 'WebHook-Request-Origin' } }],
        verify: { from: { header: 'WebHook-Request-Origin' }, setting: 'origins' },
        answer: {
          status: 200, type: 'text/plain', body: '', headers: {
            'WebHook-Allowed-Origin': { header: 'WebHook-Request-Origin' },
            'WebHook-Allowed-Rate': '{ratePerMinute}', Allow: 'POST',
          },
        },
      }],
    },
    quirk: cloudEventsQuirk,
    setup: {
      url: 'where the sender asks for an endpoint; name its origin in verification.origins',
      secret: 'where the sender asks for a bearer token; or in the address: ?access_token=<token>',
    },
    documentation: 'https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/http-webhook.md',
    newSecret: 'hex',
    sample: jsonSample(HELLO, {
      'ce-specversion': '1.0', 'ce-id': '1', 'ce-source': 'urn:hookshelf:test',
      'ce-type': 'com.example.hello',
    }),
  },
  {
    name: 'custom', sender: 'anyone else: described by verification.scheme',
    scheme: null,
    setup: ANYWHERE,
    documentation: 'https://www.rfc-editor.org/rfc/rfc2104',
    sample: SAMPLE,
  },
];
