/** What the inbox of a webhook keeps of the requests that come in. */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test, type TestContext } from 'node:test';
import { AppError } from '../../../src/base/errors.ts';
import type { MemoryStore } from '../../support/memory-store.ts';
import { until } from '../../support/until.ts';
import { createActionClass } from '../context.ts';
import {
  startRelayFor, startRelayWithHook, type Answer, type Headers, type Relay, type RelayOptions,
} from '../relay.ts';

let runCount = 0;
/** Answers as its payload says. */
const Told = createActionClass('told', (payload: Record<string, unknown>) => {
  const { fails = false, data = {}, message = null } = payload;
  runCount += 1;
  if (data === 'cyclic') return { success: true, data: cycle };
  return { success: fails !== true, message, data };
});

const cycle: { self?: unknown } = {};
cycle.self = cycle;

const ACTION = { actionType: 'told' };

type Shown = Readonly<Record<string, unknown>>;

function start(context: TestContext, hook: object, options: RelayOptions = {}): Promise<Relay> {
  return startRelayWithHook(context, ACTION, hook, { ...options, actions: [Told] });
}

const call = (relay: Relay, body: unknown = {}, headers: Headers = {}): Promise<Answer> =>
  relay.ask('POST', '/webhook/in/hook', body, headers);

async function kept(relay: Relay, query = ''): Promise<readonly Shown[]> {
  const { status, text } = await relay.ask('GET', `/api/requests${query}`);
  assert.equal(status, 200, text);
  return JSON.parse(text);
}

async function bodyOf(relay: Relay, { id }: Shown): Promise<string> {
  return (await relay.ask('GET', `/api/requests/${String(id)}/body`)).text;
}

test('inbox off keeps nothing, failed what failed, all everything', async (context) => {
  for (const [inbox, expected] of [
    ['off', []], ['failed', ['failed']], ['all', ['failed', 'done']],
  ] as const) {
    await context.test(inbox, async (one) => {
      const relay = await start(one, { inbox });
      assert.equal((await call(relay, {})).status, 200);
      assert.equal((await call(relay, { fails: true, message: 'no' })).status, 400);
      assert.deepEqual((await kept(relay)).map(({ status }) => status), expected);
    });
  }
});

test('that a request has failed and is kept is told to who listens', async (context) => {
  const relay = await start(context, {});
  await relay.ask('POST', '/api/outgoing-webhooks',
    { targetUrl: 'http://127.0.0.1:9/', triggerEvent: 'request.failed' });
  await call(relay, {});
  await call(relay, { fails: true, message: 'no' });
  const { text } = await relay.ask('GET', '/api/deliveries');
  assert.deepEqual((JSON.parse(text) as Shown[]).map(({ event }) => event), ['request.failed']);
});

test('keeps failed requests unless told otherwise', async (context) => {
  const relay = await start(context, {});
  const body = '{"fails": true,\r\n "message":"\u00fc", "data": {"why": 1}}';
  const answer = await call(relay, body, { 'X-Case': 'As-It-Came', 'Authorization': 'Bearer x' });
  assert.deepEqual([answer.status, answer.json['message']], [400, '\u00fc']);
  const [request = {}] = await kept(relay);
  const { routes, headers, answered, ...rest } = request;
  assert.deepEqual(rest, {
    ...rest, method: 'POST', path: '/webhook/in/hook', query: '', event: null, eventId: null,
    bodyBytes: Buffer.byteLength(body), status: 'failed', duplicateOf: null, pinned: false,
    verdict: { preset: null, accepted: true, failedCheck: null, secret: null, signedAt: null },
  });
  const [route] = routes as Shown[];
  const [attempt] = route?.['attempts'] as Shown[];
  assert.deepEqual({ ...route, attempts: 1 }, {
    name: 'default', status: 'failed', attempts: 1, nextAttemptAt: null,
  });
  assert.deepEqual(attempt, {
    ...attempt, success: false, message: '\u00fc', data: { why: 1 },
  });
  assert.equal((answered as Shown)['status'], 400);
  const pairs = new Map(headers as [string, string][]);
  assert.deepEqual([pairs.get('X-Case'), pairs.get('Authorization')], ['As-It-Came', '***']);
  assert.equal(await bodyOf(relay, request), body);
});

