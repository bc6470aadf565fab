/** What a webhook means for its requests that are run in the background. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { MemoryBudget } from '../../../../src/base/memory-budget.ts';
import { ActionResult } from '../../../../src/webhooks/actions/action.ts';
import { Held, InboxSimulation } from './inbox.ts';

const FAIL = (): ActionResult => ActionResult.fail('not now');
const MINUTE_MS = 60_000;

describe('the webhook of a pending request', () => {
  test('waits while it is disabled', async () => {
    const inbox = new InboxSimulation();
    const hook = await inbox.addWebhook(['a'], { enabled: false });
    const id = await inbox.accept(hook);
    await inbox.clock.advance(60 * MINUTE_MS);
    assert.deepEqual([inbox.runs.length, inbox.states(id)], [0, ['pending', 'pending']]);
    await inbox.run(inbox.webhooks.resources.incoming.patch(hook, { enabled: true }));
    await inbox.clock.advance(0);
    assert.deepEqual(inbox.states(id), ['done', 'done']);
  });

  test('fails it when it is removed, in the same transaction', async () => {
    const inbox = new InboxSimulation();
    inbox.act = FAIL;
    const hook = await inbox.addWebhook(['a', 'b']);
    inbox.act = ({ route }) => route === 'a' ? ActionResult.ok() : FAIL();
    const id = await inbox.accept(hook, ['a', 'b']);
    await inbox.clock.advance(0);
    const lines = inbox.store.lines.length;
    await inbox.run(inbox.webhooks.resources.incoming.remove(hook));
    assert.equal(inbox.store.lines.length, lines + 1);
    assert.deepEqual(inbox.states(id), ['failed', 'done', 'failed']);
    assert.equal(inbox.request(id)?.deliveries[1]?.attempts.at(-1)?.message,
      'The webhook was removed');
    await inbox.clock.advance(60 * MINUTE_MS);
    assert.equal(inbox.runs.length, 2);
  });

  test('is removed with a thousand of them waiting, a chunk a transaction', async () => {
    const inbox = new InboxSimulation();
    const hook = await inbox.addWebhook(['a'], { enabled: false });
    const ids: string[] = [];
    for (let count = 0; count < 1000; count += 1) ids.push(await inbox.accept(hook));
    await inbox.run(inbox.webhooks.resources.incoming.remove(hook));
    await inbox.clock.advance(1000);
    assert.ok(ids.every((id) => inbox.request(id)?.status === 'failed'));
    const { isReconciled, failed } = await inbox.run(inbox.webhooks.requests.reconcile());
    assert.deepEqual([isReconciled, failed], [true, 1000]);
  });

  test('may be removed while one runs: what succeeded then has', async () => {
    const inbox = new InboxSimulation();
    const held = new Held();
    inbox.act = held.act;
    const hook = await inbox.addWebhook();
    const [one, other] = [await inbox.accept(hook), await inbox.accept(hook)];
    await inbox.run(inbox.webhooks.resources.incoming.remove(hook));
    assert.deepEqual([inbox.states(one), inbox.states(other)],
      [['failed', 'failed'], ['failed', 'failed']]);
    held.end(ActionResult.ok());
    held.end(ActionResult.fail('no'));
    await inbox.clock.advance(60 * MINUTE_MS);
    assert.deepEqual([inbox.states(one), inbox.states(other)],
      [['done', 'done'], ['failed', 'failed']]);
    assert.equal(held.count, 0);
  });

  test('may be removed while one is being accepted: it fails then', async () => {
    const inbox = new InboxSimulation();
    const hook = await inbox.addWebhook(['a'], { enabled: false });
    const accepting = inbox.accept(hook);
    const removing = inbox.webhooks.resources.incoming.remove(hook);
    const [id] = await Promise.all([accepting, inbox.run(removing)]);
    await inbox.clock.advance(1000);
    assert.deepEqual(inbox.states(id), ['failed', 'failed']);
  });
});

describe('limits', () => {
  test('with one at a time a webhook runs in the order of arrival, retries included', async () => {
    const inbox = new InboxSimulation({ incoming: { maxInFlightPerHook: 1 } });
    let failures = 1;
    inbox.act = () => {
      failures -= 1;
      return failures >= 0 ? FAIL() : ActionResult.ok();
    };
    const hook = await inbox.addWebhook();
    const ids = [];
    for (let count = 0; count < 4; count += 1) ids.push(await inbox.accept(hook));
    await inbox.clock.advance(MINUTE_MS);
    assert.deepEqual(inbox.runs.map(({ request }) => request), [ids[0], ...ids]);
  });

  test('a run without memory for its payload is not tried again until there is some', async () => {
    let tryCount = 0;
    class CountingBudget extends MemoryBudget {
      override beginRun(bytes: number): boolean {
        tryCount += 1;
        return super.beginRun(bytes);
      }
    }
    // A single run has room, however large it is.
    const inbox = new InboxSimulation({ memoryBudget: new CountingBudget(1) });
    const held = new Held();
    inbox.act = held.act;
    const hook = await inbox.addWebhook();
    await inbox.accept(hook);
    await inbox.accept(hook);
    await inbox.clock.advance(1000);
    assert.deepEqual([inbox.runs.length, tryCount], [1, 2]);
    held.end();
    await inbox.clock.advance(0);
    assert.deepEqual([inbox.runs.length, tryCount], [2, 3]);
  });

  test('one webhook has as many at once as it may, all together 64', async () => {
    const inbox = new InboxSimulation({ incoming: { maxInFlightPerHook: 50 } });
    const held = new Held();
    const hooks = [await inbox.addWebhook(), await inbox.addWebhook()];
    // A webhook that has not shown that it is well has fewer.
    for (const hook of hooks) await inbox.accept(hook);
    inbox.act = held.act;
    for (let count = 0; count < 60; count += 1) await inbox.accept(hooks[0] ?? '');
    assert.equal(held.count, 50);
    for (let count = 0; count < 60; count += 1) await inbox.accept(hooks[1] ?? '');
    assert.equal(held.count, 64);
    for (let count = 0; count < 120; count += 1) {
      held.end();
      await inbox.clock.advance(0);
    }
    assert.equal(inbox.runs.length, 122);
  });
});
