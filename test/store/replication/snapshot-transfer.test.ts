import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { EngineLink } from '../../../src/store/replication/engine-link.ts';
import { receiveParts } from '../../../src/store/replication/snapshot-transfer.ts';
import { SharedStoreRig, put } from '../../support/shared-store-rig.ts';

const rig = new SharedStoreRig();
let link: EngineLink;

beforeEach(() => {
  link = new EngineLink(rig.engine, 'reader', rig.clock);
});

afterEach(() => link.close());

test('a part whose SHA-256 differs is damaged, before any reader gets its bytes', async () => {
  const store = await rig.open();
  await store.transact(put('a'));
  await store.compact();
  await link.connectFirst(false);
  const { session } = link;
  assert.ok(session !== null);
  const [snapshot] = await session.snapshots.list();
  assert.ok(snapshot !== undefined);
  const received: Buffer[] = [];
  for await (const bytes of receiveParts(link, session, snapshot)) received.push(bytes);
  const [part] = rig.engine.snapshots.get(1)?.parts.values() ?? [];
  assert.ok(part !== undefined);
  assert.deepEqual(received, [part.bytes]);
  part.bytes[0] = (part.bytes[0] ?? 0) ^ 1;
  await assert.rejects(receiveParts(link, session, snapshot).next(), { code: 'damaged' });
});
