/** Presets that belong to no one sender: our own, standards, and HTTP authentication. */
import type { Preset } from './preset.ts';
import { JSON_TYPE, hubSignature, standardWebhooks } from './preset.ts';

const HELLO = '{"message":"Hello, World!"}';
const SAMPLE = { body: HELLO, contentType: JSON_TYPE };
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
    sample: { body: '{"type":"message.created","data":{"id":1}}', contentType: JSON_TYPE },
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
    newSecret: null,
    sample: { body: '{"type":"message.created","data":{"id":1}}', contentType: JSON_TYPE },
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
    name: 'custom', sender: 'anyone else: described by verification.scheme',
    scheme: null,
    setup: ANYWHERE,
    documentation: 'https://www.rfc-editor.org/rfc/rfc2104',
    newSecret: null,
    sample: SAMPLE,
  },
];
