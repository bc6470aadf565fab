import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NodeView } from '../../src/nodes/node-routes.ts';
import { runCommand } from '../cli/io.ts';
import type { Reply } from '../e2e/ask.ts';
import { makeBoundToken, makeToken } from '../support/make-token.ts';
import { until } from '../support/until.ts';
import { withNodes, type Node } from './apps.ts';
import { longTest } from '../support/long.ts';

const BOOK = { title: 'Momo', authors: [{ name: 'Michael Ende' }] };
const post = (node: Node, path: string, body: object): ReturnType<Node['ask']> =>
  node.ask(path, { method: 'POST', body });

async function listOf(node: Node): Promise<readonly NodeView[]> {
  return JSON.parse((await node.ask('/api/nodes')).text);
}

/** Waits until every node sees all of them with their share. */
async function untilSpread(nodes: readonly Node[]): Promise<void> {
  await until('the shards are spread', async () => {
    for (const node of nodes) {
      const views = await listOf(node);
      const counts = views.map(({ shards }) => shards.length);
      const sum = counts.reduce((total, count) => total + count, 0);
      const isFair = Math.max(...counts) - Math.min(...counts) <= 1;
      if (views.length !== nodes.length || sum !== 16 || !isFair) return false;
    }
    return true;
  });
}

test('what one node has written is read at the others, by the sequence of its answer', () =>
  withNodes(3, async (nodes) => {
    const [first, ...others] = nodes;
    assert.ok(first !== undefined);
    const added = await post(first, '/api/books', BOOK);
    assert.equal(added.status, 201, added.text);
    const sequence = String(added.headers['hookshelf-sequence']);
    assert.match(sequence, /^\d+$/);
    const path = new URL(String(added.headers.location), first.url).pathname;
    for (const other of others) {
      const read = await other.ask(path, { headers: { 'Hookshelf-Sequence': sequence } });
      assert.equal(read.status, 200);
      assert.equal(read.headers.etag, added.headers.etag);
      assert.equal(read.headers['hookshelf-sequence'], undefined);
    }
  }));

longTest('a read that names a sequence which does not come is told to come again', () =>
  withNodes(1, async ([node]) => {
    assert.ok(node !== undefined);
    const late = await node.ask('/api/books', { headers: { 'Hookshelf-Sequence': '999999' } });
    assert.equal(late.status, 503);
    assert.equal(late.headers['retry-after'], '1');
    const bad = await node.ask('/api/books', { headers: { 'Hookshelf-Sequence': 'soon' } });
    assert.equal(bad.status, 400);
    for (const path of [
      '/api/status', '/api/statistics', '/api/log', '/api/settings', '/api/nodes', '/metrics',
    ]) {
      const { status } = await node.ask(path, { headers: { 'Hookshelf-Sequence': '999999' } });
      assert.equal(status, 200, `${path} reads no records`);
    }
  }));

