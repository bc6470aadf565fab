import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { after, before, test } from 'node:test';
import { someOf } from '../../support/long.ts';
import { curlMissing, runShell } from '../../support/shell.ts';
import { startRelay, type Headers, type Relay } from '../relay.ts';

const PLAIN = 'it\'s a planted "secret" $HOME `x` \\n';
const KEYS: Readonly<Record<string, string>> = {
  standard: 'whsec_cGxhbnRlZC1zZWNyZXQtb2YtYS1zZW5kZXI=', svix: PLAIN,
  gitlab: 'whsec_cGxhbnRlZC1zZWNyZXQtb2YtYS1zZW5kZXI=', bearer: 'planted-tök€n à',
  'gitlab-token': 'planted-tök€n à', okta: 'planted-tök€n à', cloudevents: 'planted-tök€n à',
  'microsoft-graph': `${PLAIN}à\\`,
  discord: 'd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a',
  sendgrid: pem('ec'), paypal: pem('rsa'),
};
const SETTINGS: Readonly<Record<string, object>> = {
  twilio: { url: 'https://a.example/in?x=1' }, square: { url: 'https://a.example/in' },
  trello: { url: 'https://a.example/in' },
  paypal: { webhookId: 'W' }, meta: { verifyToken: 'planted-token' },
  custom: {
    scheme: {
      algorithm: 'hmac-sha512', key: 'base64', content: 'v:{id}:{timestamp}:{body}',
      signature: { from: { header: 'X-Own' }, param: 's', encoding: 'base64' },
      timestamp: { param: 'at', unit: 'ms', tolerance: 60 }, id: { header: 'X-Id' },
    },
  },
};
const SECRETS = { ...KEYS, basic: `shop:${PLAIN}`, custom: 'cGxhbnRlZC1zZWNyZXQ=' };
const UNSIGNABLE = ['discord', 'sendgrid', 'paypal'];
/** Those that say nowhere what happened. */
const EVENTLESS = ['hookshelf', 'dropbox', 'x', 'asana', 'basic', 'bearer', 'custom'];
const NAMES = [
  'github', 'gitlab', 'gitlab-token', 'bitbucket', 'gitea', 'forgejo', 'gogs', 'linear', 'stripe',
  'shopify', 'paypal', 'square', 'paddle', 'slack', 'twilio', 'sendgrid', 'mailgun', 'zendesk',
  'discord', 'zoom', 'meta', 'dropbox', 'microsoft-graph', 'x', 'trello', 'asana', 'okta',
  'hookshelf', 'standard', 'svix', 'basic', 'bearer', 'cloudevents', 'custom',
];

function pem(type: 'ec' | 'rsa'): string {
  const { publicKey } = type === 'ec' ? generateKeyPairSync('ec', { namedCurve: 'P-256' })
    : generateKeyPairSync('rsa', { modulusLength: 2048 });
  return publicKey.export({ type: 'spki', format: 'pem' }).toString();
}

let relay: Relay;
before(async () => {
  relay = await startRelay();
  for (const name of NAMES) {
    const made = await relay.hook({ actionType: 'log' }, {
      pathSegment: name, secret: secretOf(name), allowedMethods: ['POST'],
      verification: { preset: name, ...SETTINGS[name] },
    });
    assert.equal(made.status, 201, `${name}: ${made.text}`);
  }
});
after(() => relay.close());

const secretOf = (name: string): string => new Map(Object.entries(SECRETS)).get(name) ?? PLAIN;

const canRun = { skip: curlMissing };

test('every preset is tried', async () => {
  const { text } = await relay.ask('GET', '/api/verification-presets');
  const names: readonly string[] = JSON.parse(text).map(({ name }: { name: string }) => name);
  assert.deepEqual([...names].sort(), [...NAMES].sort());
});

test('each sender that can be signed as has a curl call, without the secret', async () => {
  for (const name of NAMES) {
    const { json, text } = await relay.ask('GET', `/api/incoming-webhooks/${name}/examples`);
    assert.ok(!text.includes('planted'));
    const setup = json['setup'] as Readonly<Record<string, unknown>>;
    assert.equal(setup['canSign'], !UNSIGNABLE.includes(name), name);
    assert.equal(json['curl'] === null, UNSIGNABLE.includes(name), name);
  }
});

for (const name of someOf(NAMES.filter((one) => !UNSIGNABLE.includes(one)), 4)) {
  test(`the curl call signs as the sender would: ${name}`, canRun, async () => {
    const { json } = await relay.ask('GET', `/api/incoming-webhooks/${name}/examples`);
    // Twilio wants TwiML for an answer.
    assert.match((await runShell(String(json['curl']), secretOf(name))).stdout,
      name === 'twilio' ? /<Response><\/Response>/ : /"success":true/);
    assert.match((await runShell(String(json['curl']), `x${secretOf(name).slice(1)}`)).stdout,
      /Signature verification failed/);
  });
}

for (const name of NAMES) {
  test(`a sample is signed as the sender would: ${name}`, async () => {
    const path = `/api/incoming-webhooks/${name}/sample`;
    const plans: readonly { readonly event?: string; readonly payload?: object }[] = [
      {}, {}, { event: 'an-event' }, { payload: { a: 'ü' } },
      { event: 'an-event', payload: { a: 'ü', type: 'own' } },
    ];
    for (const plan of plans) {
      const { status, json } = await relay.control(path, plan);
      const text = JSON.stringify(json);
      if (UNSIGNABLE.includes(name)) return assert.match(text, /only the sender can sign/);
      if (EVENTLESS.includes(name) && plan.event !== undefined) {
        assert.deepEqual([status, /names no event/.test(text)], [409, true], text);
        continue;
      }
      assert.equal(status, 200, text);
      const { path: called, headers, body } = json;
      const answer = await relay.ask('POST', String(called),
        Buffer.from(String(body), 'base64'), lower(headers as Headers));
      assert.equal(answer.status, 200, `${JSON.stringify(plan)}: ${relay.logLines.at(-2)}`);
      assert.notEqual(answer.json['message'], 'Duplicate', JSON.stringify(plan));
      if (plan.event !== undefined) assert.equal(lastLogged().event, plan.event, text);
    }
  });
}

