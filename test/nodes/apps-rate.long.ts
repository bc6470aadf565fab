import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Reply } from '../e2e/ask.ts';
import { until } from '../support/until.ts';
import { withNodes, type Node } from './apps.ts';

const LIMIT = 5;
const WINDOW_MS = 1000;
const WEBHOOKS = 4;
const EVENTS = 14;
/** How long after its turn an attempt may begin, on a busy machine. */
const LATE_MS_MAX = 150;

test('nodes keep the rate of a webhook together, also when the one that attempted it leaves', () =>
  withNodes(2, async (nodes, apps) => {
    const [first, second] = nodes;
    assert.ok(first !== undefined && second !== undefined);
    await until('both have shards', async () => {
      const views = JSON.parse((await first.ask('/api/nodes')).text) as { shards: number[] }[];
      return views.length === 2 && views.every(({ shards }) => shards.length === 8);
    });
    // The first request of a process loads the client: it must not hold up those that are timed.
    const warm = await apps.target(() => {});
    const made: Reply = await first.ask('/api/outgoing-webhooks',
      { method: 'POST', body: { name: 'warm', targetUrl: warm } });
    assert.equal(made.status, 201, made.text);
    assert.equal((await first.ask('/api/outgoing-webhooks/warm/send',
      { method: 'POST' })).status, 200);
    const webhooks: string[] = [];
    let arrivals = 0;
    const targetUrl = await apps.target(() => {
      arrivals += 1;
    });
    for (let index = 0; index < WEBHOOKS; index += 1) {
      const added: Reply = await first.ask('/api/outgoing-webhooks', {
        method: 'POST', body: {
          targetUrl, triggerEvent: 'thing.*', rate: { limit: LIMIT, seconds: WINDOW_MS / 1000 },
        },
      });
      assert.equal(added.status, 201, added.text);
      webhooks.push((JSON.parse(added.text) as { identifier: string }).identifier);
    }
    for (let event = 0; event < EVENTS; event += 1) {
      const node = event % 2 === 0 ? first : second;
      const emitted: Reply = await node.ask('/api/events',
        { method: 'POST', body: { name: 'thing.x', payload: { event } } });
      assert.equal(emitted.status, 202, emitted.text);
    }
    await until('some have arrived', () => arrivals >= WEBHOOKS * 4);
    await second.app.close();
    for (const webhook of webhooks) {
      let all: readonly number[] = [];
      await until('all are delivered', async () => {
        all = await findAttempts(first, webhook);
        return all.length >= EVENTS;
      });
      const most = Math.max(...all.map((beginMs) => all.filter((atMs) =>
        atMs >= beginMs && atMs < beginMs + WINDOW_MS - LATE_MS_MAX).length));
      assert.ok(most <= LIMIT, `${most}: ${all}`);
    }
  }));

/** When the attempts of the webhook's delivered events began. */
async function findAttempts(node: Node, webhook: string): Promise<number[]> {
  const { text } = await node.ask(`/api/deliveries?hook=${webhook}&status=delivered&limit=100`);
  const items = JSON.parse(text) as { identifier: string }[];
  const times = await Promise.all(items.map(async ({ identifier }) => {
    const { attempts } = JSON.parse((await node.ask(`/api/deliveries/${identifier}`)).text) as
      { attempts: { at: string }[] };
    return attempts.map(({ at }) => Date.parse(at));
  }));
  return times.flat();
}
