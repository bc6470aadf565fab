/** Several nodes: all say the same of a webhook, and go on from what another has seen. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '../support/until.ts';
import { withNodes, type Node } from './apps.ts';

type Health = { readonly state: string; readonly since: string };

const post = (node: Node, path: string, body: object): ReturnType<Node['ask']> =>
  node.ask(path, { method: 'POST', body });

async function healthAt(node: Node, path: string): Promise<Health> {
  return JSON.parse((await node.ask(path)).text).health;
}

async function untilState(nodes: readonly Node[], path: string, state: string): Promise<Health[]> {
  await until(`all say ${state}`, async () => {
    for (const node of nodes) if ((await healthAt(node, path)).state !== state) return false;
    return true;
  });
  return Promise.all(nodes.map((node) => healthAt(node, path)));
}

test('a target that is down is failing at every node since the same time, also when one leaves',
  () => withNodes(2, async (nodes, apps) => {
    const [first, second] = nodes;
    assert.ok(first !== undefined && second !== undefined);
    const made = await post(first, '/api/outgoing-webhooks', {
      targetUrl: 'http://127.0.0.1:1/', triggerEvent: 'thing.*', retrySchedule: [0, 0, 0.05, 3600],
    });
    const path = `/api/outgoing-webhooks/${JSON.parse(made.text).identifier}`;
    await post(second, '/api/events', { name: 'thing.happened', payload: {} });
    const seen = await untilState(nodes, path, 'failing');
    assert.equal(seen[0]?.since, seen[1]?.since);
    await second.app.close();
    const next = await apps.start();
    assert.deepEqual((await healthAt(next, path)).since, seen[0]?.since);
    const targetUrl = await apps.target(() => {});
    await first.ask(path, { method: 'PATCH', body: { targetUrl } });
    await post(next, '/api/events', { name: 'thing.happened', payload: {} });
    await untilState([first, next], path, 'healthy');
  }));

test('runs that senders wait for are judged where they are answered, by what all have seen', () =>
  withNodes(2, async (nodes) => {
    const [first, second] = nodes;
    assert.ok(first !== undefined && second !== undefined);
    await post(first, '/api/action-configurations', {
      identifier: 'forward', actionType: 'http-forward', options: { url: 'http://127.0.0.1:1/' },
    });
    const made = await post(first, '/api/incoming-webhooks',
      { pathSegment: 'hook', actionConfiguration: 'forward' });
    const path = `/api/incoming-webhooks/${JSON.parse(made.text).identifier}`;
    await until('the other knows it', async () => (await second.ask(path)).status === 200);
    for (let count = 0; count < 3; count += 1) {
      assert.equal((await post(first, '/webhook/in/hook', {})).status, 400);
    }
    await untilState(nodes, path, 'failing');
    await post(first, '/api/action-configurations', { identifier: 'to-log', actionType: 'log' });
    await first.ask(path, { method: 'PATCH', body: { actionConfiguration: 'to-log' } });
    await until('the other succeeds', async () =>
      (await post(second, '/webhook/in/hook', {})).status === 200);
    await untilState(nodes, path, 'healthy');
  }));
