import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { SharedStoreRig, put } from '../../support/shared-store-rig.ts';
import type { EngineCall } from '../../support/simulated-engine.ts';
import { turnsUntil } from '../../support/turns.ts';
import { contentOf } from '../../support/workload.ts';

let rig: SharedStoreRig;

beforeEach(() => {
  rig = new SharedStoreRig();
});

afterEach(() => rig.close());

test('a node whose engine is full says so until a write goes through, and reads on', async () => {
  const [one, two] = [await rig.open(), await rig.open()];
  const said: (string | null)[] = [];
  one.onFailure((reason) => said.push(reason));
  const isAppend = (call: EngineCall): boolean => call === 'append' || call === 'appendLocked';
  rig.engine.faults = (call) => isAppend(call) ? 'full' : 'none';
  await assert.rejects(one.transact(put('a')), { code: 'storage_full' });
  assert.match(one.failure ?? '', /no room/);
  assert.throws(() => one.checkWritable(), { code: 'storage_full' });
  await assert.rejects(one.transact(put('b')), { code: 'storage_full' });
  assert.equal(two.failure, null, 'of which nothing was refused');

  rig.engine.faults = () => 'none';
  await two.transact(put('c'));
  await turnsUntil(() => one.statistics.sequence === 1);
  await rig.clock.advance(2000);
  assert.match(one.failure ?? '', /no room/, 'to read proves nothing');
  await one.transact(put('d'));
  assert.equal(one.failure, null);
  one.checkWritable();
  await rig.clock.advance(1000);
  assert.deepEqual(contentOf(one), contentOf(two));
  assert.deepEqual(said, ['the engine has no room', null]);
  assert.match(rig.logged.join('\n'), /writing stopped until the engine takes it again .*no room/);
});

test('an engine that is lost while it is full is told as lost, and then as full', async () => {
  const one = await rig.open();
  rig.once('append', 'full');
  await assert.rejects(one.transact(put('a')), { code: 'storage_full' });
  rig.engine.goDown();
  await rig.clock.advance(20_000);
  assert.match(one.failure ?? '', /cannot be reached/);
  rig.engine.comeUp();
  await rig.until(() => !/cannot be reached/.test(one.failure ?? ''));
  assert.match(one.failure ?? '', /no room/);
  await one.transact(put('b'));
  assert.equal(one.failure, null);
});
