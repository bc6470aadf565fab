/** The responses that a webhook has of its own in place of our JSON. */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { after, before, test, type TestContext } from 'node:test';
import { prepareResponses } from
  '../../../src/webhooks/incoming/receiving/send-custom-response.ts';
import { until } from '../../support/until.ts';
import {
  assertRefused, startRelay, startRelayFor, startRelayWithHook, type Answer, type Relay,
} from '../relay.ts';
import { createActionClass } from '../context.ts';

/** Does as its payload says. */
const Obey = createActionClass('obey', (
  payload: { fail?: boolean; message?: string; data?: object; text?: string },
) => {
  const { fail = false, message = null, data = {} } = payload;
  // It may change what it gets.
  payload.text = 'changed';
  return { success: !fail, message, data };
});

const PATH = '/webhook/in/hook';
const NOSNIFF = 'nosniff';
let relay: Relay;
before(async () => {
  relay = await startRelay();
  await relay.ask('POST', '/api/action-configurations', { identifier: 'log', actionType: 'log' });
});
after(() => relay.close());

function startHook(t: TestContext, response: object, hook: object = {}): Promise<Relay> {
  return startRelayWithHook(t, { actionType: 'obey' }, { response, ...hook }, { actions: [Obey] });
}

const post = (one: Relay, body: unknown, headers = {}): Promise<Answer> =>
  one.ask('POST', PATH, body, headers);

const text = (body: string): object => ({ accepted: { status: 200, body } });
const xml = { 'Content-Type': 'text/xml' };

const REFUSED: readonly [string, object, string, RegExp][] = [
  ['a status of failure for what was accepted', { accepted: { status: 400 } },
    '/response/accepted/status', /200 to 299/],
  ['a redirection', { duplicate: { status: 302 } }, '/response/duplicate/status', /200 to 299/],
  ['a status of success for what failed', { failed: { status: 200 } }, '/response/failed/status',
    /400 to 599/],
  ['one for what is rejected', { rejected: { status: 204 } }, '/response/rejected/status',
    /400 to 599/],
  ['no status', { accepted: { body: 'a' } }, '/response/accepted/status', /is required/],
  ['a body of a 204', { accepted: { status: 204, body: 'a' } }, '/response/accepted/body',
    /a 204 has no body/],
  ['one for what is unmatched', { unmatched: { status: 199 } }, '/response/unmatched/status',
    /200 to 599/],
  ['a body of a 304', { unmatched: { status: 304, body: 'a' } }, '/response/unmatched/body',
    /a 304 has no body/],
  ['one for what is unmatched, without routes', { unmatched: { status: 404 } },
    '/response/unmatched', /needs routes/],
  ['an unknown outcome', { filtered: { status: 200 } }, '/response/filtered', /not a known member/],
  ['an unknown member', { accepted: { status: 200, text: 'a' } }, '/response/accepted/text',
    /not a known member/],
  ['a line break in a header', { accepted: { status: 200, headers: { 'X-A': 'a\r\nX-B: b' } } },
    '/response/accepted/headers/X-A', /without CR, LF/],
  ['a line break in a name', { failed: { status: 400, headers: { 'X-A: b\r\nX': 'a' } } },
    '/response/failed/headers/X-A: b\r\nX', /not a header name/],
  ['a header that frames', { accepted: { status: 200, headers: { 'Content-length': '1' } } },
    '/response/accepted/headers/Content-length', /the connection sets it/],
  ['a header of one hop', { accepted: { status: 200, headers: { Connection: 'close' } } },
    '/response/accepted/headers/Connection', /the connection sets it/],
  ['a header of our own', { accepted: { status: 200, headers: { 'X-Hookshelf-Chain': '1' } } },
    '/response/accepted/headers/X-Hookshelf-Chain', /hookshelf sets it/],
  ['a weaker policy', {
    accepted: { status: 200, headers: { 'content-security-policy': 'none' } },
  }, '/response/accepted/headers/content-security-policy', /hookshelf sets it/],
  ['a header twice', { accepted: { status: 200, headers: { 'X-A': '1', 'x-a': '2' } } },
    '/response/accepted/headers/x-a', /twice/],
  ['a placeholder in a header', { accepted: { status: 200, headers: { 'X-A': '{{ message }}' } } },
    '/response/accepted/headers/X-A', /for the body alone/],
  ['another charset', {
    accepted: { status: 200, body: 'a', headers: { 'Content-Type': 'text/plain; charset=utf-16' } },
  }, '/response/accepted/headers/Content-Type', /charset utf-8/],
  ['what is no type', { accepted: { status: 200, headers: { 'Content-Type': 'xml' } } },
    '/response/accepted/headers/Content-Type', /media type/],
  ['an open placeholder', text('{{ message'), '/response/accepted/body', /not closed/],
  ['an unknown source', text('{{ headers.a }}'), '/response/accepted/body',
    /must begin with data, message, payload or request/],
  ['a member of the message', text('{{ message.a }}'), '/response/accepted/body', /message alone/],
  ['the whole request', text('{{ request }}'), '/response/accepted/body', /request\.id/],
  ['a secret of the request', text('{{ request.headers }}'), '/response/accepted/body',
    /request\.id/],
  ['a text that is not JSON for JSON', {
    accepted: { status: 200, body: 'ok', headers: { 'Content-Type': 'application/json' } },
  }, '/response/accepted/body', /JSON/],
  ['a placeholder for what is rejected', { rejected: { status: 403, body: 'no {{ message }}' } },
    '/response/rejected/body', /rejected has no placeholders/],
];

