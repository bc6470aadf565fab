/** The trace of a request goes on with what it causes, and stands in the log. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { startHttpTarget, type HttpTarget } from '../support/http-target.ts';
import { turnsUntil } from '../support/turns.ts';
import { startRelayFor, type Headers, type Relay } from './relay.ts';
import { createActionClass } from './context.ts';

const TRACE_ID = '4bf92f3577b34da6a3ce929d0e0e4736';
const TRACE = {
  traceparent: `00-${TRACE_ID}-00f067aa0ba902b7-01`, tracestate: 'rojo=00f067aa0ba902b7, congo=t61',
};

type Tools = {
  readonly http: { request(request: object): Promise<unknown> };
  readonly log: { warning(message: string): void };
};

const Calls = createActionClass('calls', async (
  _: unknown, __: unknown, { url, headers }: { readonly url: string; readonly headers?: object },
  { http, log }: Tools,
) => {
  log.warning('called');
  await http.request({ method: 'POST', url, ...headers === undefined ? {} : { headers } });
  return { success: true };
});

type Rig = { readonly relay: Relay; readonly target: HttpTarget };

async function start(context: TestContext): Promise<Rig> {
  const target = await startHttpTarget();
  context.after(() => target.close());
  const relay = await startRelayFor(context, { actions: [Calls] });
  relay.webhooks.start();
  return { relay, target };
}

/** Calls an incoming webhook with that action, and gives the trace that the target got. */
async function relayTrace(
  { relay, target }: Rig, action: object, headers: Headers, hook: object = {},
): Promise<object> {
  const count = target.received.length;
  const made = await relay.hook(action, { pathSegment: `in-${count}`, ...hook });
  assert.equal(made.status, 201, made.text);
  const { status } = await relay.ask('POST', `/webhook/in/in-${count}`, { a: 1 }, headers);
  assert.equal(status, 200);
  await turnsUntil(() => target.received.length > count);
  return traceOf(target.received.at(-1)?.headers ?? {});
}

function traceOf({ traceparent, tracestate }: Readonly<Record<string, unknown>>): object {
  return JSON.parse(JSON.stringify({ traceparent, tracestate }));
}

const ACCEPTED = { inbox: 'all', answer: 'accepted' };

for (const [title, makeAction, hook] of [
  ['a forward', (url) => ({ actionType: 'http-forward', options: { url } }), {}],
  ['a forward of a stored request',
    (url) => ({ actionType: 'http-forward', options: { url } }), ACCEPTED],
  ['a queued forward',
    (url) => ({ actionType: 'http-forward', options: { url, mode: 'queue' } }), {}],
  ['a transparent relay',
    (url) => ({ actionType: 'http-forward', options: { url, pass: true } }), {}],
  ['`http` of an action', (url) => ({ actionType: 'calls', options: { url } }), {}],
  ['`http` of an action for a stored request',
    (url) => ({ actionType: 'calls', options: { url } }), ACCEPTED],
] satisfies readonly (readonly [string, (url: string) => object, object])[]) {
  test(`a trace goes on unchanged with ${title}, unless it is invalid`, async (context) => {
    const rig = await start(context);
    const action = makeAction(rig.target.url);
    const { traceparent } = TRACE;
    assert.deepEqual(await relayTrace(rig, action, TRACE, hook), TRACE);
    assert.deepEqual(await relayTrace(rig, action, { traceparent }, hook), { traceparent });
    assert.deepEqual(await relayTrace(rig, action, { ...TRACE, tracestate: 'A=' }, hook),
      { traceparent });
    for (const headers of [
      {}, { tracestate: 'a=1' }, { ...TRACE, traceparent: traceparent.toUpperCase() },
      { ...TRACE, traceparent: [traceparent, traceparent] },
    ]) {
      assert.deepEqual(await relayTrace(rig, action, headers, hook), {});
    }
  });
}

test('an action that traces by itself is left alone', async (context) => {
  const rig = await start(context);
  const options = { url: rig.target.url, headers: { TraceParent: 'own' } };
  assert.deepEqual(await relayTrace(rig, { actionType: 'calls', options }, TRACE),
    { traceparent: 'own' });
});

