import assert from 'node:assert/strict';
import { after, before, test, type TestContext } from 'node:test';
import type { ActionContext, ActionOptions, ActionTools } from '../../../src/index.ts';
import { answer, startServer, type ScriptedServer } from '../../support/servers.ts';
import { turnsUntil } from '../../support/turns.ts';
import { until } from '../../support/until.ts';
import { startRelay, startRelayFor, type Headers, type Relay } from '../relay.ts';
import { createActionClass } from '../context.ts';

const CHAIN = 'X-Hookshelf-Chain';
const HOPS_MAX = 8;
const LINES_A_SECOND = 5;
const RAISED = { '': '1', 3: '4', '2, 5': '6', 7: '8', x: '1' };

/** Calls a URL through the tools it is given. */
const Caller = createActionClass('caller', async (
  _: unknown, __: ActionContext, { url }: ActionOptions, { http }: ActionTools,
) => {
  const headers = { [CHAIN]: '0' };
  await http.request({ method: 'POST', url: String(url), headers, body: '{}' });
  return { success: true };
});

/** Calls a URL through the tools it is given, and throws unless the target took it. */
const StrictCaller = createActionClass('strict-caller', async (
  _: unknown, __: ActionContext, { url }: ActionOptions, { http }: ActionTools,
) => {
  const { statusCode } = await http.request({ method: 'POST', url: String(url), body: '{}' });
  if (statusCode >= 400) throw new Error(`planted: ${statusCode}`);
  return { success: true };
});

let relay: Relay;
let target: ScriptedServer;
before(async () => {
  target = await startServer({ onRequest: ({ socket }) => void socket.write(answer()) });
  relay = await startRelay({ actions: [Caller, StrictCaller] });
  relay.webhooks.start();
});
after(async () => {
  await relay.close();
  await target.close();
});

let count = 0;

const TOO_LONG = `a chain of more than ${HOPS_MAX} hops was refused`;

type Health = { readonly state: string; readonly lastFailure: { readonly reason: string } | null };
type Failed = {
  readonly id?: string; readonly hook?: string | null; readonly attempts?: readonly object[];
};

/** The messages of the lines at `warning`. */
function warningsIn(lines: readonly string[]): string[] {
  return lines.map((line) => JSON.parse(line)).filter(({ level }) => level === 'warning')
    .map(({ message }) => String(message));
}

/** Starts a target that refuses every request as one of a chain that is too long. */
async function startRefusing(context: TestContext): Promise<ScriptedServer> {
  const refusing = await startServer({
    onRequest: ({ socket }) => void socket.write(answer(422, '', ['X-Hookshelf-Chain: refused'])),
  });
  context.after(() => refusing.close());
  return refusing;
}

/** An incoming webhook that runs the action; its path. */
async function incoming(actionType: string, options: object): Promise<string> {
  count += 1;
  const made = await relay.hook({ actionType, options }, { pathSegment: `in-${count}` });
  assert.equal(made.status, 201, made.text);
  return `/webhook/in/in-${count}`;
}

async function outgoing(hook: object): Promise<string> {
  const made = await relay.ask('POST', '/api/outgoing-webhooks', hook);
  assert.equal(made.status, 201, made.text);
  return String(made.json['identifier']);
}

/** The target has had `requests`: each shows the count that it came with. */
async function chainsOf(path: string, requests: number): Promise<string[]> {
  const heads = (): string[] => target.received.map(({ head }) => head)
    .filter((head) => head.includes(` ${path} `));
  await turnsUntil(() => heads().length >= requests);
  return heads().map((head) => /^x-hookshelf-chain: (.*)$/im.exec(head)?.[1] ?? 'none');
}

function endsLogged({ logLines } = relay): string[] {
  return logLines.filter((line) => line.includes('"level":"warning"')
    && line.includes(`a chain of more than ${HOPS_MAX} hops`));
}

test('every way out raises the count that came in', { timeout: 120_000 }, async () => {
  const url = target.url('/raised');
  await outgoing({ targetUrl: url, triggerEvent: 'raised' });
  const id = await outgoing({ targetUrl: url });
  const ways: [string, object][] = [
    [await incoming('http-forward', { url }), {}],
    [await incoming('http-forward', { url, mode: 'queue' }), {}],
    [await incoming('emit-event', { name: 'raised' }), {}],
    [await incoming('caller', { url }), {}],
    ['/api/events', { name: 'raised' }],
    [`/api/outgoing-webhooks/${id}/send`, {}],
    [`/api/outgoing-webhooks/${id}/deliveries`, {}],
  ];
  let requests = 0;
  for (const [path, body] of ways) {
    for (const [given, raised] of Object.entries(RAISED)) {
      const headers: Headers = given === '' ? {} : { [CHAIN]: given };
      const asked = await relay.ask('POST', path, body, headers);
      assert.ok(asked.status < 300, asked.text);
      requests += 1;
      assert.equal((await chainsOf('/raised', requests)).at(-1), raised, `${path} after ${given}`);
    }
  }
});