test('an action whose data cannot be JSON has failed, and is kept as failed', async (context) => {
  for (const inbox of ['failed', 'all']) {
    const relay = await start(context, { inbox });
    assert.equal((await call(relay, { data: 'cyclic' })).status, 400);
    const [{ status, routes } = {}] = await kept(relay);
    const [{ attempts } = {}] = routes as Shown[];
    assert.deepEqual([status, (attempts as Shown[])[0]?.['message']], ['failed', 'Action failed']);
    await relay.close();
  }
});

test('data of more than 1 KiB is answered and not kept', async (context) => {
  const relay = await start(context, { inbox: 'all' });
  for (const [length, isKept] of [[1000, true], [1100, false]] as const) {
    const data = { text: 'x'.repeat(length) };
    assert.deepEqual((await call(relay, { data })).json['data'], data);
    const [{ routes } = {}] = await kept(relay);
    const [{ attempts } = {}] = routes as Shown[];
    assert.deepEqual((attempts as Shown[])[0]?.['data'], isKept ? data : null);
  }
});

test('keeps each route\'s outcome, and what matched none as filtered', async (context) => {
  const relay = await startRelayFor(context, { actions: [Told] });
  const { json } = await relay.ask('POST', '/api/action-configurations', ACTION);
  const actionConfiguration = json['identifier'];
  const when = (value: string): object => ({ path: 'payload.kind', op: 'eq', value });
  const made = await relay.ask('POST', '/api/incoming-webhooks', {
    pathSegment: 'hook', inbox: 'all', routes: [
      { name: 'one', when: { any: [when('a'), when('b')] }, actionConfiguration },
      { name: 'two', when: when('b'), actionConfiguration },
    ],
  });
  assert.equal(made.status, 201, made.text);
  for (const [kind, status, names] of [
    ['a', 'done', ['one']], ['b', 'done', ['one', 'two']], ['c', 'filtered', []],
  ] as const) {
    assert.equal((await call(relay, { kind })).status, 200);
    const [request = {}] = await kept(relay);
    const routes = request['routes'] as Shown[];
    assert.deepEqual([request['status'], routes.map(({ name }) => name)], [status, names]);
  }
});

test('answers accepted whatever its action will do', async (context) => {
  const relay = await start(context, { inbox: 'all', answer: 'accepted' });
  const { status, json } = await call(relay, { fails: true });
  assert.deepEqual([status, json['success'], json['message']], [200, true, '']);
  const { request } = json['data'] as Shown;
  const [{ id, status: state, routes } = {}] = await kept(relay);
  assert.equal(request, id);
  assert.ok(state === 'pending' || state === 'failed');
  assert.equal((routes as Shown[])[0]?.['name'], 'default');
});

test('what could not be written is never answered as accepted', async (context) => {
  for (const [code, status] of
    [['storage_full', 507], ['unavailable', 503], ['too_large', 413]] as const) {
    for (const hook of [{ inbox: 'all', answer: 'accepted' }, { inbox: 'all' }]) {
      const relay = await start(context, hook);
      (relay.store as MemoryStore).failNextBatch(new AppError(code, 'the disk'));
      const answer = await call(relay);
      assert.equal(answer.status, status);
      assert.equal(Number(answer.headers['retry-after'] ?? 0) > 0, code !== 'too_large');
      assert.deepEqual(await kept(relay), []);
      await relay.close();
    }
  }
});

test('a failure is told even when it cannot be kept', async (context) => {
  const relay = await start(context, {});
  (relay.store as MemoryStore).failNextBatch(new AppError('storage_full', 'the disk'));
  assert.equal((await call(relay, { fails: true })).status, 400);
  assert.deepEqual(await kept(relay), []);
  assert.ok(relay.logLines.some((line) => line.includes('a request could not be kept')));
});