test('nodes are listed with what they do, and one that stops leaves its share', () =>
  withNodes(3, async (nodes) => {
    await untilSpread(nodes);
    const [first, second, third] = nodes;
    assert.ok(first !== undefined && second !== undefined && third !== undefined);
    const views = await listOf(second);
    assert.deepEqual(views.map(({ identifier }) => identifier),
      nodes.map(({ id }) => id).sort());
    assert.deepEqual(views.filter(({ isSelf }) => isSelf).map(({ identifier }) => identifier),
      [second.id]);
    for (const { identifier, isLive, version, address, lag } of views) {
      const { url = '' } = nodes.find(({ id }) => id === identifier) ?? {};
      assert.deepEqual({ isLive, lag }, { isLive: true, lag: 0 });
      assert.match(version, /^\d/);
      assert.ok(address === null || address === new URL(url).host, String(address));
    }
    const { stdout } = await runCommand(['node:list', '--server', second.url]);
    for (const { id } of nodes) assert.ok(stdout.includes(id.slice(-8)), stdout);
    assert.match(stdout, /\blive\b/);
    await third.app.close();
    await untilSpread([first, second]);
    const { text } = await first.ask('/metrics');
    assert.match(text, /^hookshelf_nodes_live 2$/m);
    assert.match(text, /^hookshelf_node_shards 8$/m);
    assert.match(text, /^# TYPE hookshelf_node_clock_offset_seconds gauge$/m);
    assert.match(text, /^hookshelf_lease_changes_total\{change="claimed"\} \d+$/m);
    assert.match(text, /^hookshelf_log_appends_total [1-9]/m);
  }));

test('each delivery is made once, whichever node took the event, also while nodes leave', () =>
  withNodes(3, async (nodes, apps) => {
    await untilSpread(nodes);
    const arrived: string[] = [];
    const targetUrl = await apps.target((id) => arrived.push(id));
    const [first, second, third] = nodes;
    assert.ok(first !== undefined && second !== undefined && third !== undefined);
    for (let hook = 0; hook < 8; hook += 1) {
      const added = await post(first, '/api/outgoing-webhooks',
        { targetUrl, triggerEvent: 'thing.*', secret: 'a secret of the tests' });
      assert.equal(added.status, 201, added.text);
    }
    const expected = new Set<string>();
    for (let event = 0; event < 12; event += 1) {
      const node = nodes[event % (event < 6 ? 3 : 2)] ?? first;
      const fired = await post(node, '/api/events', { name: 'thing.happened', payload: { event } });
      assert.equal(fired.status, 202, fired.text);
      for (const id of JSON.parse(fired.text).deliveries) expected.add(id);
      if (event === 5) await third.app.close();
    }
    assert.equal(expected.size, 96);
    await until('all have arrived', () => arrived.length >= 96,
      { seen: () => String(arrived.length) });
    await until('all are recorded', async () => {
      const { text } = await second.ask('/api/deliveries/reconcile');
      return JSON.parse(text).delivered === 96;
    });
    assert.deepEqual([...arrived].sort(), [...expected].sort());
  }));

longTest('a node that hears nothing of the engine says so, and reads go on', () =>
  withNodes(1, async ([node], apps) => {
    assert.ok(node !== undefined);
    const added = await post(node, '/api/books', BOOK);
    assert.equal((await node.ask('/readyz')).status, 200);
    apps.engine.goDown();
    await until('it is not ready', async () => (await node.ask('/readyz')).status === 503);
    const path = new URL(String(added.headers.location), node.url).pathname;
    assert.equal((await node.ask(path)).status, 200);
    const status = JSON.parse((await node.ask('/api/status')).text);
    assert.equal(status.isReady, false);
    assert.notEqual(status.reason, null);
    apps.engine.comeUp();
    await until('it is ready again', async () => (await node.ask('/readyz')).status === 200);
    assert.equal((await post(node, '/api/books', { ...BOOK, title: 'Jim' })).status, 201);
  }));

test('the answer to a key that was used at another node comes again', () =>
  withNodes(2, async ([first, second]) => {
    assert.ok(first !== undefined && second !== undefined);
    const question = { method: 'POST', body: BOOK, headers: { 'Idempotency-Key': 'k-1' } };
    const added = await first.ask('/api/books', question);
    assert.equal(added.status, 201);
    const again = await second.ask('/api/books', question);
    assert.equal(again.status, 201, again.text);
    assert.equal(again.headers['idempotency-replayed'], 'true');
    assert.equal(again.text, added.text);
  }));

test('a customer sees the same at every node, and nothing once his token is revoked at any', () =>
  withNodes(2, async ([first, second]) => {
    assert.ok(first !== undefined && second !== undefined);
    const [operator, customer] =
      [await makeToken(first.data, 'admin'), await makeBoundToken(first.data, 'resend', 'acme')]
        .map(({ token }) => ({ authorization: `Bearer ${token}` }));
    assert.ok(operator !== undefined && customer !== undefined);
    const hooks = '/api/outgoing-webhooks';
    let sequence = '';
    for (const name of ['acme', 'bolt']) {
      const made: Reply = await first.ask(hooks, {
        method: 'POST', headers: operator,
        body: { name, targetUrl: 'http://127.0.0.1:9/', triggerEvent: 'thing.*' },
      });
      assert.equal(made.status, 201, made.text);
      sequence = String(made.headers['hookshelf-sequence']);
    }
    const seeAt = async (node: Node): Promise<unknown> => {
      const { status, text } = await node.ask(hooks,
        { headers: { ...customer, 'Hookshelf-Sequence': sequence } });
      return status !== 200 ? status : JSON.parse(text).map(({ name }: { name: string }) => name);
    };
    await until('the second node knows the token', async () => await seeAt(second) !== 401);
    for (const node of [first, second]) {
      assert.deepEqual(await seeAt(node), ['acme']);
      assert.equal((await node.ask(`${hooks}/bolt`, { headers: customer })).status, 404);
    }
    const renamed = await second.ask(`${hooks}/acme`,
      { method: 'PATCH', headers: operator, body: { name: 'other' } });
    assert.equal(renamed.status, 200, renamed.text);
    sequence = String(renamed.headers['hookshelf-sequence']);
    for (const node of [first, second]) assert.deepEqual(await seeAt(node), []);
    const revoked =
      await runCommand(['token:revoke', '--identifier', 'acme', '--data', second.data]);
    assert.equal(revoked.code, 0, revoked.stderr);
    assert.equal(await seeAt(second), 401);
    await until('the first node knows it, too', async () => await seeAt(first) === 401);
  }));

test('deliveries and accepted requests sort as they were committed, whatever the clocks say', () =>
  withNodes(1, async ([now], apps) => {
    assert.ok(now !== undefined);
    const ahead = await apps.start(undefined, 7_200_000);
    const behind = await apps.start(undefined, -3_600_000);
    const added = await post(now, '/api/outgoing-webhooks',
      { targetUrl: 'http://127.0.0.1:1/', triggerEvent: 'tick' });
    assert.equal(added.status, 201, added.text);
    await post(now, '/api/action-configurations', { identifier: 'note', actionType: 'log' });
    const hook = await post(now, '/api/incoming-webhooks', {
      pathSegment: 'in', inbox: 'all', answer: 'accepted', actionConfiguration: 'note',
    });
    assert.equal(hook.status, 201, hook.text);
    const given: string[] = [];
    const took: string[] = [];
    let sequence = String(hook.headers['hookshelf-sequence']);
    for (const node of [ahead, now, behind, now, ahead, behind]) {
      await node.ask('/api/books?limit=1', { headers: { 'Hookshelf-Sequence': sequence } });
      const emitted = await post(node, '/api/events', { name: 'tick' });
      assert.equal(emitted.status, 202, emitted.text);
      given.push(...JSON.parse(emitted.text).deliveries);
      const accepted = await post(node, '/webhook/in/in', { some: 'thing' });
      assert.equal(accepted.status, 200, accepted.text);
      took.push(JSON.parse(accepted.text).data.request);
      sequence = String(accepted.headers['hookshelf-sequence']);
    }
    assert.deepEqual(given, given.toSorted());
    assert.deepEqual(took, took.toSorted());
    assert.equal(new Set([...given, ...took]).size, 12);
  }));

test('of many who take a name at several nodes at once one gets it, and all nodes know it', () =>
  withNodes(3, async (nodes) => {
    const path = '/api/outgoing-webhooks';
    const answers = await Promise.all(nodes.flatMap((node) => Array.from({ length: 4 }, () =>
      post(node, path, { targetUrl: 'http://127.0.0.1:1/', name: 'crm' }))));
    assert.deepEqual(answers.map(({ status }) => status).sort(), [201, ...Array(11).fill(409)]);
    // A write finds the name wherever it was given, without a sequence to wait for.
    for (const node of nodes) {
      const answer = await node.ask(`${path}/crm`, {
        method: 'PATCH', body: { description: node.id },
      });
      assert.equal(answer.status, 200, answer.text);
    }
    const [first, second] = nodes;
    assert.ok(first !== undefined && second !== undefined);
    assert.equal((await first.ask(`${path}/crm`, { method: 'DELETE' })).status, 204);
    const again = await post(second, path, { targetUrl: 'http://127.0.0.1:1/', name: 'crm' });
    assert.equal(again.status, 201, 'free at once, at another node, too');
  }));
