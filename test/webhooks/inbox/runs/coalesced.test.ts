/** Runs that a newer run did for: what their senders are told, and how their routes are shown. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { ActionResult } from '../../../../src/webhooks/actions/action.ts';
import { chooseRoutes } from '../../../../src/webhooks/inbox/replay.ts';
import { CoalescedResult } from '../../../../src/webhooks/actions/run-action.ts';
import { until } from '../../../support/until.ts';
import { makeRoute, makeStoredRequest } from '../sample-request.ts';
import { createActionClass } from '../../context.ts';
import { startRelayFor, type Answer, type Relay } from '../../relay.ts';

type Payload = { readonly failed?: boolean; readonly coalesced?: boolean };

let fails = false;
/** Does as the payload says. Actions of other people never get this result. */
const Coalesces = createActionClass(
  'coalesces', ({ failed = fails, coalesced = true }: Payload) => {
    if (failed) return ActionResult.fail('no');
    return coalesced ? new CoalescedResult() : ActionResult.ok();
  });

type Shelf = { readonly relay: Relay; readonly outcomes: string[]; readonly hook: string };

async function start(context: TestContext, members: object): Promise<Shelf> {
  const outcomes: string[] = [];
  const relay = await startRelayFor(context, {
    actions: [Coalesces], incoming: { retrySchedule: [3600] },
    onOutcome: (kind, _, outcome) => void outcomes.push(`${kind} ${outcome}`),
  });
  await relay.ask('POST', '/api/action-configurations', {
    identifier: 'logs', actionType: 'log',
  });
  const made = await relay.hook({ identifier: 'c', actionType: 'coalesces' }, members);
  assert.equal(made.status, 201, made.text);
  relay.webhooks.start();
  return { relay, outcomes, hook: String(made.json['identifier']) };
}

const ROUTES = { actionConfiguration: undefined, routes: [
  { name: 'one', actionConfiguration: 'c' }, { name: 'two', actionConfiguration: 'logs' },
] };

async function getRequests(relay: Relay, query = ''): Promise<Answer['json'][]> {
  const { text } = await relay.ask('GET', `/api/requests${query}`);
  return JSON.parse(text) as Answer['json'][];
}

/** The status of the only request and of its routes, once it is not pending. */
async function settledStates(relay: Relay): Promise<unknown[]> {
  await until('the request is settled', async () =>
    (await getRequests(relay)).every(({ status }) => status !== 'pending'));
  const [{ status, routes } = {}] = await getRequests(relay);
  return [status, ...(routes as { status: string }[]).map((route) => route.status)];
}

test('the sender who waits is answered 200, and told that it was coalesced', async (context) => {
  const { relay, outcomes } = await start(context, { inbox: 'all' });
  const { status, json } = await relay.ask('POST', '/webhook/in/hook', {});
  assert.deepEqual([status, json],
    [200, { success: true, message: 'Coalesced', data: { coalesced: true } }]);
  assert.deepEqual(await settledStates(relay), ['done', 'coalesced']);
  assert.deepEqual(outcomes, ['runs coalesced', 'requests accepted']);
});

test('of several routes each has its own status, and the request is done', async (context) => {
  const { relay } = await start(context, { inbox: 'all', ...ROUTES });
  const { json } = await relay.ask('POST', '/webhook/in/hook', {});
  assert.deepEqual(json['data'], { routes: { one: { coalesced: true }, two: {} } });
  assert.deepEqual(await settledStates(relay), ['done', 'coalesced', 'done']);
  const failed = await relay.ask('POST', '/webhook/in/hook', { failed: true });
  assert.equal(failed.status, 400);
  assert.equal((await getRequests(relay, '?status=failed')).length, 1);
  assert.equal((await getRequests(relay, '?status=done')).length, 1);
});

test('an accepted request is not attempted again, and reconciles as done', async (context) => {
  const { relay, outcomes } = await start(context, { answer: 'accepted', inbox: 'all' });
  await relay.ask('POST', '/webhook/in/hook', {});
  assert.deepEqual(await settledStates(relay), ['done', 'coalesced']);
  assert.deepEqual(outcomes.filter((outcome) => outcome.startsWith('runs')), ['runs coalesced']);
  const { json } = await relay.ask('GET', '/api/requests/reconcile');
  assert.deepEqual([json['done'], json['isReconciled'], json['problems']], [1, true, []]);
});

