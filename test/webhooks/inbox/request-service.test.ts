/** What an operator's change of a stored request writes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ActionResult } from '../../../src/webhooks/actions/action.ts';
import { InboxSimulation } from './runs/inbox.ts';

/** A request of which route `a` is done and route `b` has failed, and its id. */
async function openHalfDone(): Promise<{ readonly inbox: InboxSimulation; readonly id: string }> {
  const inbox = new InboxSimulation({ incoming: { retrySchedule: [] } });
  inbox.act = ({ route }) => route === 'a' ? ActionResult.ok() : ActionResult.fail('no');
  const id = await inbox.accept(await inbox.addWebhook(['a', 'b']), ['a', 'b']);
  await inbox.clock.advance(1000);
  assert.deepEqual(inbox.states(id), ['failed', 'done', 'failed']);
  return { inbox, id };
}

/** The records of requests and deliveries that the transactions from number `from` on wrote. */
function writtenIds(inbox: InboxSimulation, from: number): readonly string[] {
  return inbox.store.lines.slice(from).flat()
    .filter(({ collection }) => collection === 'requests' || collection === 'deliveries')
    .map(({ id }) => id);
}

test('a pin writes the request, and none of its deliveries', async () => {
  const { inbox, id } = await openHalfDone();
  const from = inbox.store.lines.length;
  const { pinned } = await inbox.run(inbox.webhooks.requests.pin(id, true));
  assert.deepEqual([pinned, writtenIds(inbox, from)], [true, [id]]);
});

test('a retry of a route writes its delivery, and not that of another route', async () => {
  const { inbox, id } = await openHalfDone();
  const from = inbox.store.lines.length;
  const { status } = await inbox.run(
    inbox.webhooks.requests.replay(id, { routes: ['b'], isNew: false }));
  assert.equal(status, 'pending');
  const written = writtenIds(inbox, from);
  assert.ok(written.includes(`${id}.1`), String(written));
  assert.ok(!written.includes(`${id}.0`), String(written));
});