test('what is pinned fills the inbox, and what has finished makes room', async (context) => {
  const inbox = {
    retentionMs: 1e9, failedRetentionMs: 1e9, maxCount: 4, maxBytes: 1 << 20,
  };
  const relay = await start(context, { inbox: 'all' }, { inbox });
  relay.webhooks.start();
  for (let turn = 0; turn < 10; turn += 1) {
    const answer = await retried(() => call(relay, { turn }));
    assert.equal(answer.status, 200);
  }
  const { size } = relay.store.collection('requests');
  await until('the oldest have made room', () => relay.store.collection('requests').size <= 4);
  assert.ok(size <= 6, 'never far over the limit');
  const pin = async (pinned: boolean): Promise<void> => {
    for (const { id } of await kept(relay)) {
      const answer = await relay.ask('PATCH', `/api/requests/${String(id)}`, { pinned },
        { 'Content-Type': 'application/merge-patch+json' });
      assert.equal(answer.status, 200, answer.text);
    }
  };
  assert.equal(relay.webhooks.findInboxShortage(), null);
  await pin(true);
  const before = runCount;
  const refused = await call(relay);
  assert.equal(refused.status, 503);
  assert.ok(Number(refused.headers['retry-after']) > 0);
  assert.equal(runCount, before, 'nothing ran for it');
  assert.match(relay.webhooks.findInboxShortage() ?? '', /^4 requests are pending or pinned /);
  assert.deepEqual(relay.webhooks.rejections().map(({ reason }) => reason), ['unavailable']);
  assert.equal(relay.store.collection('requests').size, 4, 'nothing was lost');
  await pin(false);
  assert.equal((await retried(() => call(relay))).status, 200);
  assert.equal(relay.webhooks.findInboxShortage(), null);
});

async function retried(ask: () => Promise<Answer>): Promise<Answer> {
  for (let turn = 0; turn < 100; turn += 1) {
    const answer = await ask();
    if (answer.status !== 503) return answer;
    await new Promise((resolve) => void setTimeout(resolve, 10));
  }
  return ask();
}

test('a large request has no room beside what is pending, until that has run', async (context) => {
  const inbox = { retentionMs: 1e9, failedRetentionMs: 1e9, maxCount: 100, maxBytes: 10_000 };
  const relay = await start(context, { inbox: 'all', answer: 'accepted' }, { inbox });
  assert.equal((await call(relay, { text: 'x'.repeat(6000) })).status, 200);
  assert.equal((await call(relay, { text: 'x'.repeat(6000) })).status, 503);
  assert.match(relay.logLines.join(), / \d{4} bytes are pending or pinned, and 6\d{3} more do not/);
  assert.equal((await call(relay, {})).status, 200);
  assert.equal((await kept(relay)).length, 2);
});

for (const answer of ['accepted', 'result']) {
  test(`a request that the inbox can never hold is too large: ${answer}`, async (context) => {
    const inbox = { retentionMs: 1e9, failedRetentionMs: 1e9, maxCount: 100, maxBytes: 10_000 };
    const relay = await start(context, { inbox: 'all', answer }, { inbox });
    const before = runCount;
    const refused = await call(relay, { text: 'x'.repeat(20_000) });
    assert.deepEqual([refused.status, refused.json['message']], [413, 'Payload too large']);
    assert.equal(refused.headers['retry-after'], undefined, 'to send it again is of no use');
    assert.match(relay.logLines.join(), /more than the inbox may hold \(inbox\.maxBytes: 10000\)/);
    assert.equal(runCount, before, 'nothing ran for it');
    assert.deepEqual(await kept(relay), []);
  });
}

test('one that is kept only if it fails runs, however large it is', async (context) => {
  const inbox = { retentionMs: 1e9, failedRetentionMs: 1e9, maxCount: 100, maxBytes: 10_000 };
  const relay = await start(context, { inbox: 'failed' }, { inbox });
  assert.equal((await call(relay, { text: 'x'.repeat(20_000) })).status, 200);
});

test('a large request finds room where what is kept has finished', async (context) => {
  const inbox = { retentionMs: 1e9, failedRetentionMs: 1e9, maxCount: 100, maxBytes: 65_536 };
  const relay = await start(context, { inbox: 'all' }, { inbox });
  relay.webhooks.start();
  for (let turn = 0; turn < 10; turn += 1) {
    const answer = await retried(() => call(relay, { text: 'x'.repeat(20_000) }));
    assert.equal(answer.status, 200, answer.text);
  }
});

test('a body of any size is kept byte for byte', async (context) => {
  const relay = await start(context, { inbox: 'all', bodyFormat: 'text' });
  for (const text of ['', 'x', 'y'.repeat(16_384), 'z'.repeat(16_385)]) {
    await relay.ask('POST', '/webhook/in/hook', Buffer.from(text));
    const [request = {}] = await kept(relay);
    assert.equal(await bodyOf(relay, request), text);
  }
  const binary = Buffer.from([0, 255, 254, 10]);
  await relay.ask('POST', '/webhook/in/hook', binary);
  const [request = {}] = await kept(relay);
  assert.equal(request['bodyBytes'], 4);
});

