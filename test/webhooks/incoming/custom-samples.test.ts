/** Samples and calls to copy of webhooks that bring a scheme of their own, and of odd methods. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { someOf } from '../../support/long.ts';
import { curlMissing, runShell } from '../../support/shell.ts';
import { startRelay, type Answer, type Headers, type Relay } from '../relay.ts';

const SECRET = 'it\'s a "planted" \\ $HOME {id} &=%+ü';
const TOKEN = { algorithm: 'token', key: 'utf8', content: '' };
const HMAC = { algorithm: 'hmac-sha256', key: 'utf8' };
const tokenIn = (from: object, more: object = {}): object =>
  ({ ...TOKEN, signature: { from, encoding: 'utf8', ...more } });
const form = (name: string): object => ({ form: name });

const SCHEMES: Readonly<Record<string, object>> = {
  'a token in a form': tokenIn({ form: 'the token' }),
  'a token in a query': tokenIn({ query: 'the token' }),
  'a token in JSON': tokenIn({ json: 'auth.token' }),
  'a token with a prefix in a form': tokenIn(form('t'), { prefix: 'Bearer ' }),
  'a token in base64 in a query': tokenIn({ query: 't' }, { encoding: 'base64' }),
  'a token in the JSON of a form':
    { ...tokenIn({ json: 'auth.0.token' }), payload: { formField: 'payload' } },
  'a token in JSON or in a form': tokenIn([{ json: 'token' }, form('token')]),
  'a token in a form or in JSON': tokenIn([form('token'), { json: 'token' }]),
  'a signature whose prefix may be left out': {
    ...HMAC, content: '{body}', signature: {
      from: { header: 'X-Sig' }, prefix: 'sha256=', prefixOptional: true, encoding: 'hex',
    },
  },
  'an HTTP date': {
    ...HMAC, content: '{body}{timestamp}',
    signature: { from: { header: 'X-Sig' }, encoding: 'hex' },
    timestamp: { from: { header: 'Date' }, unit: 'http-date', tolerance: 60 },
  },
  'a signature in a query':
    { ...HMAC, content: '{body}', signature: { from: { query: 'sig' }, encoding: 'base64' } },
  'a signature among pairs in a query': {
    ...HMAC, content: '{timestamp}.{body}', timestamp: { param: 't', unit: 's', tolerance: 60 },
    signature: { from: { query: 'sig' }, param: 'v1', encoding: 'hex' },
  },
  'all in a form': {
    ...HMAC, content: '{timestamp}{id}', id: form('id'), payload: 'form',
    timestamp: { from: form('at'), unit: 'iso', tolerance: 60 },
    signature: { from: form('sig'), prefix: 'v1=', encoding: 'base64' },
  },
  'all in a query': {
    ...HMAC, content: '{timestamp}{id}{body}', id: { query: 'id' },
    timestamp: { from: { query: 'at' }, unit: 'ms', tolerance: 60 },
    signature: { from: { query: 'sig' }, encoding: 'hex' },
  },
  'all in JSON': {
    ...HMAC, content: '{timestamp}{token}', id: { json: 'meta.id' },
    timestamp: { from: { json: 'meta.at' }, unit: 's', tolerance: 60 },
    signature: { from: { json: 'meta.sig' }, prefix: 'v1=', encoding: 'hex' },
  },
  'a sorted form':
    { ...HMAC, content: '{formSorted}', signature: { from: { header: 'X-Sig' }, encoding: 'hex' } },
  'time and id in JSON that is covered': {
    ...HMAC, content: '{timestamp}{id}{body}', id: { json: 'id' },
    timestamp: { from: { json: 'at' }, unit: 'ms', tolerance: 60 },
    signature: { from: { header: 'X-Sig' }, encoding: 'hex' },
  },
};

let relay: Relay;
before(async () => {
  relay = await startRelay();
  await relay.ask('POST', '/api/action-configurations', { identifier: 'log', actionType: 'log' });
});
after(() => relay.close());

let count = 0;
async function addWebhook(scheme: object, members: object = {}): Promise<string> {
  count += 1;
  const made = await relay.ask('POST', '/api/incoming-webhooks', {
    pathSegment: `custom-${count}`, actionConfiguration: 'log', secret: SECRET,
    verification: { preset: 'custom', scheme }, ...members,
  });
  assert.equal(made.status, 201, made.text);
  return `/api/incoming-webhooks/custom-${count}`;
}

/** What the webhook answers to the sample. */
async function sendSample(path: string, plan: object): Promise<Answer> {
  const made = await relay.control(`${path}/sample`, plan);
  assert.equal(made.status, 200, JSON.stringify(made.json));
  const { method, path: called, headers, body } = made.json;
  return relay.ask(String(method), String(called),
    body === null ? undefined : Buffer.from(String(body), 'base64'), headers as Headers);
}

function lastLogged(): { payload: Readonly<Record<string, unknown>>; context: { event: unknown } } {
  return JSON.parse(relay.logLines.findLast((one) => one.includes('"webhook received"')) ?? '{}');
}

async function curlOf(path: string): Promise<string> {
  const { json, text } = await relay.ask('GET', `${path}/examples`);
  assert.ok(!text.includes('planted'), text);
  assert.equal(json['curlObstacle'], null);
  return String(json['curl']);
}

