import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { AppError } from '../../../src/base/errors.ts';
import { silentLogger } from '../../../src/base/log.ts';
import { Membership } from '../../../src/nodes/membership.ts';
import { LEASES, NODES } from '../../../src/nodes/node-records.ts';
import type { LogEntry } from '../../../src/store/engines/engine.ts';
import { openSharedStore } from '../../support/open-shared-store.ts';
import { SharedStoreRig, put } from '../../support/shared-store-rig.ts';
import { SimulatedEngine } from '../../support/simulated-engine.ts';
import { turnsUntil } from '../../support/turns.ts';
import { COLLECTIONS, contentOf } from '../../support/workload.ts';

const NO_ROOM = new AppError('storage_full', 'the engine has no room');
const LARGE = 'x'.repeat(5000);

const rig = new SharedStoreRig();

function refuseFrom(bytes: number, error = NO_ROOM): void {
  rig.engine.refuse = ({ lines }: LogEntry) => lines.length >= bytes ? error : null;
}

test('a node whose engine is full says so until a write goes through, and reads on', async () => {
  const [one, two] = [await rig.open(), await rig.open()];
  const said: (string | null)[] = [];
  one.onFailure((reason) => said.push(reason));
  refuseFrom(0);
  await assert.rejects(one.transact(put('a')), { code: 'storage_full' });
  assert.match(one.failure ?? '', /no room/);
  assert.throws(() => one.checkWritable(), { code: 'storage_full' });
  await assert.rejects(one.transact(put('b')), { code: 'storage_full' });
  assert.equal(two.failure, null, 'of which nothing was refused');

  refuseFrom(Infinity);
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

test('a right that was taken away is told like room that there is none of', async () => {
  const one = await rig.open();
  refuseFrom(0, new AppError('misconfigured', 'not allowed'));
  await assert.rejects(one.transact(put('a')), { code: 'unavailable', message: 'not allowed' });
  assert.equal(one.failure, 'not allowed');
  refuseFrom(Infinity);
  await one.transact(put('a'));
  assert.equal(one.failure, null);
});

test('what is smaller than what was refused does not show that there is room', async () => {
  const one = await rig.open();
  refuseFrom(1000);
  await assert.rejects(one.transact(put('a', LARGE)), { code: 'storage_full' });
  await one.transact(put('b'));
  assert.match(one.failure ?? '', /no room/);
  refuseFrom(Infinity);
  await one.transact(put('a', LARGE));
  assert.equal(one.failure, null);
});

test('beats tell when there is room again, and not sooner', async () => {
  const { engine, clock, stores } = rig;
  const store = await openSharedStore(engine, {
    number: 1, clock, specs: [...COLLECTIONS, NODES, LEASES],
  });
  stores.push(store);
  const node = new Membership({
    store, clock, log: silentLogger, node: 'n', makeRun: randomUUID,
    lengths: { lengthMs: 15_000, attemptMs: 5000 }, isReloading: () => false,
    describeNode: () => ({ version: '1', address: null, position: 0, lag: 0 }),
  });
  node.start();
  await clock.advance(100);
  const said: (string | null)[] = [];
  store.onFailure((reason) => said.push(reason));
  refuseFrom(1000);
  await assert.rejects(store.transact(put('a', LARGE)), { code: 'storage_full' });
  await clock.advance(10_000);
  assert.deepEqual(said, ['the engine has no room'], 'a beat as it is otherwise would fit');
  refuseFrom(Infinity);
  await clock.advance(2000);
  assert.deepEqual(said, ['the engine has no room', null]);
  await clock.advance(6000);
  assert.ok(Number(store.collection(NODES.name).findBytes('n')?.length) < 1000);
  await node.close();
});

test('an engine that is lost while it is full is told as lost, and then as full', async () => {
  const one = await rig.open();
  refuseFrom(0);
  await assert.rejects(one.transact(put('a')), { code: 'storage_full' });
  rig.engine.goDown();
  await rig.clock.advance(20_000);
  assert.match(one.failure ?? '', /cannot be reached/);
  rig.engine.comeUp();
  await rig.until(() => !/cannot be reached/.test(one.failure ?? ''));
  assert.match(one.failure ?? '', /no room/);
  refuseFrom(Infinity);
  await one.transact(put('b'));
  assert.equal(one.failure, null);
});

test('an engine that is full once it is back is not told as one that is away', async () => {
  const one = await rig.open();
  const said: (string | null)[] = [];
  one.onFailure((reason) => said.push(reason));
  rig.once('append', 'lost-before');
  refuseFrom(0);
  const write = assert.rejects(one.transact(put('a')), { code: 'unknown_outcome' });
  await rig.until(() => one.failure !== null);
  await rig.clock.advance(20_000);
  await write;
  assert.equal(one.failure, 'the engine has no room');
  assert.deepEqual(said, ['the engine has no room']);
});

test('what is refused for 2 s is told until something is taken', async () => {
  const one = await rig.open();
  refuseFrom(0, new AppError('unavailable', 'somebody holds the lock'));
  await assert.rejects(one.transact(put('a')), { code: 'unavailable' });
  assert.equal(one.failure, null, 'it may pass');
  await rig.clock.advance(2000);
  await assert.rejects(one.transact(put('a')), { code: 'unavailable' });
  assert.equal(one.failure, 'somebody holds the lock');
  refuseFrom(Infinity);
  await one.transact(put('a'));
  assert.equal(one.failure, null);
});

test('the engine is heard only in a session that it has confirmed', async () => {
  const one = await rig.open();
  rig.engine.stopReplicating();
  rig.engine.loseAll();
  const { lastResponseMs } = one.replica ?? {};
  await rig.clock.advance(8000);
  assert.equal(one.replica?.lastResponseMs, lastResponseMs);
  assert.ok(one.replica?.disconnectReason !== null);
  rig.engine.goOnReplicating();
  await rig.until(() => one.replica?.disconnectReason === null);
  assert.notEqual(one.replica?.lastResponseMs, lastResponseMs);
});

test('a command begins no log', async () => {
  const engine = new SimulatedEngine();
  const { clock } = rig;
  await assert.rejects(openSharedStore(engine, { number: 1, clock, mayBegin: false }),
    { code: 'not_found', message: /holds no log/ });
  assert.equal(engine.log, null);
  await (await openSharedStore(engine, { number: 1, clock })).close();
  await (await openSharedStore(engine, { number: 1, clock, mayBegin: false })).close();
});
