/** Presets of mail, telephone, chat and support services. */
import { JSON_TYPE, jsonSample, type Preset } from './preset.ts';
import { FORM_TYPE } from '../../../base/text/parse-form.ts';
import { twilioQuirk } from './quirks.ts';

/** TwiML that has Twilio do nothing: what it is to do, a webhook's own response says. */
const NO_INSTRUCTIONS = {
  status: 200, headers: { 'Content-Type': 'text/xml' },
  body: '<?xml version="1.0" encoding="UTF-8"?><Response></Response>',
};

export const MESSAGING: readonly Preset[] = [
  {
    name: 'slack', sender: 'Slack',
    scheme: {
      algorithm: 'hmac-sha256', key: 'utf8', content: 'v0:{timestamp}:{body}',
      signature: { from: { header: 'X-Slack-Signature' }, prefix: 'v0=', encoding: 'hex' },
      timestamp: { from: { header: 'X-Slack-Request-Timestamp' }, unit: 's', tolerance: 300 },
      id: { json: 'event_id' },
      dedupeSigned: true,
      event: [{ json: 'event.type' }, { json: 'type' }, { form: 'command' }],
      payload: { formField: 'payload' },
      retryWindow: 3600,
      ackWithin: 3,
      challenge: [{
        method: 'POST',
        when: [{ from: { json: 'type' }, equals: 'url_verification' }],
        verify: 'signature',
        answer: { status: 200, type: 'text/plain', body: { json: 'challenge' } },
      }],
    },
    setup: {
      url: 'api.slack.com/apps, the app, Event Subscriptions, Request URL',
      secret: 'the same app, Basic Information, App Credentials, Signing Secret',
    },
    onFailure: '3 more times: at once, after 1 minute and after 5',
    // A slash command shows the text to who typed it, and nothing where it is empty.
    responses: {
      accepted: {
        status: 200, headers: { 'Content-Type': 'text/plain; charset=utf-8' },
        body: '{{ message }}',
      },
    },
    documentation: 'https://docs.slack.dev/authentication/verifying-requests-from-slack',
    sample: jsonSample(
      '{"type":"event_callback","event_id":"Ev0PV52K25",'
        + '"event":{"type":"app_mention","text":"a book"}}'),
  },
  {
    name: 'twilio', sender: 'Twilio',
    scheme: {
      algorithm: 'hmac-sha1', key: 'utf8', content: '{url}{formSorted}',
      signature: { from: { header: 'X-Twilio-Signature' }, encoding: 'base64' },
      id: { header: 'I-Twilio-Idempotency-Token' },
      event: [{ form: 'EventType' }, { form: 'SmsStatus' }, { form: 'CallStatus' }],
      ackWithin: 15,
      needs: ['url'],
    },
    quirk: twilioQuirk,
    setup: {
      url: 'Console, the number or service, Configure, the webhook URL',
      secret: 'Console, Account Info: Auth Token',
    },
    onFailure: 'once more when it cannot connect; else as the fragment of the URL says',
    responses: { accepted: NO_INSTRUCTIONS, duplicate: NO_INSTRUCTIONS },
    documentation: 'https://www.twilio.com/docs/usage/webhooks/webhooks-security',
    sample: {
      body: 'Body=a+book&From=%2B14158675309&SmsStatus=received&To=%2B18005551212',
      contentType: FORM_TYPE,
      headers: { 'I-Twilio-Idempotency-Token': '2f7f4d3c-6b1a-4bdf-9b11-5d1d8a6d7a10' },
    },
  },
  {
    name: 'sendgrid', sender: 'SendGrid (Event Webhook)',
    scheme: {
      algorithm: 'ecdsa-p256', key: 'spki', content: '{timestamp}{body}',
      signature: {
        from: { header: 'X-Twilio-Email-Event-Webhook-Signature' }, encoding: 'base64',
      },
      timestamp: {
        from: { header: 'X-Twilio-Email-Event-Webhook-Timestamp' }, unit: 's', tolerance: null,
      },
      retryWindow: 24 * 3600,
    },
    setup: {
      url: 'Settings, Mail Settings, Event Webhooks, Post URL',
      secret: 'the same page, Signature Verification: the public Verification Key',
    },
    onFailure: 'again and again for 24 hours',
    documentation: 'https://www.twilio.com/docs/sendgrid/for-developers/tracking-events/'
      + 'getting-started-event-webhook-security-features',
    sample: jsonSample(
      '[{"email":"reader@example.com","event":"delivered","sg_event_id":"1"}]\r\n'),
  },
  {
    name: 'mailgun', sender: 'Mailgun',
    scheme: {
      algorithm: 'hmac-sha256', key: 'utf8', content: '{timestamp}{token}',
      signature: { from: { json: 'signature.signature' }, encoding: 'hex' },
      timestamp: { from: { json: 'signature.timestamp' }, unit: 's', tolerance: null },
      id: { json: 'signature.token' },
      dedupeSigned: true,
      event: { json: 'event-data.event' },
      retryWindow: 8 * 3600,
    },
    setup: {
      url: 'Sending, Webhooks, Add webhook, URL',
      secret: 'Sending, Webhooks: HTTP webhook signing key',
    },
    onFailure: 'again and again for 8 hours; 406 stops it',
    documentation: 'https://documentation.mailgun.com/docs/mailgun/user-manual/webhooks/'
      + 'securing-webhooks',
    sample: jsonSample(
      '{"signature":{"timestamp":"{timestamp}","token":"{id}","signature":"{signature}"},'
        + '"event-data":{"event":"delivered","recipient":"reader@example.com"}}'),
    unconfirmed: 'for how long it is sent again: its pages differ',
  },
  {
    name: 'zendesk', sender: 'Zendesk',
    scheme: {
      algorithm: 'hmac-sha256', key: 'utf8', content: '{timestamp}{body}',
      signature: { from: { header: 'X-Zendesk-Webhook-Signature' }, encoding: 'base64' },
      timestamp: {
        from: { header: 'X-Zendesk-Webhook-Signature-Timestamp' }, unit: 'iso', tolerance: null,
      },
      id: { header: 'X-Zendesk-Webhook-Invocation-Id' },
      event: { json: 'type' },
      ackWithin: 10,
    },
    setup: {
      url: 'Admin Center, Apps and integrations, Webhooks, Create webhook, Endpoint URL',
      secret: 'the page of the webhook: Reveal secret',
    },
    onFailure: 'again after some statuses; paused while most requests fail',
    documentation: 'https://developer.zendesk.com/documentation/webhooks/verifying/',
    sample: jsonSample(
      '{"type":"zen:event-type:ticket.created","detail":{"id":"1"}}',
      { 'X-Zendesk-Webhook-Invocation-Id': '01GNHZPNTYXXXXXXXXXXXXXXXX' }),
    unconfirmed: 'answer within 10 s',
  },
  {
    name: 'discord', sender: 'Discord',
    scheme: {
      algorithm: 'ed25519', key: 'hex', content: '{timestamp}{body}',
      signature: { from: { header: 'X-Signature-Ed25519' }, encoding: 'hex' },
      timestamp: { from: { header: 'X-Signature-Timestamp' }, unit: 's', tolerance: null },
      id: { json: 'id' },
      dedupeSigned: true,
      event: [{ json: 'event.type' }, { json: 'type' }],
      retryWindow: 600,
      ackWithin: 3,
      challenge: [{
        method: 'POST',
        when: [{ from: { json: 'type' }, equals: 1 }, { from: { json: 'event' }, equals: null }],
        verify: 'signature',
        answer: { status: 200, type: JSON_TYPE, body: '{"type":1}' },
      }, {
        method: 'POST',
        when: [{ from: { json: 'type' }, equals: 0 }],
        verify: 'signature',
        answer: { status: 204, type: JSON_TYPE, body: '' },
      }],
    },
    setup: {
      url: 'discord.com/developers, the application, General Information, Interactions Endpoint '
        + 'URL; for events: Webhooks, Endpoint',
      secret: 'the same page: Public Key',
    },
    onFailure: 'events for 10 minutes; interactions not',
    documentation: 'https://discord.com/developers/docs/interactions/overview',
    sample: jsonSample('{"id":"1","type":2,"data":{"name":"shelf"}}'),
  },
  {
    name: 'zoom', sender: 'Zoom',
    scheme: {
      algorithm: 'hmac-sha256', key: 'utf8', content: 'v0:{timestamp}:{body}',
      signature: { from: { header: 'x-zm-signature' }, prefix: 'v0=', encoding: 'hex' },
      timestamp: { from: { header: 'x-zm-request-timestamp' }, unit: 's', tolerance: 300 },
      event: { json: 'event' },
      retryWindow: 2 * 3600,
      ackWithin: 3,
      challenge: [{
        method: 'POST',
        when: [{ from: { json: 'event' }, equals: 'endpoint.url_validation' }],
        verify: 'signature',
        answer: {
          status: 200, type: JSON_TYPE,
          body: '{"plainToken":{value},"encryptedToken":"{hmac}"}',
          value: { json: 'payload.plainToken' }, hmac: 'hex',
        },
      }],
    },
    setup: {
      url: 'marketplace.zoom.us, the app, Features, Event Subscriptions, Event notification '
        + 'endpoint URL',
      secret: 'the same app, Features: Secret Token',
    },
    onFailure: '3 more times: after 5, 20 and 60 minutes',
    documentation: 'https://developers.zoom.us/docs/api/webhooks/',
    sample: jsonSample(
      '{"event":"meeting.started","event_ts":1700000000000,"payload":{"object":{"id":"1"}}}'),
  },
];