test('the action of an outgoing webhook is the same hop, sent by hand and delivered', {
  timeout: 120_000,
}, async () => {
  await relay.ask('POST', '/api/action-configurations', {
    identifier: 'beside', actionType: 'caller', options: { url: target.url('/beside') },
  });
  const id = await outgoing({
    targetUrl: target.url('/itself'), triggerEvent: 'beside', actionConfiguration: 'beside',
  });
  const headers = { [CHAIN]: '4' };
  await relay.ask('POST', `/api/outgoing-webhooks/${id}/send`, {}, headers);
  await relay.ask('POST', '/api/events', { name: 'beside' }, headers);
  assert.deepEqual(await chainsOf('/itself', 2), ['5', '5']);
  assert.deepEqual(await chainsOf('/beside', 2), ['5', '5']);
});

test('at eight the next is refused, and the log says where', async () => {
  const url = target.url('/refused');
  const listener = await outgoing({ targetUrl: url, triggerEvent: 'refused' });
  const id = await outgoing({ targetUrl: url });
  const shownUrl = url.replace('http://', '');
  const shownEvent = `the event refused, which webhook ${listener} sends to ${shownUrl}`;
  const ways: [string, object, number, string][] = [
    [await incoming('http-forward', { url: `${url}?token=planted` }), {}, 400, shownUrl],
    [await incoming('http-forward', { url, mode: 'queue' }), {}, 400, shownUrl],
    [await incoming('caller', { url: url.replace('//', '//planted@') }), {}, 400, shownUrl],
    [await incoming('emit-event', { name: 'refused' }), {}, 400, shownEvent],
    ['/api/events', { name: 'refused' }, 422, shownEvent],
    [`/api/outgoing-webhooks/${id}/send`, {}, 200, shownUrl],
    [`/api/outgoing-webhooks/${id}/deliveries`, {}, 422,
      `the event send, which webhook ${id} sends to ${shownUrl}`],
  ];
  for (const [path, body, status, target] of ways) {
    const before = endsLogged().length;
    const requestId = `chain-${before}`;
    const headers = { [CHAIN]: '8', 'X-Request-Id': requestId };
    const asked = await relay.ask('POST', path, body, headers);
    assert.equal(asked.status, status, asked.text);
    assert.match(asked.text, /a chain of more than 8 hops was refused/);
    assert.equal(asked.headers['x-hookshelf-chain'], 'refused', path);
    const told = endsLogged().slice(before);
    assert.equal(told.length, 1, path);
    const line = JSON.parse(told[0] ?? '');
    assert.deepEqual([line.requestId, line.path, line.target, line.hops],
      [requestId, path, target, HOPS_MAX]);
    const webhook = /^\/webhook\/in\/(.*)/.exec(path)?.[1];
    if (webhook !== undefined) assert.equal(line.webhook, webhook);
    if (webhook !== undefined || path.endsWith('/send')) assert.match(line.hook, /^[-0-9a-f]{36}$/);
  }
  assert.ok(!relay.logLines.some((text) => text.includes('planted')));
  assert.equal((await relay.ask('GET', '/api/deliveries?status=pending')).text, '[]');
  assert.deepEqual(await chainsOf('/refused', 0), []);
});

test('the log names no webhook whose condition the refused event does not meet', async () => {
  const when = { path: 'payload.total', op: 'gt', value: 100 };
  const targetUrl = target.url('/unmet');
  const id = await outgoing({ targetUrl, triggerEvent: 'unmet', when });
  const shownUrl = targetUrl.replace('http://', '');
  for (const [total, shown] of [
    [1, 'the event unmet'], [101, `the event unmet, which webhook ${id} sends to ${shownUrl}`],
  ] as const) {
    const before = endsLogged().length;
    const body = { name: 'unmet', payload: { total } };
    assert.equal((await relay.ask('POST', '/api/events', body, { [CHAIN]: '8' })).status, 422);
    assert.deepEqual(endsLogged().slice(before).map((line) => JSON.parse(line).target), [shown]);
  }
});

