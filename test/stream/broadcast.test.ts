import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLogger } from '../../src/base/log.ts';
import { Broadcast } from '../../src/stream/broadcast.ts';
import type { StreamFilter } from '../../src/stream/stream-event.ts';
import { ManualClock } from '../support/manual-clock.ts';

const WHOLE = { topics: [], webhookIds: null, view: null };

function createBroadcast(): Broadcast {
  return new Broadcast({
    topics: [], changes: { follow: () => () => {}, since: async () => null }, sequence: () => 0,
    tokenCollection: 'tokens', find: () => undefined,
    clock: new ManualClock(), logger: silentLogger,
  });
}

/** Opens that many streams at once. Returns how many were opened. */
async function openMany(
  broadcast: Broadcast, filter: StreamFilter, count: number,
): Promise<number> {
  const connection = { mayRead: () => true, cut: () => {} };
  const opened = await Promise.allSettled(
    Array.from({ length: count }, () => broadcast.open(filter, null, connection)));
  return opened.filter(({ status }) => status === 'fulfilled').length;
}

test('one customer does not take the streams of all', async () => {
  const broadcast = createBroadcast();
  const viewOf = (key: string): StreamFilter => ({
    ...WHOLE, view: { key, topics: [], defaultTopics: [], show: () => null },
  });
  assert.equal(await openMany(broadcast, viewOf('acme'), 300), 16);
  await assert.rejects(broadcast.open(viewOf('acme'), null, { mayRead: () => true, cut() {} }),
    /^AppError: 16 event streams of this token are open, which is the limit$/);
  assert.equal(await openMany(broadcast, viewOf('bolt'), 300), 16);
  assert.equal(await openMany(broadcast, WHOLE, 300), 224);
  broadcast.close();
});
