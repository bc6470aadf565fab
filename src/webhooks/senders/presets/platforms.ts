/**
 * Presets of all other platforms; those up to now begin with a handshake. See code-hosts.ts for the
 * seconds.
 */
import { JSON_TYPE, hubSignature, jsonSample, type Preset } from './preset.ts';

export const PLATFORMS: readonly Preset[] = [
  {
    name: 'meta', sender: 'Meta (Facebook, Instagram, WhatsApp)',
    scheme: {
      ...hubSignature('X-Hub-Signature-256'),
      event: { json: 'object' },
      retryWindow: 36 * 3600,
      challenge: [{
        method: 'GET',
        when: [{ from: { query: 'hub.mode' }, equals: 'subscribe' }],
        verify: { from: { query: 'hub.verify_token' }, setting: 'verifyToken' },
        answer: { status: 200, type: 'text/plain', body: { query: 'hub.challenge' } },
      }],
      needs: ['verifyToken'],
    },
    setup: {
      url: 'developers.facebook.com, the app, Webhooks, Callback URL, with the Verify token',
      secret: 'the same app, App settings, Basic: App secret',
    },
    onFailure: 'again and again for 36 hours',
    documentation: 'https://developers.facebook.com/docs/graph-api/webhooks/getting-started',
    sample: jsonSample('{"object":"page","entry":[{"id":"1","time":1700000000}]}'),
    unconfirmed: 'for how long it is sent again',
  },
  {
    name: 'dropbox', sender: 'Dropbox',
    scheme: {
      algorithm: 'hmac-sha256', key: 'utf8', content: '{body}',
      signature: { from: { header: 'X-Dropbox-Signature' }, encoding: 'hex' },
      ackWithin: 10,
      challenge: [{
        method: 'GET',
        when: [{ from: { query: 'challenge' } }],
        answer: { status: 200, type: 'text/plain', body: { query: 'challenge' } },
      }],
    },
    setup: {
      url: 'dropbox.com/developers/apps, the app, Settings, Webhooks, Webhook URIs',
      secret: 'the same page: App secret',
    },
    onFailure: 'again and again for about 10 minutes',
    documentation: 'https://www.dropbox.com/developers/reference/webhooks',
    sample: jsonSample('{"list_folder":{"accounts":["dbid:AAH4f99T0taONIb-OurWxbNQ6ywGRopQngc"]}}'),
  },
  {
    name: 'microsoft-graph', sender: 'Microsoft Graph',
    scheme: {
      algorithm: 'token', key: 'utf8', content: '',
      signature: { from: { json: 'value[].clientState' }, encoding: 'utf8' },
      id: { json: 'value.0.id' },
      event: { json: 'value.0.changeType' },
      retryWindow: 4 * 3600,
      ackWithin: 10,
      challenge: [{
        method: 'POST',
        when: [{ from: { query: 'validationToken' } }],
        answer: { status: 200, type: 'text/plain', body: { query: 'validationToken' } },
      }],
    },
    setup: {
      url: 'POST /v1.0/subscriptions, notificationUrl',
      secret: 'the same call: clientState',
    },
    onFailure: 'again and again for 4 hours',
    documentation: 'https://learn.microsoft.com/graph/change-notifications-delivery-webhooks',
    newSecret: 'hex',
    sample: jsonSample(
      '{"value":[{"id":"1","changeType":"created","clientState":"{signature}",'
        + '"resource":"me/messages/1"}]}'),
  },
  {
    name: 'x', sender: 'X (Account Activity)',
    scheme: {
      algorithm: 'hmac-sha256', key: 'utf8', content: '{body}',
      signature: {
        from: { header: 'x-twitter-webhooks-signature' }, prefix: 'sha256=', encoding: 'base64',
      },
      ackWithin: 3,
      challenge: [{
        method: 'GET',
        when: [{ from: { query: 'crc_token' } }],
        answer: {
          status: 200, type: JSON_TYPE, body: '{"response_token":"sha256={hmac}"}',
          value: { query: 'crc_token' }, hmac: 'base64',
        },
      }],
    },
    setup: {
      url: 'POST /2/webhooks, url',
      secret: 'developer.x.com, the project\'s app, Keys and tokens: API key secret',
    },
    documentation: 'https://docs.x.com/x-api/webhooks/introduction',
    sample: jsonSample('{"for_user_id":"1","tweet_create_events":[{"id_str":"1"}]}'),
  },
  {
    name: 'trello', sender: 'Trello',
    scheme: {
      algorithm: 'hmac-sha1', key: 'utf8', content: '{body}{url}',
      signature: { from: { header: 'X-Trello-Webhook' }, encoding: 'base64' },
      id: { json: 'action.id' },
      dedupeSigned: true,
      event: { json: 'action.type' },
      challenge: [{
        method: 'HEAD', when: [], answer: { status: 200, type: 'text/plain', body: '' },
      }],
      needs: ['url'],
    },
    setup: {
      url: 'POST /1/webhooks, callbackURL',
      secret: 'trello.com/power-ups/admin, the Power-Up, API key: Secret',
    },
    onFailure: '3 more times: after 30, 60 and 120 seconds',
    documentation: 'https://developer.atlassian.com/cloud/trello/guides/rest-api/webhooks/',
    sample: jsonSample(
      '{"action":{"id":"51f9424bcd6e040f3c002412","type":"updateCard"},'
        + '"model":{"id":"4d5ea62fd76aa1136000000c"}}'),
    unconfirmed: 'how often it is sent again',
  },
  {
    name: 'asana', sender: 'Asana',
    scheme: {
      algorithm: 'hmac-sha256', key: 'utf8', content: '{body}',
      signature: { from: { header: 'X-Hook-Signature' }, encoding: 'hex' },
      retryWindow: 24 * 3600,
      ackWithin: 10,
      challenge: [{
        method: 'POST',
        when: [{ from: { header: 'X-Hook-Secret' } }],
        secret: { header: 'X-Hook-Secret' },
        answer: {
          status: 200, type: 'text/plain', body: '',
          headers: { 'X-Hook-Secret': { header: 'X-Hook-Secret' } },
        },
      }],
    },
    setup: {
      url: 'POST /api/1.0/webhooks, target',
      secret: 'the handshake, once `incomingwebhook:await-secret` has asked for it',
    },
    onFailure: 'again and again for 24 hours',
    documentation: 'https://developers.asana.com/docs/webhooks-guide',
    sample: jsonSample(
      '{"events":[{"action":"changed","resource":{"gid":"1","resource_type":"task"},'
        + '"created_at":"2024-01-01T00:00:00.000Z"}]}'),
  },
  {
    name: 'okta', sender: 'Okta (event hooks)',
    scheme: {
      algorithm: 'token', key: 'utf8', content: '',
      signature: { from: { header: 'Authorization' }, encoding: 'utf8' },
      id: { json: 'eventId' },
      event: [{ json: 'data.events.0.eventType' }, { json: 'eventType' }],
      ackWithin: 3,
      challenge: [{
        method: 'GET',
        when: [{ from: { header: 'X-Okta-Verification-Challenge' } }],
        answer: {
          status: 200, type: JSON_TYPE, body: '{"verification":{value}}',
          value: { header: 'X-Okta-Verification-Challenge' },
        },
      }],
    },
    setup: {
      url: 'Admin Console, Workflow, Event Hooks, Create Event Hook, URL',
      secret: 'the same form, Authentication secret, with the Authentication field Authorization',
    },
    onFailure: 'once more',
    documentation: 'https://developer.okta.com/docs/concepts/event-hooks/',
    newSecret: 'hex',
    sample: jsonSample(
      '{"eventType":"com.okta.event_hook","eventId":"b5a188b9-5ece-4636-b041-482ffda96311",'
        + '"data":{"events":[{"eventType":"user.session.start"}]}}'),
    unconfirmed: 'answer within 3 s, how often it is sent again',
  },
];