test('deliveries are listed, counted and told as coalesced, apart from the delivered ones',
  async (context) => {
    const { relay } = await start(context, { inbox: 'all', ...ROUTES });
    await relay.ask('POST', '/webhook/in/hook', {});
    const list = async (query: string): Promise<unknown[]> => {
      const { status, text, headers } = await relay.ask('GET', `/api/deliveries?${query}`);
      assert.equal(status, 200, text);
      const routes = (JSON.parse(text) as { route: string; status: string }[])
        .map(({ route, status: routeStatus }) => `${route} ${routeStatus}`);
      return [routes, headers['x-total-count']];
    };
    assert.deepEqual(await list('kind=route'), [['one coalesced', 'two delivered'], '2']);
    assert.deepEqual(await list('kind=route&status=coalesced'), [['one coalesced'], '1']);
    assert.deepEqual(await list('kind=route&status=delivered'), [['two delivered'], '1']);
    assert.deepEqual(await list('status=coalesced'), [[], '0']);
    const [{ id } = {}] = await getRequests(relay);
    const { json } = await relay.ask('GET', `/api/deliveries/${String(id)}.0`);
    assert.deepEqual([json['status'], json['nextAttemptAt']], ['coalesced', null]);
  });

test('it says nothing of the health of its webhook', async (context) => {
  const { relay, hook } = await start(context, { inbox: 'off' });
  const readHealth = async (): Promise<unknown> =>
    (await relay.ask('GET', `/api/incoming-webhooks/${hook}`)).json['health'];
  await relay.ask('POST', '/webhook/in/hook', { failed: true });
  const health = await readHealth();
  await relay.ask('POST', '/webhook/in/hook', {});
  assert.deepEqual(await readHealth(), health);
  await relay.ask('POST', '/webhook/in/hook', { coalesced: false });
  assert.notDeepEqual(await readHealth(), health);
});

test('a request is run again where it failed, and where it was coalesced if that is asked for',
  async (context) => {
    const { relay } = await start(context, { inbox: 'all', ...ROUTES });
    await relay.ask('POST', '/webhook/in/hook', {});
    const [{ id } = {}] = await getRequests(relay);
    await relay.ask('POST', `/api/requests/${String(id)}/replay`, { routes: ['two'] });
    assert.deepEqual(await settledStates(relay), ['done', 'coalesced', 'done']);
    await relay.ask('POST', `/api/requests/${String(id)}/replay`, { routes: ['one'] });
    await settledStates(relay);
    const { json } = await relay.ask('GET', `/api/requests/${String(id)}`);
    const [one] = json['routes'] as { status: string; attempts: unknown[] }[];
    assert.deepEqual([one?.status, one?.attempts.length], ['coalesced', 2]);
  });

test('a replay runs by default what failed, and not what was coalesced', () => {
  const request = makeStoredRequest({ given: {
    status: 'failed', deliveries: [
      makeRoute({ route: 'one', status: 'coalesced' }),
      makeRoute({ route: 'two', status: 'failed' }),
    ],
  } });
  const available = { names: ['one', 'two'], listMatching: () => ['one', 'two'] };
  assert.deepEqual(chooseRoutes(request, available, null), ['two']);
});

test('a failed request that is sent again may be coalesced, and that is repeated to duplicates',
  async (context) => {
    const { relay } = await start(context, {
      inbox: 'failed', deduplicate: { header: 'X-Id' }, ...ROUTES,
    });
    const send = async (): Promise<unknown[]> => {
      const { status, json } = await relay.ask('POST', '/webhook/in/hook', '{}', { 'X-Id': 'e1' });
      return [status, json['message'], json['data']];
    };
    fails = true;
    assert.deepEqual(await send(), [400, 'no', {}]);
    fails = false;
    const data = { routes: { one: { coalesced: true }, two: {} } };
    assert.deepEqual(await send(), [200, '', data]);
    assert.deepEqual(await settledStates(relay), ['done', 'coalesced', 'done']);
    assert.deepEqual(await send(), [200, 'Duplicate', data]);
  });
