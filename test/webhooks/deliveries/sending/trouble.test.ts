import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError } from '../../../../src/base/errors.ts';
import { DOWN, Simulation } from './simulation.ts';

test('a result that breaks on a bug of ours is not sent again at once', async () => {
  let isBroken = true;
  const simulation = new Simulation({
    random: () => {
      if (isBroken) throw new TypeError('a bug');
      return 0;
    },
  });
  await simulation.addHook('target');
  const [id = ''] = await simulation.emit();
  await simulation.clock.advance(59_000);
  assert.equal(simulation.requests.length, 1);
  assert.ok(simulation.logLines.some((line) => line.includes('a bug')));
  isBroken = false;
  await simulation.clock.advance(2000);
  assert.deepEqual([simulation.requests.length, simulation.delivery(id)?.status], [2, 'delivered']);
});

test('what is left of a removed webhook is cancelled once the store takes writes', async () => {
  const simulation = new Simulation();
  const hook = await simulation.addHook('target', {}, DOWN);
  const { store, webhooks } = simulation;
  const before = store.lines.length;
  const emitting = webhooks.emit('thing.happened', {});
  // The event is staged, so the removal cannot see its delivery.
  const removing = webhooks.resources.outgoing.remove(hook);
  const refused = assert.rejects(removing, { code: 'storage_full' });
  const [id = ''] = await emitting;
  assert.equal(store.lines.length, before + 2);
  store.failNextBatch(new AppError('storage_full', 'full'));
  await refused;
  assert.equal(simulation.delivery(id)?.status, 'pending');
  await simulation.clock.advance(2000);
  assert.equal(simulation.delivery(id)?.status, 'cancelled');
  const told = simulation.logLines.filter((line) => line.includes('wait to be cancelled'));
  assert.equal(told.length, 1);
});
