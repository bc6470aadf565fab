/** Nodes of this release beside nodes of an older one, whose records do not say `forms`. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { afterEach, test } from 'node:test';
import { COLLECTIONS, openApp } from '../../src/app.ts';
import { FormUpkeep } from '../../src/app/form-upkeep.ts';
import { AppError } from '../../src/base/errors.ts';
import { silentLogger } from '../../src/base/log.ts';
import { Membership } from '../../src/nodes/membership.ts';
import { LEASES, NODES } from '../../src/nodes/node-records.ts';
import { loadSettings } from '../../src/settings/load-settings.ts';
import { createNodeFiles } from '../../src/store/disk/files.ts';
import { findCommitted } from '../../src/store/find-record.ts';
import { LOG_START } from '../../src/store/replication/log-chain.ts';
import { openStore } from '../../src/store/store.ts';
import type { OpenedStore } from '../../src/store/store.ts';
import {
  RECORD_FORM, checkNewForm, keepOldForm, mustWriteOldForm, recordFormCollection,
} from '../../src/webhooks/durable-queue/record-form.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { createMemoryStore } from '../support/memory-store.ts';
import { SimulatedEngine } from '../support/simulated-engine.ts';
import { createTemporaryFolder } from '../support/temporary-folder.ts';

const TOTALS = { name: 'request-totals', key: 'identifier' } as const;
const CHECK_MS = 5000;

type TestNode = { readonly membership: Membership; readonly upkeep: FormUpkeep | null };

const opened: TestNode[] = [];
afterEach(async () => {
  for (const node of opened.splice(0)) await stop(node);
});

/** Several nodes over one log, without delay; the mark of the old form is there. */
class Cluster {
  readonly clock = new ManualClock();
  readonly store = createMemoryStore([NODES, LEASES, TOTALS, recordFormCollection]);

  static async start(): Promise<Cluster> {
    const cluster = new Cluster();
    await keepOldForm(cluster.store);
    return cluster;
  }

  get isOldForm(): boolean {
    return mustWriteOldForm(findCommitted(this.store));
  }

  node(id: string, release: 'older' | 'present'): TestNode {
    const { store, clock } = this;
    const forms = release === 'older' ? {} : { forms: RECORD_FORM };
    const membership = new Membership({
      store, clock, log: silentLogger, lengths: { lengthMs: 25_000, attemptMs: 15_000 },
      node: id, makeRun: () => randomUUID(), isReloading: () => false,
      describeNode: () => ({ version: '1', address: null, position: 0, lag: 0, ...forms }),
    });
    const { ownership } = membership;
    const upkeep = release === 'older' ? null : new FormUpkeep({
      store, clock, log: silentLogger, isMaintainer: () => ownership.isMaintainer(),
    });
    membership.start();
    upkeep?.start();
    const node = { membership, upkeep };
    opened.push(node);
    return node;
  }
}

/** Ends cleanly: the node's record is deleted. */
async function stop({ membership, upkeep }: TestNode): Promise<void> {
  await upkeep?.close();
  await membership.close();
}

/** Ends without a word, as by SIGKILL. */
async function kill({ membership, upkeep }: TestNode): Promise<void> {
  membership.ownership.isActive = false;
  await upkeep?.close();
}

test('nodes are upgraded one after the other, and the new form begins a minute after the last',
  async () => {
    const cluster = await Cluster.start();
    const { clock } = cluster;
    let nodes = ['a', 'b', 'c'].map((id) => cluster.node(id, 'older'));
    await clock.advance(120_000);
    for (const id of ['a', 'b', 'c']) {
      const [first, ...others] = nodes;
      assert.ok(first !== undefined);
      await stop(first);
      nodes = [...others, cluster.node(id, 'present')];
      await clock.advance(50_000);
      assert.ok(cluster.isOldForm, `a minute has not passed since ${id} was upgraded`);
      if (id !== 'c') await clock.advance(300_000);
      assert.ok(cluster.isOldForm, `after ${id}`);
    }
    await clock.advance(10_000 + 2 * CHECK_MS);
    assert.ok(!cluster.isOldForm);
    assert.equal(cluster.store.collection(recordFormCollection.name).size, 1);
  });