test('nothing is sent or run again because a webhook asks for it', async () => {
  await outgoing({ targetUrl: target.url('/again'), triggerEvent: 'again' });
  const { json } = await relay.ask('POST', '/api/events', { name: 'again' });
  const [delivery] = json['deliveries'] as readonly string[];
  const kept = await relay.hook({ actionType: 'log', options: {} }, {
    pathSegment: 'again', inbox: 'all',
  });
  assert.equal((await relay.ask('POST', '/webhook/in/again', {})).status, 200);
  const { text } = await relay.ask('GET', `/api/requests?hook=${String(kept.json['identifier'])}`);
  const [{ id }] = JSON.parse(text);
  await chainsOf('/again', 1);
  const ways: [string, object][] = [
    [`/api/deliveries/${delivery}/resend`, { as: 'new' }],
    [`/api/deliveries/${delivery}/resend`, {}],
    [`/api/deliveries/${delivery}/retry`, {}],
    ['/api/deliveries/retry', {}],
    ['/api/deliveries/resend', { event: 'again' }],
    [`/api/requests/${id}/replay`, {}],
    ['/api/requests/replay', { status: 'failed' }],
  ];
  for (const [path, body] of ways) {
    for (const key of [{}, { 'Idempotency-Key': `again-${path}` }]) {
      const asked = await relay.ask('POST', path, body, { ...key, [CHAIN]: '1' });
      assert.equal(asked.status, 422, `${path} ${asked.text}`);
      assert.match(asked.text, /a webhook cannot have anything sent or run again/);
    }
  }
  assert.equal((await relay.ask('GET', '/api/jobs')).text, '[]');
  assert.deepEqual(await chainsOf('/again', 1), ['1']);
});

test('a forward to its own hook goes round eight times', async () => {
  count += 1;
  const path = `/webhook/in/in-${count}`;
  const options = { url: `${relay.url}${path}` };
  const before = relay.logLines.length;
  await relay.hook({ actionType: 'http-forward', options }, { pathSegment: `in-${count}` });
  assert.equal((await relay.ask('POST', path, {})).status, 400);
  assert.deepEqual(warningsIn(relay.logLines.slice(before)).sort(), [TOO_LONG, 'a webhook fails']);
  const rounds = relay.logLines.slice(before)
    .filter((line) => line.includes('"message":"request"') && line.includes(path));
  assert.equal(rounds.length, HOPS_MAX + 1);
});

test('a loop of two services has one line about its end, and the first caller is told',
  async (context) => {
    const [one, other] = await Promise.all([startRelay(), startRelay()]);
    context.after(() => Promise.all([one.close(), other.close()]));
    for (const [from, to] of [[one, other], [other, one]] as const) {
      await from.hook({
        actionType: 'http-forward', options: { url: `${to.url}/webhook/in/hook` },
      });
    }
    const { status, headers } = await one.ask('POST', '/webhook/in/hook', {});
    assert.deepEqual([status, headers['x-hookshelf-chain']], [400, 'refused']);
    const lines = [...one.logLines, ...other.logLines];
    assert.deepEqual(warningsIn(lines).sort(), [TOO_LONG, 'a webhook fails', 'a webhook fails']);
    assert.equal(lines.filter((line) => /"level":"debug".*incoming webhook was run/.test(line))
      .length, HOPS_MAX + 1);
  });

test('what a target answers to a chain that it refused is passed on, and no try warns', {
  timeout: 120_000,
}, async (context) => {
  const refusing = await startRefusing(context);
  const url = refusing.url('/far');
  const id = await outgoing({ targetUrl: url, triggerEvent: 'far' });
  const before = relay.logLines.length;
  const path = `/api/outgoing-webhooks/${id}/send`;
  const action = await incoming('caller', { url });
  for (const way of [path, action, await incoming('http-forward', { url })]) {
    const { headers } = await relay.ask('POST', way, {});
    assert.equal(headers['x-hookshelf-chain'], 'refused', way);
  }
  await relay.ask('POST', '/api/events', { name: 'far' });
  const attempted = (): string | undefined => relay.logLines.slice(before)
    .find((line) => line.includes('a delivery was attempted'));
  await turnsUntil(() => attempted() !== undefined);
  assert.match(attempted() ?? '', /"level":"debug".*"status":"failed"/);
  // It is not tried again. Its health began to fail with it, which is said once.
  assert.deepEqual(warningsIn(relay.logLines.slice(before)), ['a webhook fails']);
  const { json } = await relay.ask('GET', `/api/outgoing-webhooks/${id}`);
  const { state, lastFailure } = json['health'] as Health;
  assert.deepEqual([state, lastFailure?.reason], ['failing', 'HTTP 422']);
});