test('a time that stands in the body is what the sender has there', async () => {
  const timeOf = async (name: string, ...steps: readonly string[]): Promise<unknown> => {
    const { json } = await relay.control(`/api/incoming-webhooks/${name}/sample`,
      { payload: { a: 1 } });
    const body: unknown = JSON.parse(String(Buffer.from(String(json['body']), 'base64')));
    return steps.reduce<unknown>((value, step) =>
      (value as Readonly<Record<string, unknown>>)[step], body);
  };
  assert.equal(typeof await timeOf('linear', 'webhookTimestamp'), 'number');
  assert.equal(typeof await timeOf('mailgun', 'signature', 'timestamp'), 'string');
});

function lastLogged(): { readonly event: unknown } {
  const line = relay.logLines.findLast((one) => one.includes('"webhook received"'));
  return JSON.parse(line ?? '{}').context;
}

test('a payload for Microsoft Graph gets clientState where it lacks it', async () => {
  const secret = 'it\'s a planted "client state" \\ {id}';
  await relay.hook({ actionType: 'log' }, {
    pathSegment: 'graph', secret, verification: { preset: 'microsoft-graph' },
  });
  const send = async (plan: object): Promise<readonly [number, unknown]> => {
    const { json } = await relay.control('/api/incoming-webhooks/graph/sample', plan);
    const body = Buffer.from(String(json['body']), 'base64');
    const { status } = await relay.ask('POST', String(json['path']), body,
      lower(json['headers'] as Headers));
    return [status, JSON.parse(body.toString())];
  };
  const clientState = secret;
  assert.deepEqual(await send({ payload: { value: [{ id: 'a', b: 1 }, { id: 'c' }] } }),
    [200, { value: [{ id: 'a', b: 1, clientState }, { id: 'c', clientState }] }]);
  const [, made] = await send({ payload: { a: 1 } });
  const { id } = (made as { readonly value: readonly { readonly id: string }[] }).value[0] ?? {};
  assert.match(String(id), /^[0-9a-f-]{36}$/);
  assert.deepEqual(made, { a: 1, value: [{ clientState, id }] });
  assert.deepEqual(await send({ payload: { value: [{ id: 'a', clientState: 'other' }] } }),
    [401, { value: [{ id: 'a', clientState: 'other' }] }]);
  const [status, sample] = await send({ event: 'updated' });
  assert.deepEqual([status, (sample as { value: { changeType: string }[] }).value[0]?.changeType],
    [200, 'updated']);
});

const ASKING = ['slack', 'zoom', 'meta', 'dropbox', 'microsoft-graph', 'x', 'trello', 'asana',
  'okta'];

for (const name of ASKING) {
  test(`the handshake is asked as the sender would: ${name}`, async () => {
    const path = `/api/incoming-webhooks/${name}/sample`;
    const { json } = await relay.control(path, { handshake: true });
    const body = json['body'] === null ? undefined : Buffer.from(String(json['body']), 'base64');
    const answer = await relay.ask(String(json['method']), String(json['path']), body,
      lower(json['headers'] as Headers));
    assert.equal(answer.status, 200, answer.text);
    const bodies: Readonly<Record<string, RegExp>> = {
      x: /response_token/, trello: /^$/, asana: /^$/,
    };
    assert.match(answer.text, bodies[name] ?? /hookshelf-test/);
  });
}

const SIGNED_HANDSHAKES = [
  { from: { header: 'X-Token' }, value: { json: '0.code' } },
  { from: { query: 'token' }, value: { json: '0.code' } },
  { from: { json: 'token' }, value: { json: 'code' } },
  { from: { form: 'token' }, value: { form: 'code' } },
];
for (const { from, value } of SIGNED_HANDSHAKES) {
  test(`a signed handshake holds its signature in ${JSON.stringify(from)}`, async () => {
    const challenge = {
      method: 'POST', verify: 'signature', when: [{ from: { header: 'X-Type' }, equals: 'check' }],
      answer: { status: 200, type: 'text/plain', body: 'it is {value}', value },
    };
    const scheme = {
      algorithm: 'token', key: 'utf8', signature: { from, encoding: 'utf8' },
      challenge: [challenge],
    };
    const pathSegment = `asks-by-${Object.keys(from).join()}`;
    await relay.hook({ actionType: 'log' },
      { pathSegment, secret: 'a planted secret', verification: { preset: 'custom', scheme } });
    const { json } = await relay.control(`/api/incoming-webhooks/${pathSegment}/sample`,
      { handshake: true });
    const answer = await relay.ask('POST', String(json['path']),
      Buffer.from(String(json['body']), 'base64'), lower(json['headers'] as Headers));
    assert.deepEqual([answer.status, answer.text], [200, 'it is "hookshelf-test"']);
  });
}

test('a handshake that the sender does not know is refused', async () => {
  const answer = await relay.control('/api/incoming-webhooks/github/sample',
    { handshake: true });
  assert.equal(answer.status, 409);
  assert.match(String(answer.json['detail']), /GitHub asks nothing/);
});

function lower(headers: Headers): Headers {
  const framing = Object.entries(headers)
    .map(([name, value]) => [name.toLowerCase() === 'content-type' ? 'Content-Type' : name, value]);
  return Object.fromEntries(framing);
}
