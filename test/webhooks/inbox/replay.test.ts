/** Requests that came in and are run again, by a relay that works. */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test, type TestContext } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { ActionResult, type ActionContext } from '../../../src/webhooks/actions/action.ts';
import { createActionClass } from '../context.ts';
import { startRelay, type Answer, type Headers, type Relay } from '../relay.ts';

type Run = Pick<ActionContext, 'request' | 'attempt' | 'replay' | 'eventId'> & {
  readonly route: unknown; readonly body: string;
};

let runs: Run[] = [];
const failingRoutes = new Set<unknown>();
const Recorder = createActionClass('recorder', (
  _payload: unknown, context: ActionContext, { route }: { readonly route: unknown },
) => {
  const { request, attempt, replay, eventId, body } = context;
  runs.push({ request, attempt, replay, eventId, route, body: String(body) });
  return failingRoutes.has(route) ? ActionResult.fail('not now') : ActionResult.ok();
});

const SECRET = 'planted';

async function start(context: TestContext, hook: object): Promise<Relay> {
  runs = [];
  failingRoutes.clear();
  const relay = await startRelay({ actions: [Recorder], incoming: { retrySchedule: [3600] } });
  context.after(() => relay.close());
  for (const identifier of ['a', 'b']) {
    const made = await relay.ask('POST', '/api/action-configurations', {
      identifier, actionType: 'recorder', options: { route: identifier },
    });
    assert.equal(made.status, 201, made.text);
  }
  const made = await relay.ask('POST', '/api/incoming-webhooks', { pathSegment: 'hook', ...hook });
  assert.equal(made.status, 201, made.text);
  relay.webhooks.start();
  return relay;
}

async function receive(
  relay: Relay, body: object | string, headers: Headers = {},
): Promise<string> {
  await relay.ask('POST', '/webhook/in/hook', body, headers);
  const { text } = await relay.ask('GET', '/api/requests?limit=1');
  const [{ id = '' } = {}] = JSON.parse(text) as { id?: string }[];
  return id;
}

function replay(relay: Relay, id: string, body?: object, headers: Headers = {}): Promise<Answer> {
  return relay.ask('POST', `/api/requests/${id}/replay`, body, headers);
}

async function settled(relay: Relay, id: string): Promise<Answer['json']> {
  for (let looks = 0; looks < 3000; looks += 1) {
    const { json } = await relay.ask('GET', `/api/requests/${id}`);
    if (json['status'] !== 'pending') return json;
    await wait(10);
  }
  throw new Error(`request ${id} stayed pending`);
}

const ROUTES = { routes: [
  { name: 'a', actionConfiguration: 'a', when: { path: 'payload.kind', op: 'eq', value: 'x' } },
  { name: 'b', actionConfiguration: 'b' },
] };

test('a failed request is done once its action works', async (context) => {
  const relay = await start(context, { actionConfiguration: 'a', inbox: 'failed' });
  failingRoutes.add('a');
  const id = await receive(relay, { n: 1 });
  failingRoutes.clear();
  const answer = await replay(relay, id);
  assert.equal(answer.status, 202, answer.text);
  const { status, answered } = await settled(relay, id);
  assert.deepEqual([status, answered instanceof Object && 'status' in answered
    ? answered.status : null], ['done', 400]);
  assert.deepEqual(runs.map(({ request, attempt, replay: isReplay }) =>
    [request, attempt, isReplay]), [[null, 1, false], [id, 2, true]]);
  assert.equal(runs[1]?.body, '{"n":1}');
});

test('of a failed request the failed routes run again, and no others', async (context) => {
  const relay = await start(context, { ...ROUTES, inbox: 'failed' });
  failingRoutes.add('b');
  const id = await receive(relay, { kind: 'x' });
  failingRoutes.clear();
  await replay(relay, id);
  assert.equal((await settled(relay, id))['status'], 'done');
  assert.deepEqual(runs.map(({ route }) => route), ['a', 'b', 'b']);
});

