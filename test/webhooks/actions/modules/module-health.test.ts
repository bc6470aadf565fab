import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ModuleHealth } from '../../../../src/webhooks/actions/modules/action-modules.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

test('three ends within a minute switch a module off for a minute', async () => {
  const clock = new ManualClock();
  const health = new ModuleHealth(clock);
  assert.deepEqual([health.countEnd(), health.countEnd()], [false, false]);
  assert.equal(health.untilMs, null);
  assert.equal(health.countEnd(), true);
  assert.equal(health.remainingMs, 60_000);
  assert.equal(health.untilMs, clock.now() + 60_000);
  await clock.advance(60_000);
  assert.deepEqual([health.remainingMs, health.untilMs], [0, null]);
  assert.equal(health.countEnd(), false);
});

test('ends that lie further apart switch nothing off', async () => {
  const clock = new ManualClock();
  const health = new ModuleHealth(clock);
  for (let end = 0; end < 10; end += 1) {
    assert.equal(health.countEnd(), false);
    await clock.advance(30_001);
  }
});