test('an event has the trace of the request that emitted it, each attempt and the record of it',
  async (context) => {
    const { relay, target } = await start(context);
    for (const [name, url] of [['a', target.url], ['b', `${target.url}/500`]]) {
      const { status, text } = await relay.ask('POST', '/api/outgoing-webhooks',
        { name, targetUrl: url, triggerEvent: 'a.b', retrySchedule: [0] });
      assert.equal(status, 201, text);
    }
    await relay.hook({ actionType: 'emit-event', options: { name: 'a.b' } });
    const { json } = await relay.ask('POST', '/webhook/in/hook', { a: 1 }, TRACE);
    await turnsUntil(() => target.received.length === 3);
    for (const { headers } of target.received) assert.deepEqual(traceOf(headers), TRACE);
    const { deliveries: [id] } = json['data'] as { readonly deliveries: readonly string[] };
    await turnsUntil(() => relay.webhooks.deliveries.find(String(id))?.status === 'delivered');
    const shown = await relay.ask('GET', `/api/deliveries/${id}`);
    const { headers } = shown.json['sent'] as { readonly headers: [string, string][] };
    assert.deepEqual(traceOf(Object.fromEntries(headers)), TRACE);
  });

test('an event of the API and what is sent by hand have the trace of the call', async (context) => {
  const { relay, target } = await start(context);
  const { json } = await relay.ask('POST', '/api/outgoing-webhooks',
    { targetUrl: target.url, triggerEvent: 'a.b' });
  const path = `/api/outgoing-webhooks/${String(json['identifier'])}`;
  await relay.ask('POST', '/api/events', { name: 'a.b' }, TRACE);
  await relay.ask('POST', `${path}/send`, {}, TRACE);
  await relay.ask('POST', `${path}/deliveries`, {}, TRACE);
  await relay.ask('POST', '/api/events', { name: 'a.b' });
  await turnsUntil(() => target.received.length === 4);
  const traces = target.received.map(({ headers }) => traceOf(headers));
  assert.deepEqual(traces.filter((trace) => 'traceparent' in trace), [TRACE, TRACE, TRACE]);
});

test('the trace id stands in the lines of the log that are about the request', async (context) => {
  const { relay, target } = await start(context);
  const ofTrace = (): readonly string[] => relay.logLines
    .map((line) => JSON.parse(line))
    .filter(({ traceId }) => traceId === TRACE_ID)
    .map(({ message }) => message);
  await relay.hook({ actionType: 'calls', options: { url: target.url } }, ACCEPTED);
  await relay.hook({ actionType: 'http-forward', options: { url: target.url, mode: 'queue' } },
    { pathSegment: 'queue' });
  await relay.hook({ actionType: 'http-forward', options: { url: `${target.url}/500` } },
    { pathSegment: 'failing' });
  await relay.hook({ actionType: 'log' }, { pathSegment: 'signed', secret: 'a secret' });
  await relay.ask('POST', '/webhook/in/hook', {}, TRACE);
  await relay.ask('POST', '/webhook/in/queue', {}, TRACE);
  await relay.ask('POST', '/webhook/in/failing', {}, TRACE);
  await relay.ask('POST', '/webhook/in/signed', {}, TRACE);
  await turnsUntil(() => ofTrace().includes('a delivery was attempted')
    && ofTrace().includes('a stored request was run'));
  for (const message of [
    'request', 'called', 'a stored request was run', 'a delivery was attempted',
    'the action of an incoming webhook was run', 'a call of an incoming webhook was rejected',
  ]) {
    assert.ok(ofTrace().includes(message), message);
  }
});

test('the trace is kept with a request, and is shown', async (context) => {
  const { relay } = await start(context);
  await relay.hook({ actionType: 'log' }, { inbox: 'all' });
  await relay.ask('POST', '/webhook/in/hook', {}, TRACE);
  const { text } = await relay.ask('GET', '/api/requests?limit=1');
  const [{ headers }] = JSON.parse(text);
  assert.deepEqual(traceOf(Object.fromEntries(headers)), TRACE);
});