test('of any other all routes that match now run, or those that are named', async (context) => {
  const relay = await start(context, { ...ROUTES, inbox: 'all' });
  const id = await receive(relay, { kind: 'y' });
  const ran = async (body?: object): Promise<unknown[]> => {
    runs = [];
    const answer = await replay(relay, id, body);
    assert.equal(answer.status, 202, answer.text);
    await settled(relay, id);
    return runs.map(({ route }) => route).sort();
  };
  assert.deepEqual(await ran(), ['b']);
  assert.deepEqual(await ran({ routes: ['a'] }), ['a']);
  assert.deepEqual(await ran({ routes: ['b', 'a'] }), ['a', 'b']);
});

test('a filtered request runs once its webhook would take it', async (context) => {
  const relay = await start(context, { routes: [ROUTES.routes[0]], inbox: 'all' });
  const id = await receive(relay, { kind: 'y' });
  assert.equal((await settled(relay, id))['status'], 'filtered');
  const refused = await replay(relay, id);
  assert.deepEqual([refused.status, /no route.*matches/.test(refused.text)], [409, true]);
  assert.equal((await replay(relay, id, { routes: ['a'] })).status, 202);
  assert.equal((await settled(relay, id))['status'], 'done');
});

const signed = (body: string, secret = SECRET): Headers => ({
  'X-Hub-Signature-256': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
});

test('a rejected request runs as a new one, and is not verified', async (context) => {
  const relay = await start(context, {
    actionConfiguration: 'a', secret: SECRET, verification: { preset: 'github' },
  });
  const id = await receive(relay, '{"n":1}', signed('{"n":1}', 'another'));
  const rejected = await relay.ask('GET', `/api/requests/${id}`);
  assert.equal(rejected.json['status'], 'rejected');
  for (const [method, body] of [['PATCH', { pinned: true }], ['DELETE', undefined]] as const) {
    const { status } = await relay.ask(method, `/api/requests/${id}`, body);
    assert.equal(status, 409, method);
  }
  const answer = await replay(relay, id);
  assert.equal(answer.status, 202, answer.text);
  assert.equal(answer.json['replayOf'], id);
  const made = String(answer.json['id']);
  assert.equal((await settled(relay, made))['status'], 'done');
  assert.deepEqual(runs.map(({ request, body }) => [request, body]), [[made, '{"n":1}']]);
  assert.equal((await relay.ask('GET', `/api/requests/${id}`)).json['status'], 'rejected');
  const { text } = await relay.ask('GET', '/api/requests');
  const listed = JSON.parse(text) as { readonly id: string }[];
  assert.deepEqual(listed.map((request) => request.id), [made, id]);
});

test('a rejected request of which only the beginning is kept is refused', async (context) => {
  const relay = await start(context, {
    actionConfiguration: 'a', secret: SECRET, verification: { preset: 'github' },
  });
  const id = await receive(relay, JSON.stringify({ n: 'x'.repeat(9000) }));
  const answer = await replay(relay, id);
  assert.deepEqual([answer.status, /only 8192 bytes of its body/.test(answer.text)], [409, true]);
});

test('a request is replayed once for an Idempotency-Key', async (context) => {
  const relay = await start(context, { actionConfiguration: 'a', inbox: 'all' });
  const id = await receive(relay, { n: 1 });
  const other = await receive(relay, { n: 2 });
  const key = { 'Idempotency-Key': 'k1' };
  const first = await replay(relay, id, { as: 'new' }, key);
  const again = await replay(relay, id, { as: 'new' }, key);
  assert.deepEqual([first.status, again.status], [202, 202]);
  assert.equal(again.headers['idempotency-replayed'], 'true');
  assert.equal(again.text, first.text);
  assert.equal(again.headers['etag'], first.headers['etag']);
  assert.equal((await replay(relay, id, { as: 'retry' }, key)).status, 422);
  const second = await replay(relay, other, { as: 'new' }, key);
  assert.deepEqual([second.status, second.json['replayOf']], [202, other]);
  assert.equal((await replay(relay, id, undefined, { 'Idempotency-Key': 'k2' })).status, 202);
  const { headers } = await relay.ask('GET', '/api/requests');
  assert.equal(headers['x-total-count'], '4');
});
