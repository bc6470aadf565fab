/**
 * Presets of code hosts and issue trackers. `ackWithin` and `retryWindow` are in seconds, as in a
 * custom scheme that a user sends; they stand only where the sender documents them. Of an array of
 * places (`id`, `event`, `signature.from`) the first that the request has counts.
 */
import { hubSignature, jsonSample, standardWebhooks, type Preset } from './preset.ts';
import { giteaQuirk } from './quirks.ts';

const PUSH = '{"ref":"refs/heads/main","repository":{"full_name":"octo/shelf"}}';

/** Gitea grew out of Gogs, and Forgejo out of Gitea: the names of their headers differ alone. */
function gitea(
  name: 'gogs' | 'gitea' | 'forgejo', title: string, documentation: string,
): Preset {
  const families = name === 'forgejo' ? ['Forgejo', 'Gitea'] : [title];
  const headers = (suffix: string): { header: string }[] =>
    families.map((family) => ({ header: `X-${family}-${suffix}` }));
  return {
    name, sender: title,
    scheme: {
      algorithm: 'hmac-sha256', key: 'utf8', content: '{body}',
      signature: { from: headers('Signature'), encoding: 'hex' },
      id: headers('Delivery'),
      event: headers('Event'),
      payload: { formField: 'payload' },
      ackWithin: 5,
    },
    quirk: giteaQuirk,
    setup: {
      url: `repository, Settings, Webhooks, Add Webhook (${title}), Target URL`,
      secret: 'the same form, Secret',
    },
    onFailure: 'not sent again by itself; by hand',
    documentation,
    newSecret: 'hex',
    sample: jsonSample(PUSH, {
      [`X-${title}-Event`]: 'push',
      [`X-${title}-Delivery`]: 'f6266f16-1bf3-46a5-9ea4-602e06ead473',
    }),
    unconfirmed: 'that nothing is sent again by itself',
  };
}

export const CODE_HOSTS: readonly Preset[] = [
  {
    name: 'github', sender: 'GitHub',
    scheme: {
      ...hubSignature('X-Hub-Signature-256'),
      id: { header: 'X-GitHub-Delivery' },
      event: { header: 'X-GitHub-Event' },
      payload: { formField: 'payload' },
      retryWindow: 3 * 24 * 3600,
      ackWithin: 10,
    },
    setup: {
      url: 'repository or organisation, Settings, Webhooks, Add webhook, Payload URL',
      secret: 'the same form, Secret',
    },
    onFailure: 'not sent again by itself; by hand for 3 days',
    documentation: 'https://docs.github.com/webhooks/using-webhooks/validating-webhook-deliveries',
    newSecret: 'hex',
    sample: jsonSample(
      '{"zen":"Keep it logically awesome.","hook_id":1}',
      { 'X-GitHub-Event': 'ping', 'X-GitHub-Delivery': '72d3162e-cc78-11e3-81ab-4c9367dc0958' }),
  },
  {
    name: 'gitlab', sender: 'GitLab 19 and later (signed)',
    scheme: {
      ...standardWebhooks('webhook'),
      event: [{ header: 'X-Gitlab-Event' }, { json: 'object_kind' }],
      ackWithin: 10,
    },
    setup: {
      url: 'project or group, Settings, Webhooks, Add new webhook, URL',
      secret: 'the same form, Signing token (begins with whsec_)',
    },
    onFailure: 'sent again under the same Idempotency-Key; a webhook that keeps failing is paused',
    documentation: 'https://docs.gitlab.com/user/project/integrations/webhooks/',
    newSecret: 'whsec',
    sample: jsonSample(
      '{"object_kind":"push","ref":"refs/heads/main"}',
      { 'X-Gitlab-Event': 'Push Hook' }),
  },
  {
    name: 'gitlab-token', sender: 'GitLab (secret token)',
    scheme: {
      // Nothing is signed: the header is the secret itself.
      algorithm: 'token', key: 'utf8', content: '',
      signature: { from: { header: 'X-Gitlab-Token' }, encoding: 'utf8' },
      id: [{ header: 'Idempotency-Key' }, { header: 'X-Gitlab-Event-UUID' }],
      event: [{ header: 'X-Gitlab-Event' }, { json: 'object_kind' }],
      ackWithin: 10,
    },
    setup: {
      url: 'project or group, Settings, Webhooks, Add new webhook, URL',
      secret: 'the same form, Secret token',
    },
    onFailure: 'sent again under the same Idempotency-Key; a webhook that keeps failing is paused',
    documentation: 'https://docs.gitlab.com/user/project/integrations/webhooks/',
    newSecret: 'hex',
    sample: jsonSample(
      '{"object_kind":"push","ref":"refs/heads/main"}',
      { 'X-Gitlab-Event': 'Push Hook', 'Idempotency-Key': 'f5e5f430-f57b-4e6e-9fac-d9128cd7232f' }),
  },
  {
    name: 'bitbucket', sender: 'Bitbucket',
    scheme: {
      ...hubSignature('X-Hub-Signature'),
      id: [{ header: 'X-Request-UUID' }, { header: 'X-Request-Id' }],
      event: { header: 'X-Event-Key' },
      ackWithin: 10,
    },
    setup: {
      url: 'repository, Repository settings, Webhooks, Add webhook, URL',
      secret: 'the same form, Secret',
    },
    onFailure: 'up to 2 more times, after a 5xx only',
    documentation: 'https://support.atlassian.com/bitbucket-cloud/docs/manage-webhooks/',
    newSecret: 'hex',
    sample: jsonSample(
      '{"push":{"changes":[]},"repository":{"full_name":"octo/shelf"}}',
      { 'X-Event-Key': 'repo:push', 'X-Request-UUID': '0d2c1d62-0d2c-4b9a-9b0e-6c5f0a7f6d11' }),
  },
  gitea('gitea', 'Gitea', 'https://docs.gitea.com/usage/webhooks'),
  gitea('forgejo', 'Forgejo', 'https://forgejo.org/docs/latest/user/webhooks/'),
  gitea('gogs', 'Gogs', 'https://github.com/gogs/gogs/blob/main/internal/database/webhook.go'),
  {
    name: 'linear', sender: 'Linear',
    scheme: {
      algorithm: 'hmac-sha256', key: 'utf8', content: '{body}',
      signature: { from: { header: 'Linear-Signature' }, encoding: 'hex' },
      // The time is a member of the body, which is signed.
      timestamp: { from: { json: 'webhookTimestamp' }, unit: 'ms', tolerance: 60 },
      id: { header: 'Linear-Delivery' },
      event: [{ header: 'Linear-Event' }, { json: 'type' }],
      retryWindow: 8 * 3600,
      ackWithin: 5,
    },
    setup: {
      url: 'Settings, API, Webhooks, New webhook, URL',
      secret: 'shown on the page of the webhook: Signing secret',
    },
    onFailure: '3 more times: after 1 minute, 1 hour and 6 hours; only 200 counts as success',
    documentation: 'https://linear.app/developers/webhooks',
    sample: jsonSample(
      '{"type":"Issue","action":"create","data":{"title":"A book"},'
        + '"webhookTimestamp":{timestamp}}',
      { 'Linear-Event': 'Issue', 'Linear-Delivery': '234d1a4e-b617-4388-90fe-adc3633d6b72' }),
  },
];