for (const [name, response, pointer, detail] of REFUSED) {
  test(`${name} is refused at ${JSON.stringify(pointer)}`, async () => {
    assertRefused(await relay.ask('POST', '/api/incoming-webhooks',
      { pathSegment: 'refused', actionConfiguration: 'log', response }), pointer, detail);
  });
}

test('an accepted and a failed request get their own responses, which no browser runs',
  async (t) => {
    const hook = await startHook(t, {
      accepted: { status: 201, body: 'done: {{ message }} {{ data.n }}', headers: { 'X-A': 'b' } },
      failed: { status: 500, body: '<e>{{ message }}</e>', headers: xml },
    });
    const accepted = await post(hook, { message: '<m>', data: { n: 7 } });
    assert.deepEqual([accepted.status, accepted.text], [201, 'done: <m> 7']);
    assert.equal(accepted.headers['content-type'], 'text/plain; charset=utf-8');
    assert.equal(accepted.headers['x-a'], 'b');
    const failed = await post(hook, { fail: true, message: 'a < "b"\u0000' });
    assert.deepEqual([failed.status, failed.text], [500, '<e>a &lt; &quot;b&quot;\ufffd</e>']);
    assert.equal(failed.headers['content-type'], 'text/xml');
    for (const { headers } of [accepted, failed]) {
      assert.equal(headers['x-content-type-options'], NOSNIFF);
      assert.equal(headers['content-security-policy'], 'sandbox');
    }
  });

test('values are escaped by the Content-Type: JSON, HTML, a form', async (t) => {
  const evil = '</p>"&\'\n';
  const cases: readonly [string, string, string][] = [
    ['application/json', '{"text": "{{ payload.evil }}", "n": "{{ data.n }}"}',
      `{"text": ${JSON.stringify(evil)}, "n": 1}`],
    ['text/html', '<p>{{ payload.evil }}', '<p>&lt;/p&gt;&quot;&amp;&#39;\n'],
    ['application/x-www-form-urlencoded', 'a={{ payload.evil }}', 'a=%3C%2Fp%3E%22%26%27%0A'],
  ];
  for (const [type, body, expected] of cases) {
    const hook = await startHook(t,
      { accepted: { status: 200, body, headers: { 'Content-Type': type } } });
    const { text: sent, headers } = await post(hook, { evil, data: { n: 1 } });
    assert.equal(sent, expected);
    assert.equal(headers['content-type'], type);
  }
});