const canRun = { skip: curlMissing };

for (const [what, scheme] of Object.entries(SCHEMES)) {
  test(`a sample has ${what}`, async () => {
    const event = { json: 'type' };
    const path = await addWebhook({ ...scheme, event });
    for (const plan of [{}, {}, { payload: { a: 'ü&=', n: 1 } }]) {
      const answer = await sendSample(path, plan);
      assert.equal(answer.status, 200, `${answer.text} ${relay.logLines.at(-1)}`);
      assert.notEqual(answer.json['message'], 'Duplicate');
    }
    assert.equal(lastLogged().payload['a'], 'ü&=');
  });

}

for (const [what, scheme] of someOf(Object.entries(SCHEMES), 4)) {
  test(`the curl call has ${what}`, canRun, async () => {
    const curl = await curlOf(await addWebhook(scheme));
    assert.match((await runShell(curl, SECRET)).stdout, /"success":true/, curl);
    const refused = await runShell(curl, `x${SECRET.slice(1)}`);
    assert.match(refused.stdout, /Signature verification failed/);
  });
}

test('a sample is refused an event that its header cannot hold', async () => {
  const scheme = { ...tokenIn({ query: 't' }), event: { header: 'X-Event' } };
  const path = await addWebhook(scheme);
  for (const event of ['a\0', 'a\r\nX-Other: b', '✓']) {
    const { status, json } = await relay.control(`${path}/sample`, { event });
    assert.deepEqual([status, json['detail']], [422,
      '/event: must be Latin-1 text without CR, LF and other control characters']);
  }
  assert.equal((await sendSample(path, { event: 'é' })).status, 200);
});

test('the event of a sample stands where the scheme looks for it', async () => {
  for (const place of ['query', 'form', 'json', 'header']) {
    const event = { [place]: 'what' };
    const path = await addWebhook({ ...tokenIn({ query: 't' }), event });
    assert.equal((await sendSample(path, { event: 'it happened' })).status, 200);
    assert.equal(lastLogged().context.event, 'it happened', JSON.stringify(event));
  }
});

test('what no sample can have is said instead', async () => {
  const covered = {
    ...HMAC, content: '{body}', signature: { from: { json: 'sig' }, encoding: 'hex' },
  };
  const mixed = {
    ...HMAC, content: '{timestamp}', timestamp: { from: form('at'), unit: 's', tolerance: 60 },
    signature: { from: { json: 'sig' }, encoding: 'hex' },
  };
  const inJson = tokenIn({ json: 'token' });
  const cases: readonly (readonly [object, object, object, RegExp])[] = [
    [covered, {}, {}, /the signature stands in the body that it covers/],
    [mixed, {}, {}, /looks into JSON and into a form/],
    [inJson, { allowedMethods: ['GET'] }, {}, /a GET request has no body, .* its signature/],
    [inJson, {}, { payload: [1] }, /must be a JSON object/],
    [tokenIn({ query: 't' }), { allowedMethods: ['GET'] }, { payload: {} },
      /a GET request has no body: leave the payload out/],
    [{ ...tokenIn({ query: 't' }), event: { json: 'type' } }, { allowedMethods: ['HEAD'] },
      { event: 'x' }, /leave the event out/],
  ];
  for (const [scheme, members, plan, reason] of cases) {
    const path = await addWebhook(scheme, members);
    const { status, json } = await relay.control(`${path}/sample`, plan);
    assert.equal(status, 409, JSON.stringify(json));
    assert.match(String(json['detail']), new RegExp(`cannot be tested: .*${reason.source}`));
    if (Object.keys(plan).length > 0) continue;
    const { json: examples } = await relay.ask('GET', `${path}/examples`);
    assert.equal(examples['curl'], null);
    assert.match(String(examples['curlObstacle']), reason);
  }
  const crc = { ...HMAC, content: '{bodyCrc32}',
    signature: { from: { header: 'X-Sig' }, encoding: 'hex' } };
  const path = await addWebhook(crc);
  assert.equal((await sendSample(path, {})).status, 200);
  const { json } = await relay.ask('GET', `${path}/examples`);
  assert.deepEqual([json['curl'], /CRC-32/.test(String(json['curlObstacle']))], [null, true]);
});

test('a webhook that takes no POST is called as it is to be called', canRun, async () => {
  for (const [preset, method] of [['github', 'GET'], ['shopify', 'DELETE'], ['bearer', 'HEAD']]) {
    const path = await addWebhook({}, {
      verification: { preset }, allowedMethods: [method], secret: 'planted-secret',
    });
    const { json } = await relay.control(`${path}/sample`, {});
    assert.deepEqual([json['method'], json['body'] === null], [method, method !== 'DELETE']);
    assert.equal((await sendSample(path, {})).status, 200, `${preset} ${method}`);
    const curl = await curlOf(path);
    const wanted = method === 'HEAD' ? /^HTTP\/1\.1 200/ : /"success":true/;
    assert.match((await runShell(curl, 'planted-secret')).stdout, wanted, curl);
    const { stdout, stderr } = await runShell(curl, 'another');
    assert.doesNotMatch(stdout + stderr, wanted);
  }
});
