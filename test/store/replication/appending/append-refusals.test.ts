import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError } from '../../../../src/base/errors.ts';
import {
  AppendRefusals,
} from '../../../../src/store/replication/appending/append-refusals.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

test('an append that is too large for the engine never stops the others', async () => {
  const clock = new ManualClock();
  const refusals = new AppendRefusals(clock);
  const startedMs = clock.monotonicMs();
  const error = new AppError('too_large', 'a batch of 9 MiB');
  assert.equal(refusals.record({ error, startedMs, bytes: 9 << 20 }), error);
  await clock.advance(60_000);
  assert.equal(refusals.record({ error, startedMs, bytes: 9 << 20 }), error);
  assert.equal(refusals.lasting, null);
});
