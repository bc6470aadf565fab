/** Backfills over several nodes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '../support/until.ts';
import { withNodes, type Node } from './apps.ts';

const EVER = '2026-01-01T00:00:00Z';
const HOOKS = '/api/outgoing-webhooks';
const ROUNDS = 5;
/** Of the loop: a request is answered in far fewer. */
const SLOW_TURNS = 3000;
const FILLER = 'x'.repeat(50_000);

const post = (node: Node, path: string, body: object): ReturnType<Node['ask']> =>
  node.ask(path, { method: 'POST', body });

/** Adds a webhook that hears things, and returns its identifier. */
async function addHook(node: Node, targetUrl: string, members: object = {}): Promise<string> {
  const added = await post(node, HOOKS,
    { targetUrl, triggerEvent: 'thing.*', secret: 'a secret of the tests', ...members });
  assert.equal(added.status, 201, added.text);
  return JSON.parse(added.text).identifier;
}

const emit = (node: Node, n: number): ReturnType<Node['ask']> =>
  post(node, '/api/events', { name: 'thing.happened', payload: { n, FILLER } });

async function countDeliveries(node: Node, hook: string, filter = ''): Promise<number> {
  const { headers } = await node.ask(`/api/deliveries?hook=${hook}&limit=1${filter}`);
  return Number(headers['x-total-count']);
}

async function untilEnded(node: Node): Promise<void> {
  await until('no job runs', async () =>
    !(await node.ask('/api/jobs')).text.includes('"status":"running"'));
}

/** Resolves when the node has read all requests that were sent to it before. */
async function untilRead(node: Node): Promise<void> {
  for (let round = 0; round < ROUNDS; round += 1) await node.ask('/api/books?limit=1');
}

test('a backfill finds an event that was on its way to the disk when its webhook was made', () =>
  withNodes(1, async ([node], apps) => {
    assert.ok(node !== undefined);
    const { engine } = apps;
    const target = await apps.target(() => {});
    await addHook(node, target);
    engine.stopReplicating();
    const { length } = engine.entries;
    const made = addHook(node, target);
    await until('the webhook is on its way', () => engine.entries.length > length);
    const emitted = emit(node, 1);
    await untilRead(node);
    engine.goOnReplicating();
    engine.stopReplicating();
    const hook = await made;
    const backfilled = post(node, `${HOOKS}/${hook}/backfill`, { since: EVER });
    await untilRead(node);
    engine.goOnReplicating();
    assert.equal((await backfilled).status, 202);
    assert.equal((await emitted).status, 202);
    await untilEnded(node);
    assert.equal(await countDeliveries(node, hook), 1);
  }));

test('a webhook that another node has just added can be backfilled and sent to at once', () =>
  withNodes(2, async ([first, second], apps) => {
    assert.ok(first !== undefined && second !== undefined);
    const target = await apps.target(() => {});
    // A node takes long to read what the other has written.
    const { engine } = apps;
    let last = '';
    engine.faults = (call) => {
      last = call;
      return 'none';
    };
    engine.turns = () => last === 'readAfter' ? SLOW_TURNS : 1;
    for (let round = 0; round < ROUNDS; round += 1) {
      const name = `hook-${round}`;
      await addHook(first, target, { name });
      const sent = post(second, `${HOOKS}/${name}/deliveries`, { payload: {} });
      const counted =
        await post(second, `${HOOKS}/${name}/backfill`, { since: EVER, dryRun: true });
      assert.equal(counted.status, 200, counted.text);
      assert.equal((await sent).status, 202);
    }
    const missing = await post(second, `${HOOKS}/none/backfill`, { since: EVER });
    assert.equal(missing.status, 404);
  }));