test('rejected requests are kept in memory alone, and the oldest go first', async (context) => {
  const secret = 'x'.repeat(40);
  const relay = await start(context, { secret });
  for (let turn = 0; turn < 105; turn += 1) {
    const body = turn === 104 ? 'long '.repeat(2000) : `{"turn":${turn}}`;
    const headers = { 'X-Signature': `sha256=${'0'.repeat(64)}`, 'Cookie': 'geheim' };
    assert.equal((await call(relay, body, headers)).status, 401);
  }
  assert.equal(relay.store.collection('requests').size, 0);
  const rejected = await kept(relay, '?status=rejected&limit=200');
  assert.equal(rejected.length, 100);
  const [last = {}, before = {}] = rejected;
  assert.deepEqual(last['verdict'], {
    preset: 'hookshelf', accepted: false, failedCheck: 'mismatch', secret: null, signedAt: null,
  });
  const pairs = new Map(last['headers'] as [string, string][]);
  assert.deepEqual([pairs.get('Cookie'), pairs.get('X-Signature')], ['***', '***']);
  assert.equal((await bodyOf(relay, last)).length, 8192);
  assert.equal(await bodyOf(relay, before), '{"turn":103}');
  const body = '{"turn":1}';
  const signature = `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
  assert.equal((await call(relay, body, { 'X-Signature': signature })).status, 200);
});

test('a rejected request says what it was, and what it was answered', async (context) => {
  const secret = 'x'.repeat(40);
  const name = { 'X-GitHub-Event': 'push', 'X-GitHub-Delivery': 'one' };
  const long = 'y'.repeat(9000);
  for (const [preset, hook, body, headers, expected] of [
    ['github', {}, '{}', name, ['push', 401]],
    ['github', {}, '{}', { ...name, 'X-GitHub-Event': 'p'.repeat(1001) }, [null, 401]],
    ['github', { response: { rejected: { status: 418 } } }, '{}', name, ['push', 418]],
    ['github', { allowedAddresses: ['192.0.2.1'] }, '{}', name, ['push', 403]],
    ['stripe', {}, '{"type":"charge.failed"}', {}, ['charge.failed', 401]],
    ['stripe', {}, 'no JSON', {}, [null, 401]],
    // Whoever cannot sign has no long body parsed.
    ['stripe', {}, `{"type":"charge.failed","text":"${long}"}`, {}, [null, 401]],
    [undefined, {}, '{}', name, [null, 401]],
  ] as const) {
    const verification = preset === undefined ? {} : { verification: { preset } };
    const relay = await start(context, { secret, ...verification, ...hook });
    const answer = await call(relay, body, headers);
    const [{ event, eventId, answered } = {}] = await kept(relay, '?status=rejected');
    assert.deepEqual([event, (answered as Shown)['status']], expected);
    assert.equal(answer.status, expected[1]);
    assert.ok(Number((answered as Shown)['afterMs']) >= 0);
    // The id of an event that nobody vouches for must not pass for that of the real event.
    assert.equal(eventId, null);
    await relay.close();
  }
});

test('keeps who may not call, and who calls too often', async (context) => {
  for (const [hook, incoming, status, failedCheck] of [
    [{ allowedAddresses: ['192.0.2.1'] }, {}, 403, 'address'],
    [{}, { rateLimit: 0.001 }, 429, 'rate'],
  ] as const) {
    const relay = await start(context, hook, { incoming });
    const answers = [await call(relay, { a: 1 }), await call(relay, { a: 2 })];
    assert.equal(answers[1]?.status, status);
    const [{ verdict, bodyBytes, status: state, id } = {}] = await kept(relay);
    assert.deepEqual([state, (verdict as Shown)['failedCheck'], bodyBytes],
      ['rejected', failedCheck, 7]);
    const replay = await relay.ask('POST', `/api/requests/${String(id)}/replay`, {});
    assert.equal(replay.status, 409, 'its body was never read');
    await relay.close();
  }
});

test('requests that run later take no place of a running action', async (context) => {
  const relay = await start(context, { inbox: 'all', answer: 'accepted' },
    { incoming: { maxConcurrent: 1 } });
  const answers = await Promise.all(Array.from({ length: 20 }, () => call(relay)));
  assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200]);
});
