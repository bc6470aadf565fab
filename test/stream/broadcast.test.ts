import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLogger } from '../../src/base/log.ts';
import { Broadcast } from '../../src/stream/broadcast.ts';
import { ManualClock } from '../support/manual-clock.ts';

test('readers that open their streams at once are limited as others are', async () => {
  const broadcast = new Broadcast({
    topics: [], changes: { follow: () => () => {}, since: async () => null }, sequence: () => 0,
    tokenCollection: 'tokens', find: () => undefined,
    clock: new ManualClock(), logger: silentLogger,
  });
  const filter = { topics: [], webhookIds: null, view: null };
  const connection = { mayRead: () => true, cut: () => {} };
  const opened = await Promise.allSettled(
    Array.from({ length: 300 }, () => broadcast.open(filter, null, connection)));
  assert.equal(opened.filter(({ status }) => status === 'fulfilled').length, 256);
  broadcast.close();
});