test('an action that throws after a refused chain passes the refusal on, and is not run again', {
  timeout: 120_000,
}, async (context) => {
  const refusing = await startRefusing(context);
  const own = await startRelayFor(context, {
    actions: [StrictCaller],
    incoming: { retrySchedule: [0.01, 0.01] }, outgoing: { retrySchedule: [0.01, 0.01] },
  });
  own.webhooks.start();
  const action = { actionType: 'strict-caller', options: { url: refusing.url('/far') } };
  await own.hook(action, { pathSegment: 'result' });
  const { status, headers, json } = await own.ask('POST', '/webhook/in/result', {});
  assert.deepEqual([status, headers['x-hookshelf-chain'], json['message']],
    [400, 'refused', 'Action failed']);

  await own.hook(action, { pathSegment: 'accepted', inbox: 'all', answer: 'accepted' });
  await own.ask('POST', '/webhook/in/accepted', {});
  await own.ask('POST', '/api/action-configurations', { ...action, identifier: 'strict' });
  const made = await own.ask('POST', '/api/outgoing-webhooks', {
    targetUrl: target.url('/never'), triggerEvent: 'strict', actionConfiguration: 'strict',
  });
  assert.equal(made.status, 201, made.text);
  await own.ask('POST', '/api/events', { name: 'strict' });
  const countFailed = async (path: string): Promise<number> =>
    JSON.parse((await own.ask('GET', `${path}?status=failed`)).text).length;
  await until('both failed', async () => await countFailed('/api/requests') === 2
    && await countFailed('/api/deliveries') === 1);
  assert.equal(refusing.received.length, 3, 'each ran once');
  assert.deepEqual(own.logLines.filter((line) => line.includes('"level":"error"')), []);
});

test('what is queued or accepted fails at once when its chain is refused, with one line', {
  timeout: 120_000,
}, async (context) => {
  const own = await startRelayFor(context, {
    incoming: { retrySchedule: [0.01, 0.01, 0.01] }, outgoing: { retrySchedule: [0.01, 0.01] },
  });
  own.webhooks.start();
  const failedOf = async (path: string): Promise<readonly Failed[]> =>
    JSON.parse((await own.ask('GET', `${path}?status=failed`)).text);
  const options = { url: `${own.url}/webhook/in/hook` };
  await own.hook({ actionType: 'http-forward', options: { ...options, mode: 'queue' } });
  await own.ask('POST', '/webhook/in/hook', {});
  await until('the forward failed', async () => (await failedOf('/api/deliveries')).length === 1);
  const [delivery] = await failedOf('/api/deliveries');
  assert.equal(delivery?.attempts?.length, 1);
  assert.deepEqual(warningsIn(own.logLines), [TOO_LONG]);

  const made = await own.hook({ actionType: 'http-forward', options }, {
    pathSegment: 'accepted', inbox: 'all', answer: 'accepted',
  });
  const accepted = String(made.json['identifier']);
  await own.ask('POST', '/webhook/in/accepted', {}, { [CHAIN]: '8' });
  await until('the request failed', async () => (await failedOf('/api/requests'))
    .some(({ hook }) => hook === accepted));
  const request = (await failedOf('/api/requests')).find(({ hook }) => hook === accepted);
  const { json } = await own.ask('GET', `/api/requests/${request?.id}`);
  assert.equal((json['routes'] as readonly Failed[])[0]?.attempts?.length, 1, JSON.stringify(json));
  assert.deepEqual(warningsIn(own.logLines), [TOO_LONG, TOO_LONG, 'a webhook fails']);
});

test('an outgoing webhook at the events of its own service ends', {
  timeout: 120_000,
}, async () => {
  await outgoing({
    targetUrl: `${relay.url}/api/events`, triggerEvent: 'round',
    payloadTemplate: '{"name":"round"}',
  });
  const before = endsLogged().length;
  assert.equal((await relay.ask('POST', '/api/events', { name: 'round' })).status, 202);
  await turnsUntil(() => endsLogged().length > before);
  const { json } = await relay.ask('GET', '/api/deliveries/reconcile');
  assert.ok(Number(json['pending']) <= 1, JSON.stringify(json));
});

test('of a flood of calls that end a chain a few lines a second are written, and how many were not',
  { timeout: 120_000 }, async (context) => {
    const own = await startRelayFor(context);
    await own.hook({ actionType: 'http-forward', options: { url: target.url('/flood') } });
    const startedMs = performance.now();
    const asked = await Promise.all(Array.from({ length: 30 }, () =>
      own.ask('POST', '/webhook/in/hook', {}, { [CHAIN]: '8' })));
    const windows = 1 + Math.ceil((performance.now() - startedMs) / 1000);
    assert.ok(asked.every(({ status }) => status === 400));
    const told = (text: string): string[] => own.logLines.filter((line) => line.includes(text));
    const lines = endsLogged(own).length;
    assert.ok(lines > 0 && lines <= LINES_A_SECOND * windows, `${lines} lines`);
    const leftOut = (): number => told('more chains were refused in actions')
      .reduce((sum, line) => sum + Number(/"leftOut":(\d+)/.exec(line)?.[1]), 0);
    await turnsUntil(() => leftOut() + lines >= 30);
    assert.equal(leftOut() + lines, 30);
  });