test('the payload is what came, whatever the action has made of it', async (t) => {
  const hook = await startHook(t, text('{{ payload.text }}, {{ payload }}'));
  assert.equal((await post(hook, { text: 'came' })).text, 'came, {"text":"came"}');
});

test('a 204 has neither body nor type', async (t) => {
  const hook = await startHook(t, { accepted: { status: 204 } });
  const { status, text: body, headers } = await post(hook, {});
  assert.deepEqual([status, body, headers['content-type'], headers['content-length']],
    [204, '', undefined, undefined]);
  assert.equal(headers['content-security-policy'], 'sandbox');
});

test('a response without a body is empty', async (t) => {
  const hook = await startHook(t, { accepted: { status: 202 } });
  const { status, text: body, headers } = await post(hook, { message: 'a' });
  assert.deepEqual([status, body, headers['content-type'], headers['content-length']],
    [202, '', undefined, '0']);
});

test('an outcome without a response of its own gets the JSON', async (t) => {
  const hook = await startHook(t, { failed: { status: 418, body: 'no' } });
  const accepted = await post(hook, { message: 'a' });
  assert.deepEqual([accepted.status, accepted.text],
    [200, '{"success":true,"message":"a","data":{}}']);
  assert.equal(accepted.headers['content-security-policy'], undefined);
});

test('what no route is for is accepted', async (t) => {
  const hook = await startRelayFor(t, { actions: [Obey] });
  await hook.ask('POST', '/api/action-configurations', { identifier: 'a', actionType: 'obey' });
  const when = { path: 'payload.a', op: 'eq', value: 1 };
  const made = await hook.ask('POST', '/api/incoming-webhooks', {
    pathSegment: 'hook', routes: [{ name: 'one', when, actionConfiguration: 'a' }],
    response: { accepted: { status: 202, body: '{{ message }} {{ data.routes.one.n }}' } },
  });
  assert.equal(made.status, 201, made.text);
  assert.deepEqual([(await post(hook, {})).status, (await post(hook, {})).text],
    [202, 'Filtered ']);
  assert.equal((await post(hook, { a: 1, data: { n: 5 } })).text, ' 5');
});

test('what no route is for has its own response, which the inbox shows', async (t) => {
  const hook = await startRelayFor(t);
  await hook.ask('POST', '/api/action-configurations', { identifier: 'a', actionType: 'log' });
  const when = { path: 'payload.n', op: 'eq', value: 1 };
  const members = {
    routes: [{ name: 'one', when, actionConfiguration: 'a' }], inbox: 'all',
    response: {
      accepted: { status: 202, body: 'yes' }, unmatched: { status: 404, body: '{{ message }}' },
    },
  };
  for (const [pathSegment, answer] of [['hook', 'result'], ['later', 'accepted']]) {
    const made = await hook.ask('POST', '/api/incoming-webhooks',
      { pathSegment, answer, ...members });
    assert.equal(made.status, 201, made.text);
    const ask = (n: number): Promise<Answer> =>
      hook.ask('POST', `/webhook/in/${pathSegment}`, { n });
    const answers = [await ask(1), await ask(2)];
    assert.deepEqual(answers.map(({ status, text: body }) => [status, body]),
      [[202, 'yes'], [404, 'Filtered']]);
  }
  const { json } = await hook.ask('GET', '/api/requests?status=filtered');
  const requests = json as unknown as readonly { answered: { status: number } }[];
  assert.deepEqual(requests.map(({ answered }) => answered.status), [404, 404]);
});

