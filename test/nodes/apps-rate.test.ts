import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '../support/until.ts';
import { withNodes } from './apps.ts';

const LIMIT = 5;
const WINDOW_MS = 1000;
const WEBHOOKS = 4;
const EVENTS = 14;
/** How much sooner a request may seem to come than it was sent after another. */
const ARRIVAL_MS_MAX = 60;

test('nodes keep the rate of a webhook together, also when the one that attempted it leaves', () =>
  withNodes(2, async (nodes, apps) => {
    const [first, second] = nodes;
    assert.ok(first !== undefined && second !== undefined);
    await until('both have shards', async () => {
      const views = JSON.parse((await first.ask('/api/nodes')).text) as { shards: number[] }[];
      return views.length === 2 && views.every(({ shards }) => shards.length === 8);
    });
    const times = new Map<string, number[]>();
    const url = await apps.target((_, body) => {
      const { hook } = JSON.parse(body) as { hook: string };
      times.set(hook, [...times.get(hook) ?? [], performance.now()]);
    });
    for (let index = 0; index < WEBHOOKS; index += 1) {
      const added = await first.ask('/api/outgoing-webhooks', {
        method: 'POST', body: {
          targetUrl: url, triggerEvent: 'thing.*', payloadTemplate: `{"hook":"${index}"}`,
          rate: { limit: LIMIT, seconds: WINDOW_MS / 1000 },
        },
      });
      assert.equal(added.status, 201, added.text);
    }
    const countAll = (): number =>
      [...times.values()].reduce((sum, { length }) => sum + length, 0);
    for (let event = 0; event < EVENTS; event += 1) {
      const { status, text } = await (nodes[event % 2] ?? first)
        .ask('/api/events', { method: 'POST', body: { name: 'thing.x', payload: { event } } });
      assert.equal(status, 202, text);
    }
    await until('some have arrived', () => countAll() >= WEBHOOKS * 4);
    await second.app.close();
    await until('all have arrived', () => countAll() >= WEBHOOKS * EVENTS);
    assert.equal(times.size, WEBHOOKS);
    for (const [hook, all] of times) {
      const most = Math.max(...all.map((beginMs) => all.filter((atMs) =>
        atMs >= beginMs && atMs < beginMs + WINDOW_MS - ARRIVAL_MS_MAX).length));
      assert.ok(most <= LIMIT, `${most} at ${hook}: ${all.map((ms) => Math.round(ms))}`);
    }
  }));
