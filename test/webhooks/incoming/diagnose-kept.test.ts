/** Requests that came, as the inbox kept them, diagnosed by their id. */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test, type TestContext } from 'node:test';
import { startRelayWithHook, type Answer, type Headers, type Relay } from '../relay.ts';

const SECRET = 'planted-secret-of-a-sender';
const BODY = '{"a":1}';

type Result = { readonly check: string; readonly status: string; readonly finding: string };
type Found = {
  readonly accepted: boolean; readonly failedCheck: string | null;
  readonly checks: readonly Result[];
};

function start(context: TestContext, preset: string): Promise<Relay> {
  return startRelayWithHook(context, { actionType: 'log' },
    { secret: SECRET, verification: { preset }, inbox: 'all' });
}

/** Receives one request, and gives what the diagnosis of it finds. */
async function diagnosed(
  relay: Relay, headers: Headers, body = BODY, query = '',
): Promise<Found & { readonly received: Answer }> {
  const received = await relay.ask('POST', `/webhook/in/hook${query}`, body, headers);
  const { text: list } = await relay.ask('GET', '/api/requests?limit=1');
  const [{ id = '' } = {}] = JSON.parse(list) as { id?: string }[];
  const { status, text, json } = await look(relay, { request: id });
  assert.equal(status, 200, text);
  for (const shown of [text, list]) assert.ok(!shown.includes('planted'), shown);
  return { ...json as unknown as Found, received };
}

function look(relay: Relay, body: object): Promise<Answer> {
  return relay.ask('POST', '/api/incoming-webhooks/hook/diagnose', body);
}

function finding({ checks }: Found, name: string): string {
  const { status = '', finding: found = '' } = checks.find(({ check }) => check === name) ?? {};
  return `${status}: ${found}`;
}

const hex = (text: string, secret = SECRET): string =>
  createHmac('sha256', secret).update(text).digest('hex');
const github = (body: string, secret?: string): Headers =>
  ({ 'X-Hub-Signature-256': `sha256=${hex(body, secret)}` });

test('an accepted request is verified again by what was kept', async (context) => {
  const relay = await start(context, 'github');
  const found = await diagnosed(relay, github(BODY));
  assert.deepEqual([found.received.status, found.accepted], [200, true]);
  assert.equal(finding(found, 'mismatch'), 'ok: matches the secret');
  assert.ok(finding(found, 'signature_form').endsWith(`begins ${hex(BODY).slice(0, 8)}`));
});

test('says why a request was rejected', async (context) => {
  const relay = await start(context, 'github');
  const cases: readonly (readonly [Headers, string])[] = [
    [github(BODY, 'another'), 'mismatch'], [github(`${BODY}\n`), 'mismatch'],
    [{}, 'signature_missing'], [{ 'X-Hub-Signature-256': 'sha1=00' }, 'signature_form'],
  ];
  for (const [headers, check] of cases) {
    const found = await diagnosed(relay, headers);
    assert.deepEqual([found.received.status, found.failedCheck], [401, check]);
  }
  const changed = await diagnosed(relay, github(`${BODY}\n`));
  assert.match(finding(changed, 'near_miss'), /^hint: would match if the body ended in a newline/);
});

test('its age is that which it had when it came', async (context) => {
  const relay = await start(context, 'stripe');
  const atS = Math.floor(Date.now() / 1000) - 412;
  const stripe = { 'Stripe-Signature': `t=${atS},v1=${hex(`${atS}.${BODY}`)}` };
  const found = await diagnosed(relay, stripe);
  assert.deepEqual([found.received.status, found.failedCheck], [401, 'stale']);
  assert.match(finding(found, 'stale'), /^failed: signed 41[2-9] s ago, limit 300 s$/);
});