test('a duplicate has its own response, with the data of the first', async (t) => {
  const hook = await startHook(t, {
    accepted: { status: 201, body: 'first {{ request.eventId }}' },
    duplicate: { status: 208, body: '{{ message }} {{ data.n }} {{ request.id }}' },
    failed: { status: 503, body: 'again: {{ message }} {{ request.id }}' },
  }, { deduplicate: { header: 'x-id' }, inbox: 'all' });
  const first = await post(hook, { data: { n: 3 } }, { 'X-Id': 'a' });
  assert.deepEqual([first.status, first.text], [201, 'first a']);
  const second = await post(hook, { data: { n: 3 } }, { 'X-Id': 'a' });
  const { json } = await hook.ask('GET', '/api/requests');
  const requests = json as unknown as readonly Record<string, unknown>[];
  const ids = requests.map(({ id }) => id);
  assert.deepEqual([second.status, second.text], [208, `Duplicate 3 ${String(ids[1])}`]);
  const answered = requests.map((request) => (request['answered'] as { status: number }).status);
  assert.deepEqual(answered, [208, 201], 'the inbox tells what the sender got');
  const failed = await post(hook, { fail: true, message: 'b' }, { 'X-Id': 'b' });
  assert.equal(failed.status, 503);
  assert.match(failed.text, /^again: b [0-9a-f-]{36}$/);
  const repeated = await post(hook, { fail: true, message: 'b' }, { 'X-Id': 'b' });
  assert.equal(repeated.text, failed.text, 'the first request ran again');
});

test('a duplicate of a request that runs is answered as that once it has failed', async (t) => {
  const ends: (() => void)[] = [];
  const Wait = createActionClass('wait', async () => {
    await new Promise<void>((resolve) => void ends.push(resolve));
    return { success: false, message: 'late' };
  });
  const hook = await startRelayWithHook(t, { actionType: 'wait' }, {
    deduplicate: { header: 'x-id' }, inbox: 'off',
    response: {
      failed: { status: 503, body: '{{ message }} {{ payload.n }}' },
      duplicate: { status: 208, body: 'again' },
    },
  }, { actions: [Wait] });
  const first = post(hook, { n: 1 }, { 'X-Id': 'a' });
  await until('it runs', () => ends.length === 1);
  const second = post(hook, { n: 1 }, { 'X-Id': 'a' });
  const other = post(hook, {}, { 'X-Id': 'b' });
  await until('another one runs beside', () => ends.length === 2);
  for (const end of ends) end();
  for (const answer of await Promise.all([first, second])) {
    assert.deepEqual([answer.status, answer.text], [503, 'late 1']);
  }
  assert.equal((await other).status, 503);
  assert.equal(ends.length, 2);
});

test('a chain that was refused is told in a response of its own, too', async (t) => {
  const hook = await startRelayWithHook(t, {
    actionType: 'emit-event', options: { name: 'a.b' },
  }, { response: { failed: { status: 500, body: 'no' } } });
  await hook.ask('POST', '/api/outgoing-webhooks',
    { targetUrl: 'http://127.0.0.1:1/', triggerEvent: 'a.b' });
  const { status, text: body, headers } = await post(hook, {}, { 'X-Hookshelf-Chain': '8' });
  assert.deepEqual([status, body, headers['x-hookshelf-chain']], [500, 'no', 'refused']);
});

test('with the answer accepted the response has the id of the stored request', async (t) => {
  const hook = await startHook(t, {
    accepted: { status: 202, body: '{{ request.id }} {{ data.request }} {{ payload.text }}' },
  }, { answer: 'accepted', inbox: 'all' });
  const { status, text: body } = await post(hook, { text: 'came' });
  const { json } = await hook.ask('GET', '/api/requests');
  const [{ id, answered } = {}] = json as unknown as readonly Record<string, unknown>[];
  assert.deepEqual([status, body], [202, `${String(id)} ${String(id)} came`]);
  assert.equal((answered as { status: number }).status, 202);
});

