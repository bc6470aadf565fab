/** Kept requests that are run in the background, until they are done or have failed. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { AppError } from '../../../../src/base/errors.ts';
import { ActionResult } from '../../../../src/webhooks/actions/action.ts';
import { endsInTurns, turnsUntil } from '../../../support/turns.ts';
import { Held, InboxSimulation } from './inbox.ts';

const FAIL = (): ActionResult => ActionResult.fail('not now', { why: 'x' });
const MINUTE_MS = 60_000;

test('an accepted request is run, and its result is one record on disk', async () => {
  const inbox = new InboxSimulation();
  const hook = await inbox.addWebhook();
  const lines = inbox.store.lines.length;
  const id = await inbox.accept(hook);
  await inbox.clock.advance(0);
  assert.equal(inbox.runs.length, 1);
  const [run] = inbox.runs;
  const { request, attempt, replay, eventId, event, method, path } = run?.context ?? {};
  assert.deepEqual({ request, attempt, replay, eventId, event, method, path, body: run?.body }, {
    request: id, attempt: 1, replay: false, eventId: 'evt', event: 'it', method: 'POST',
    path: '/webhook/in/hook', body: '{"n":1}',
  });
  assert.deepEqual(inbox.store.lines.slice(lines).map((line) =>
    line.map(({ collection }) => collection)),
  [['requests', 'deliveries'], ['deliveries']]);
  const after = inbox.request(id);
  assert.deepEqual(after?.status, 'done');
  assert.deepEqual(after?.deliveries[0]?.attempts.map(({ success, message, data }) =>
    ({ success, message, data })), [{ success: true, message: null, data: { done: true } }]);
});

test('a body in a record of its own is given whole, and is not written again', async () => {
  const inbox = new InboxSimulation();
  const hook = await inbox.addWebhook();
  const body = Buffer.alloc(40_000, 'y');
  const id = await inbox.accept(hook, ['a'], body);
  await inbox.clock.advance(0);
  assert.deepEqual([inbox.runs[0]?.body.length, inbox.states(id)], [40_000, ['done', 'done']]);
  assert.equal(inbox.store.lines.at(-1)?.some(({ collection }) =>
    collection === 'request-bodies'), false);
});

test('a body is decoded once for all routes of a request, and for each request anew', async () => {
  const payloads: unknown[] = [];
  const inbox = new InboxSimulation({
    optionalActions: [{
      identifier: 'keep', label: 'Keep the payload', isBuiltIn: true, module: null, options: {},
      validateOptions: () => [],
      run(call) {
        payloads.push(call.payload());
        return ActionResult.ok();
      },
    }],
  });
  const { configurations } = inbox.webhooks.resources;
  await inbox.run(configurations.add({ identifier: 'keep', actionType: 'keep' }));
  const hook = await inbox.addWebhook(['a'], {
    routes: ['a', 'b', 'c'].map((name) => ({ name, actionConfiguration: 'keep' })),
  });
  await inbox.accept(hook, ['a', 'b', 'c']);
  await inbox.accept(hook, ['a']);
  await inbox.clock.advance(0);
  assert.equal(payloads.length, 4);
  assert.equal(new Set(payloads).size, 2);
});

test('a failing one is tried again by the schedule, then fails for good and is kept', async () => {
  const inbox = new InboxSimulation();
  inbox.act = FAIL;
  const hook = await inbox.addWebhook();
  const id = await inbox.accept(hook);
  const start = inbox.clock.now();
  await inbox.clock.advance(4999);
  assert.equal(inbox.runs.length, 1);
  assert.deepEqual(inbox.states(id), ['pending', 'pending']);
  await inbox.clock.advance(60 * MINUTE_MS);
  const seconds = (atMs: number): number => Math.floor((atMs - start) / 1000);
  assert.deepEqual(inbox.runs.map(({ attempt, atMs }) => [attempt, seconds(atMs)]),
    [[1, 0], [2, 5], [3, 65]]);
  const { status, deliveries } = inbox.request(id) ?? {};
  assert.deepEqual([status, deliveries?.[0]?.attempts.length, deliveries?.[0]?.nextAttemptAt],
    ['failed', 3, null]);
});

test('jitter only lengthens a wait', async () => {
  const inbox = new InboxSimulation({ random: () => 0.999 });
  inbox.act = FAIL;
  const id = await inbox.accept(await inbox.addWebhook());
  const { receivedAt = '', deliveries = [] } = inbox.request(id) ?? {};
  const waitMs = Date.parse(deliveries[0]?.nextAttemptAt ?? '') - Date.parse(receivedAt);
  assert.ok(waitMs > 5400 && waitMs <= 5600, `${waitMs}`);
});

test('a route that is done is not run again while another is', async () => {
  const inbox = new InboxSimulation();
  inbox.act = ({ route, attempt }) => route === 'b' && attempt < 3 ? FAIL() : ActionResult.ok();
  const id = await inbox.accept(await inbox.addWebhook(['a', 'b', 'c']), ['a', 'b', 'c']);
  await inbox.clock.advance(0);
  assert.deepEqual(inbox.states(id), ['pending', 'done', 'pending', 'done']);
  await inbox.clock.advance(2 * MINUTE_MS);
  assert.deepEqual(inbox.states(id), ['done', 'done', 'done', 'done']);
  assert.deepEqual(inbox.runs.map(({ route }) => route).sort(), ['a', 'b', 'b', 'b', 'c']);
});

test('a request that comes after its webhook was removed fails', async () => {
  const inbox = new InboxSimulation();
  const id = await inbox.accept(inbox.nextId());
  await inbox.clock.advance(1000);
  assert.deepEqual(inbox.states(id), ['failed', 'failed']);
});

test('what is not there counts as a failed run', async () => {
  const inbox = new InboxSimulation();
  const hook = await inbox.addWebhook(['a']);
  const id = await inbox.accept(hook, ['gone']);
  await inbox.clock.advance(2 * MINUTE_MS);
  const [route] = inbox.request(id)?.deliveries ?? [];
  assert.deepEqual([route?.status, route?.attempts.map(({ message }) => message)],
    ['failed', Array(3).fill('The webhook has no route of that name')]);
});

describe('trouble', () => {
  test('a result that cannot be written is kept: the action does not run again', async () => {
    const inbox = new InboxSimulation();
    const held = new Held();
    inbox.act = held.act;
    const id = await inbox.accept(await inbox.addWebhook());
    inbox.store.failNextBatch(new AppError('storage_full', 'full'));
    held.end();
    await inbox.clock.advance(500);
    assert.deepEqual(inbox.states(id), ['pending', 'pending']);
    await inbox.clock.advance(5000);
    assert.deepEqual([inbox.states(id), inbox.runs.length], [['done', 'done'], 1]);
  });

  test('a result that breaks on a bug of ours is not run again at once', async () => {
    let isBroken = true;
    const inbox = new InboxSimulation({
      random: () => {
        if (isBroken) throw new TypeError('a bug');
        return 0;
      },
    });
    const id = await inbox.accept(await inbox.addWebhook());
    await inbox.clock.advance(59_000);
    assert.equal(inbox.runs.length, 1);
    isBroken = false;
    await inbox.clock.advance(2000);
    assert.deepEqual([inbox.runs.length, inbox.states(id)], [2, ['done', 'done']]);
  });

  test('a refusal for our own state is no attempt', async () => {
    const inbox = new InboxSimulation({ outgoing: { maxPending: 1 } });
    await inbox.addHook('target');
    inbox.targets.set('target', { kind: 'hang' });
    await inbox.emit();
    const hook = await inbox.addWebhook();
    const { configurations } = inbox.webhooks.resources;
    await inbox.run(configurations.add({
      identifier: 'emits', actionType: 'emit-event', options: { name: 'thing.came' },
    }));
    await inbox.run(inbox.webhooks.resources.incoming.patch(hook, {
      routes: [{ name: 'a', actionConfiguration: 'emits' }],
    }));
    const id = await inbox.accept(hook);
    await inbox.clock.advance(20_000);
    assert.deepEqual([inbox.states(id), inbox.request(id)?.deliveries[0]?.attempts],
      [['pending', 'pending'], []]);
  });
});

describe('a crash', () => {
  test('runs again what was under way, and nothing that was recorded', async () => {
    const inbox = new InboxSimulation();
    const hook = await inbox.addWebhook(['a', 'b']);
    const held = new Held();
    inbox.act = (run) => run.route === 'a' ? ActionResult.ok() : held.act(run);
    const id = await inbox.accept(hook, ['a', 'b']);
    await inbox.clock.advance(0);
    assert.deepEqual(inbox.states(id), ['pending', 'done', 'pending']);
    await inbox.crash();
    held.end();
    inbox.act = () => ActionResult.ok();
    await inbox.clock.advance(0);
    assert.deepEqual(inbox.states(id), ['done', 'done', 'done']);
    assert.deepEqual(inbox.runs.map(({ route, attempt }) => [route, attempt]),
      [['a', 1], ['b', 1], ['b', 1]]);
  });

  test('lets a retry wait as long as it was to', async () => {
    const inbox = new InboxSimulation();
    inbox.act = FAIL;
    const id = await inbox.accept(await inbox.addWebhook());
    await inbox.clock.advance(6000);
    await inbox.crash();
    await inbox.clock.advance(50_000);
    assert.equal(inbox.runs.length, 2);
    await inbox.clock.advance(10_000);
    assert.deepEqual([inbox.runs.length, inbox.states(id)], [3, ['failed', 'failed']]);
  });
});

describe('closing', () => {
  test('lets what runs end, and begins nothing more', async () => {
    const inbox = new InboxSimulation({ incoming: { maxInFlightPerHook: 1 } });
    const held = new Held();
    inbox.act = held.act;
    const hook = await inbox.addWebhook();
    const [one, other] = [await inbox.accept(hook), await inbox.accept(hook)];
    const closing = inbox.webhooks.close(10_000);
    await inbox.clock.advance(1000);
    held.end();
    await inbox.clock.advance(0);
    await closing;
    assert.deepEqual([inbox.states(one), inbox.states(other), inbox.runs.length],
      [['done', 'done'], ['pending', 'pending'], 1]);
  });

  test('cuts off what takes longer, which then was no attempt', async () => {
    const inbox = new InboxSimulation();
    inbox.act = new Held().act;
    const id = await inbox.accept(await inbox.addWebhook());
    const closing = inbox.webhooks.close(1000);
    await inbox.clock.advance(1001);
    await closing;
    assert.deepEqual([inbox.states(id), inbox.request(id)?.deliveries[0]?.attempts],
      [['pending', 'pending'], []]);
  });
});

test('a body that is no payload counts once, though several routes find it at once', async () => {
  const inbox = new InboxSimulation();
  const held = new Held();
  inbox.act = held.act;
  const hook = await inbox.addWebhook(['a', 'b', 'c']);
  const id = await inbox.accept(hook, ['a', 'b', 'c'], Buffer.from('no JSON'));
  await inbox.clock.advance(0);
  assert.equal(held.count, 3);
  const countUnparsed = (): number =>
    inbox.webhooks.unparsed().reduce((sum, { count }) => sum + count, 0);
  held.end();
  held.end();
  await inbox.clock.advance(0);
  assert.deepEqual([inbox.states(id), countUnparsed()],
    [['pending', 'done', 'done', 'pending'], 1]);
  held.end();
  await inbox.clock.advance(0);
  assert.deepEqual([inbox.request(id)?.status, countUnparsed()], ['done', 1]);
});

test('closing ends while the many requests of a removed webhook are failed', async () => {
  const inbox = new InboxSimulation();
  inbox.act = new Held().act;
  const hook = await inbox.addWebhook();
  const ids: string[] = [];
  for (let count = 0; count < 600; count += 1) ids.push(await inbox.accept(hook));
  const countFailed = (): number =>
    ids.filter((id) => inbox.request(id)?.status === 'failed').length;
  const removal = inbox.webhooks.resources.incoming.remove(hook);
  await turnsUntil(() => countFailed() > 0);
  assert.ok(countFailed() < 600);
  await endsInTurns(Promise.all([inbox.webhooks.close(0), removal, inbox.clock.advance(0)]));
});

test('a replay runs again with its own schedule, and is told that it is one', async () => {
  const inbox = new InboxSimulation();
  inbox.act = FAIL;
  const id = await inbox.accept(await inbox.addWebhook());
  await inbox.clock.advance(2 * MINUTE_MS);
  inbox.act = ({ attempt }) => attempt < 5 ? FAIL() : ActionResult.ok();
  await inbox.run(inbox.webhooks.requests.replay(id, { routes: null, isNew: false }));
  await inbox.clock.advance(2 * MINUTE_MS);
  assert.deepEqual(inbox.states(id), ['done', 'done']);
  assert.deepEqual(inbox.runs.map(({ attempt, replay }) => [attempt, replay]),
    [[1, false], [2, false], [3, false], [4, true], [5, true]]);
});

test('that a request has failed for good is told once, in the transaction of its end', async () => {
  const inbox = new InboxSimulation();
  await inbox.addHook('listener', { triggerEvent: 'request.failed' });
  inbox.act = ({ route, attempt }) => route === 'a' || attempt > 3 ? ActionResult.ok() : FAIL();
  const hook = await inbox.addWebhook(['a', 'b']);
  const id = await inbox.accept(hook, ['a', 'b']);
  await inbox.clock.advance(4000);
  assert.equal(inbox.requests.length, 0);
  await inbox.clock.advance(2 * MINUTE_MS);
  const told = inbox.requests.map(({ body }) => JSON.parse(body).data.request);
  assert.deepEqual(told.map(({ id: request, routes }) => ({ request, routes })),
    [{ request: id, routes: [{ name: 'b', attempts: 3, message: 'not now' }] }]);
  const failing = inbox.store.lines.find((line) => line.some(({ json }) =>
    json?.includes('"status":"failed"') === true));
  assert.ok(failing?.some(({ collection }) => collection === 'deliveries'));
});

test('a run that fails after its request was given up tells of no failure', async () => {
  const inbox = new InboxSimulation();
  await inbox.addHook('listener', { triggerEvent: 'request.failed' });
  const held = new Held();
  inbox.act = held.act;
  const hook = await inbox.addWebhook();
  const id = await inbox.accept(hook);
  await inbox.run(inbox.webhooks.resources.incoming.remove(hook));
  assert.deepEqual(inbox.states(id), ['failed', 'failed']);
  held.end(FAIL());
  await inbox.clock.advance(1000);
  assert.equal(inbox.request(id)?.deliveries[0]?.attempts.length, 2);
  assert.deepEqual(inbox.requests, []);
});

test('a webhook may have a schedule of its own; with an empty one nothing runs twice', async () => {
  const inbox = new InboxSimulation();
  inbox.act = FAIL;
  const once = await inbox.accept(await inbox.addWebhook(['a'], { retrySchedule: [] }));
  const twice = await inbox.accept(await inbox.addWebhook(['a'], { retrySchedule: [90] }));
  await inbox.clock.advance(0);
  assert.deepEqual(inbox.states(once), ['failed', 'failed']);
  assert.deepEqual(inbox.states(twice), ['pending', 'pending']);
  await inbox.clock.advance(60 * MINUTE_MS);
  assert.deepEqual(inbox.states(twice), ['failed', 'failed']);
  assert.deepEqual(inbox.runs.map(({ request }) => request), [once, twice, twice]);
});