test('an older node that was killed is waited for a minute, and one that comes back keeps the form',
  async () => {
    const cluster = await Cluster.start();
    const { clock } = cluster;
    const older = cluster.node('a', 'older');
    cluster.node('b', 'present');
    await clock.advance(100_000);
    await kill(older);
    await clock.advance(45_000);
    assert.ok(cluster.isOldForm);
    const again = cluster.node('a', 'older');
    await clock.advance(50_000);
    assert.ok(cluster.isOldForm);
    await kill(again);
    await clock.advance(60_000 + 3 * CHECK_MS);
    assert.ok(!cluster.isOldForm);
  });

test('a node that has just started, or loaded everything anew, listens for a minute itself',
  async () => {
    const cluster = await Cluster.start();
    const { clock } = cluster;
    const { upkeep } = cluster.node('a', 'present');
    await clock.advance(55_000);
    assert.ok(cluster.isOldForm);
    upkeep?.restart();
    // Without an engine the store is this process's alone, which ends the old form at once.
    await clock.advance(0);
    assert.ok(!cluster.isOldForm);
    await cluster.store.transact((transaction) =>
      transaction.put(TOTALS.name, 'old-form', '{"identifier":"old-form"}'));
    await clock.advance(55_000);
    assert.ok(cluster.isOldForm);
    await clock.advance(5000 + 2 * CHECK_MS);
    assert.ok(!cluster.isOldForm);
  });

test('what older nodes could not read is refused with the reason until the new form begins',
  async () => {
    const cluster = await Cluster.start();
    const find = findCommitted(cluster.store);
    assert.throws(() => checkNewForm(find, 'a delayed event'), (error) =>
      error instanceof AppError && error.code === 'unavailable'
      && /^a delayed event has to wait .*node:list/.test(error.message));
    cluster.node('a', 'present');
    await cluster.clock.advance(60_000 + 2 * CHECK_MS);
    checkNewForm(find, 'a delayed event');
  });

const LOGS = {
  'marks the old form in the log of an older release': { format: 1, isMarked: true },
  'has nothing to mark in a log that this release has made': { format: 2, isMarked: false },
};
for (const [claim, { format, isMarked }] of Object.entries(LOGS)) {
  test(`a process ${claim}`, async () => {
    const engine = new SimulatedEngine();
    if (isMarked) engine.log = { log: randomUUID(), format, floor: 0, ...LOG_START };
    for (const role of ['command', 'server'] as const) {
      const app = await openApp({
        data: createTemporaryFolder(), settings: loadSettings({}).settings, logger: silentLogger,
        role, sharedLog: { engine, node: randomUUID(), mayCreate: true },
      });
      await app.close();
      assert.equal(engine.log?.format, format);
      const lines = engine.visible.map((entry) => entry.lines.toString()).join('');
      assert.equal(lines.split('"put":"request-totals"').length - 1, isMarked ? 1 : 0, role);
    }
  });
}

test('a process that has the records for itself ends the old form when it opens them', async () => {
  const data = createTemporaryFolder();
  const isOldForm = async (change: (store: OpenedStore) => Promise<void>): Promise<boolean> => {
    const store = await openStore({
      directory: data, files: createNodeFiles(), specs: COLLECTIONS, logger: silentLogger,
    });
    await change(store);
    const isOld = mustWriteOldForm(findCommitted(store));
    await store.close();
    return isOld;
  };
  assert.ok(await isOldForm(keepOldForm));
  const app = await openApp({
    data, settings: loadSettings({}).settings, logger: silentLogger, role: 'command',
  });
  await app.close();
  assert.ok(!await isOldForm(async () => {}));
});