test('a failed request that is kept tells its id and the status that was sent', async (t) => {
  const hook = await startHook(t, { failed: { status: 422, body: '{{ request.id }}' } });
  const { text: body } = await post(hook, { fail: true });
  const { json } = await hook.ask('GET', `/api/requests/${body}`);
  assert.equal((json['answered'] as { status: number }).status, 422);
});

test('what is rejected has its own response: a wrong signature and a wrong address', async (t) => {
  const rejected = {
    status: 404, body: 'nothing \\{{ here }}', headers: { 'WWW-Authenticate': 'Basic' },
  };
  const hook = await startHook(t, { rejected }, { secret: 'planted' });
  const unsigned = await post(hook, { message: 'a' });
  assert.deepEqual([unsigned.status, unsigned.text], [404, 'nothing {{ here }}']);
  assert.equal(unsigned.headers['www-authenticate'], 'Basic');
  assert.equal(unsigned.headers['x-content-type-options'], NOSNIFF);
  assert.equal(unsigned.headers['content-security-policy'], 'sandbox');
  assert.ok(hook.logLines.some((line) => line.includes('incoming webhook was rejected')));
  const signature = createHmac('sha256', 'planted').update('{}').digest('hex');
  const signed = await post(hook, '{}', { 'X-Signature': `sha256=${signature}` });
  assert.deepEqual([signed.status, signed.text], [200, '{"success":true,"message":"","data":{}}']);
  const far = await startHook(t, { rejected }, { allowedAddresses: ['203.0.113.9'] });
  assert.deepEqual([(await post(far, {})).status, (await post(far, {})).text],
    [404, 'nothing {{ here }}']);
});

test('what is refused for another reason is answered as ever', async (t) => {
  const hook = await startHook(t,
    { rejected: { status: 418, body: 'no' }, failed: { status: 418, body: 'no' } });
  const wrongMethod = await hook.ask('PUT', PATH, {});
  assert.deepEqual([wrongMethod.status, wrongMethod.json['message']], [405, 'Method not allowed']);
  assert.equal((await hook.ask('POST', '/webhook/in/other', {})).status, 404);
  assert.equal((await post(hook, 'x'.repeat(1_048_577))).status, 413);
});

test('a body that would be too long is left out, and the status stays', async (t) => {
  const hook = await startHook(t, text('{{ payload.text }}'.repeat(3000)));
  const { status, text: body } = await post(hook, { text: 'x'.repeat(4000) });
  assert.deepEqual([status, body], [200, '']);
  await until('it is logged', () =>
    hook.logLines.some((line) => line.includes('without its body, which is too long')));
});

test('a response that cannot be prepared is told before anything runs', async (t) => {
  let runs = 0;
  const Count = createActionClass('count', () => {
    runs += 1;
    return { success: true };
  });
  const hook = await startRelayWithHook(t, { actionType: 'count' },
    { response: text('{{ message }}') }, { actions: [Count] });
  const [made] = (await hook.ask('GET', '/api/incoming-webhooks')).json as unknown as
    readonly { identifier: string }[];
  const id = String(made?.identifier);
  const { store } = hook;
  const record = store.collection('incoming-webhooks').findBytes(id);
  assert.ok(record);
  const broken = Buffer.from(
    record.toString('latin1').replace('{{ message', '{{ massage'), 'latin1');
  await store.transact((transaction) => transaction.put('incoming-webhooks', id, broken));
  assert.deepEqual([(await post(hook, {})).status, runs], [503, 0]);
});

test('a body holds the payload if a placeholder names it, however it is written', () => {
  const readsPayload = (body: string, type = 'text/plain'): boolean => prepareResponses({
    webhook: { responses: {
      own: { accepted: { status: 200, body, headers: { 'Content-Type': type } } }, preset: null,
    } },
    exchange: { request: { headers: {} } },
  } as unknown as Parameters<typeof prepareResponses>[0]);
  assert.equal(readsPayload('"{{ \\u0070ayload.a }}"', 'application/json'), true);
  assert.equal(readsPayload('{{ payload }}'), true);
  assert.equal(readsPayload('the payload came, {{ message }}'), false);
});