for (const [preset, header, prefix] of [
  ['gitlab-token', 'X-Gitlab-Token', ''], ['bearer', 'Authorization', 'Bearer '],
] as const) {
  test(`says of a token, which is not kept, what was found: ${preset}`, async (context) => {
    const relay = await start(context, preset);
    const right = await diagnosed(relay, { [header]: prefix + SECRET });
    assert.deepEqual([right.received.status, right.accepted], [200, true]);
    assert.equal(finding(right, 'mismatch'),
      'skipped: the token itself is never kept; it passed when it came');
    const wrong = await diagnosed(relay, { [header]: `${prefix}another` });
    assert.deepEqual([wrong.received.status, wrong.failedCheck], [401, 'mismatch']);
    assert.equal(finding(wrong, 'mismatch'),
      'failed: so it was found when it came; the token itself is never kept');
    const none = await diagnosed(relay, {});
    assert.deepEqual([none.received.status, none.failedCheck], [401, 'signature_missing']);
  });
}

test('a rejected request of which only the beginning is kept says so', async (context) => {
  const relay = await start(context, 'github');
  const body = JSON.stringify({ a: 'x'.repeat(10_000) });
  const found = await diagnosed(relay, github(body, 'another'), body);
  assert.deepEqual([found.received.status, found.failedCheck], [401, 'mismatch']);
  assert.match(finding(found, 'mismatch'), /the whole body was not kept$/);
});

test('an address that is not allowed is told', async (context) => {
  const relay = await start(context, 'github');
  const { text } = await relay.ask('GET', '/api/incoming-webhooks');
  const [{ identifier = '' } = {}] = JSON.parse(text) as { identifier?: string }[];
  const changed = await relay.ask('PATCH', `/api/incoming-webhooks/${identifier}`,
    { allowedAddresses: ['203.0.113.0/24'] });
  assert.equal(changed.status, 200, changed.text);
  const found = await diagnosed(relay, github(BODY));
  assert.deepEqual([found.received.status, found.failedCheck], [403, 'address']);
});

test('a request of another webhook is refused', async (context) => {
  const relay = await start(context, 'github');
  await diagnosed(relay, github(BODY));
  const { text } = await relay.ask('GET', '/api/requests');
  const [{ id = '' } = {}] = JSON.parse(text) as { id?: string }[];
  const made = await relay.ask('GET', '/api/action-configurations');
  const [{ identifier = '' } = {}] = JSON.parse(made.text) as { identifier?: string }[];
  await relay.ask('POST', '/api/incoming-webhooks', {
    pathSegment: 'other', actionConfiguration: identifier,
  });
  const refused = await relay.ask('POST', '/api/incoming-webhooks/other/diagnose', { request: id });
  assert.deepEqual([refused.status, /of another webhook/.test(refused.text)], [422, true]);
});

test('tells a duplicate, of what, and what was new', async (context) => {
  const relay = await start(context, 'stripe');
  const send = (id: string): ReturnType<typeof diagnosed> => {
    const body = JSON.stringify({ id, type: 'charge.succeeded' });
    const atS = Math.floor(Date.now() / 1000);
    return diagnosed(relay, { 'Stripe-Signature': `t=${atS},v1=${hex(`${atS}.${body}`)}` }, body);
  };
  const first = await send('evt_1');
  assert.deepEqual([first.accepted, finding(first, 'duplicate')],
    [true, 'ok: the event id "evt_1" was new']);
  const { text } = await relay.ask('GET', '/api/requests');
  const [{ id = '' } = {}] = JSON.parse(text) as { id?: string }[];
  const again = await send('evt_1');
  assert.equal(again.received.json['message'], 'Duplicate');
  assert.deepEqual([again.failedCheck, finding(again, 'duplicate')],
    ['duplicate', `failed: a duplicate of ${id}`]);
  const body = Buffer.from('{"id":"evt_1","type":"charge.succeeded"}');
  const atS = Math.floor(Date.now() / 1000);
  const headers = { 'stripe-signature': `t=${atS},v1=${hex(`${atS}.${body.toString()}`)}` };
  const written = await look(relay, { headers, body: body.toString('base64') });
  assert.equal(finding(written.json as unknown as Found, 'duplicate'),
    `failed: a duplicate of ${id}`);
});
