/** The stream of a token that is bound to webhooks, while these come into its binding and leave. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runCommand } from '../cli/io.ts';
import { HOOKS, emit, inWorld } from '../support/customers.ts';
import { followStream, type Following } from '../support/event-stream.ts';
import { until } from '../support/until.ts';

const TWO = { acme: {}, bolt: {} };

function dataOf({ events }: Following): readonly Readonly<Record<string, unknown>>[] {
  return events.map(({ data }) => JSON.parse(data) as Record<string, unknown>);
}

test('a stream has the deliveries of his webhooks, and events where they are named', () =>
  inWorld(TWO, async ({ operator, follow, ids }) => {
    const [deliveries, both, hooked] = [
      await follow(['acme']), await follow(['acme'], '?topics=events,deliveries'),
      await follow(['acme'], '?hook=bolt'),
    ];
    await operator('PATCH', `${HOOKS}/acme`, { enabled: false });
    await emit(operator, 'order.foreign', { key: 'k0' });
    await operator('PATCH', `${HOOKS}/acme`, { enabled: true });
    const id = await emit(operator, 'order.paid', { key: 'k1' });
    await operator('POST', '/api/books', { title: 'Emma' });
    await both.until(3);
    await deliveries.until(2);
    assert.deepEqual(dataOf(deliveries).map(({ hook, status }) => [hook, status]),
      [[ids['acme'], 'pending'], [ids['acme'], 'failed']]);
    assert.deepEqual(both.events.map(({ event }) => event), ['event', 'delivery', 'delivery']);
    const [event] = dataOf(both);
    assert.deepEqual([event?.['id'], event?.['key'], event?.['source']], [id, 'k1', 'api']);
    assert.equal(hooked.events.length, 0);
    for (const following of [deliveries, both]) {
      assert.ok(!following.text().includes(ids['bolt'] ?? '') && !following.text().includes('k0'));
    }
  }));

test('other topics are refused before anything else of the query is looked at', () =>
  inWorld(TWO, async ({ customer }) => {
    const askAcme = await customer('write', 'acme');
    for (const query of [
      'topics=books', 'topics=requests', 'topics=deliveries,books', 'topics=none', 'topics=',
      'topics=books&x=1', 'topics=deliveries&topics=books', 'topics=books&lastEventId=none',
    ]) assert.equal((await askAcme('GET', `/api/stream?${query}`)).status, 403, query);
    for (const query of ['topics=deliveries&x=1', 'lastEventId=none', 'topics=events&hook=acme']) {
      assert.equal((await askAcme('GET', `/api/stream?${query}`)).status, 400, query);
    }
  }));

test('an event of which he was sent a body alone is told without key and source', () =>
  inWorld({ acme: { payloadTemplate: '{}' } }, async ({ operator, follow }) => {
    const following = await follow(['acme'], '?topics=events');
    await emit(operator, 'order.paid', { key: 'k1' });
    await following.until(1);
    const [event] = dataOf(following);
    assert.deepEqual(['change', 'name', 'key', 'source'].map((member) => event?.[member]),
      ['created', 'order.paid', undefined, undefined]);
  }));

test('a webhook that is renamed into a binding and out of it is told of while it is in', () =>
  inWorld(TWO, async ({ operator, follow, ids }) => {
    const following = await follow(['acme-*']);
    const both = await follow(['bolt', 'acme*']);
    // What is told counts, and not what was committed: it is told a few milliseconds later.
    await emit(operator, 'order.1');
    await both.until(4);
    await operator('PATCH', `${HOOKS}/bolt`, { name: 'acme-b' });
    await emit(operator, 'order.2');
    await both.until(8);
    await operator('PATCH', `${HOOKS}/acme-b`, { name: 'out' });
    await emit(operator, 'order.3');
    await both.until(10);
    await operator('PATCH', `${HOOKS}/out`, { name: 'acme-b' });
    await operator('DELETE', `${HOOKS}/acme-b`);
    await emit(operator, 'order.4');
    // Eight of acme, and four of the other before it went out of sight.
    await both.until(12);
    assert.deepEqual(dataOf(following).map(({ event, hook, status }) => [event, hook, status]), [
      ['order.2', ids['bolt'], 'pending'], ['order.2', ids['bolt'], 'failed'],
    ]);
  }));

test('what was missed is told by the names of now', () =>
  inWorld(TWO, async ({ operator, follow, ids }) => {
    const following = await follow(['acme']);
    await emit(operator, 'order.1');
    await following.until(2);
    const [first] = following.events;
    await emit(operator, 'order.2');
    await operator('PATCH', `${HOOKS}/acme`, { name: 'out' });
    await operator('PATCH', `${HOOKS}/bolt`, { name: 'acme' });
    const resumed = await follow(['acme'], `?lastEventId=${first?.id}`);
    await resumed.until(3);
    assert.deepEqual(new Set(dataOf(resumed).map(({ hook }) => hook)), new Set([ids['bolt']]));
  }));

test('a stream ends when its token expires', () =>
  inWorld(TWO, async ({ server }) => {
    const lifeMs = 1500;
    const expires = new Date(Date.now() + lifeMs).toISOString();
    const { stdout } = await runCommand([
      'token:create', '--name', 'acme', '--scope', 'read', '--webhook', 'acme',
      '--expires', expires, '--json', '--data', server.data,
    ]);
    const following = await followStream(server, {
      path: '/api/stream', headers: { authorization: `Bearer ${JSON.parse(stdout).token}` },
    });
    const openedMs = Date.now();
    await until('the stream has ended', following.isEnded);
    assert.ok(Date.now() - openedMs < 2 * lifeMs, 'not at the next heartbeat');
  }));