test('a response is shown as it is, and changed with the webhook', async (t) => {
  const response = { accepted: { status: 200, body: 'a', headers: { 'X-Token': 'plain' } } };
  const hook = await startHook(t, response);
  const [made] = (await hook.ask('GET', '/api/incoming-webhooks')).json as unknown as
    readonly Record<string, unknown>[];
  assert.deepEqual(made?.['response'], response);
  const path = `/api/incoming-webhooks/${String(made?.['identifier'])}`;
  const patch = (body: object): Promise<Answer> =>
    hook.ask('PATCH', path, body, { 'Content-Type': 'application/merge-patch+json' });
  assert.equal((await patch({ description: 'a' })).status, 200);
  assert.equal((await post(hook, {})).text, 'a');
  await patch({ response: { accepted: { body: 'b' } } });
  assert.equal((await post(hook, {})).text, 'b');
  await patch({ response: null });
  assert.equal((await post(hook, {})).text, '{"success":true,"message":"","data":{}}');
});

const FORM = { 'Content-Type': 'application/x-www-form-urlencoded' };

function slackHeaders(body: string, type: object): Record<string, string> {
  const time = String(Math.floor(Date.now() / 1000));
  const mac = createHmac('sha256', 'a').update(`v0:${time}:${body}`).digest('hex');
  return { 'X-Slack-Request-Timestamp': time, 'X-Slack-Signature': `v0=${mac}`, ...type };
}

test('a slash command of Slack gets the text of the message, its events get JSON', async (t) => {
  const hook = await startRelayWithHook(t, { actionType: 'obey' },
    { verification: { preset: 'slack' }, secret: 'a' }, { actions: [Obey] });
  const command = 'command=%2Fdeploy&text=now&message=On+its+way';
  const answer = await post(hook, command, slackHeaders(command, FORM));
  assert.deepEqual([answer.status, answer.text], [200, 'On its way']);
  assert.equal(answer.headers['content-type'], 'text/plain; charset=utf-8');
  const event = '{"type":"event_callback","event_id":"Ev1","event":{"type":"a"}}';
  const { text: json } = await post(hook, event,
    slackHeaders(event, { 'Content-Type': 'application/json' }));
  assert.equal(json, '{"success":true,"message":"","data":{}}');
});

test('a form of Twilio gets TwiML, or what the webhook says', async (t) => {
  const url = 'https://hooks.example.com/in';
  const sign = (fields: Readonly<Record<string, string>>): string => {
    const content = url + Object.entries(fields).sort().flat().join('');
    return createHmac('sha1', 'a').update(content).digest('base64');
  };
  const fields = { Body: 'a <b>', From: '+1' };
  const body = new URLSearchParams(fields).toString();
  const headers = { ...FORM, 'X-Twilio-Signature': sign(fields) };
  const verification = { preset: 'twilio', url };
  const plain = await startRelayWithHook(t, { actionType: 'obey' }, { verification, secret: 'a' },
    { actions: [Obey] });
  const empty = await post(plain, body, headers);
  assert.equal(empty.headers['content-type'], 'text/xml');
  assert.match(empty.text, /<Response><\/Response>$/);
  const own = await startHook(t, { accepted: {
    status: 200, headers: xml,
    body: '<Response><Message>You said {{ payload.Body }}</Message></Response>',
  } }, { verification, secret: 'a' });
  assert.equal((await post(own, body, headers)).text,
    '<Response><Message>You said a &lt;b&gt;</Message></Response>');
  const json = await startHook(t, {}, { verification, secret: 'a' });
  assert.equal((await post(json, body, headers)).text, '{"success":true,"message":"","data":{}}');
});
