import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NodeView } from '../../src/nodes/node-routes.ts';
import { followStream } from '../support/event-stream.ts';
import { until } from '../support/until.ts';
import { withNodes, type Node } from './apps.ts';

const BOOK = { title: 'Momo', authors: [{ name: 'Michael Ende' }] };

const portOf = ({ url }: Node): { readonly port: number } => ({ port: Number(new URL(url).port) });
const addBook = (node: Node, title: string): ReturnType<Node['ask']> =>
  node.ask('/api/books', { method: 'POST', body: { ...BOOK, title } });

test('a stream goes on at another node from where the first had told it', () =>
  withNodes(2, async ([first, second]) => {
    assert.ok(first !== undefined && second !== undefined);
    const stream = await followStream(portOf(first), { path: '/api/stream?topics=books' });
    assert.equal((await addBook(first, 'one')).status, 201);
    await stream.until(1);
    await stream.close();
    const missed = await addBook(first, 'two');
    const again = await followStream(portOf(second),
      { path: '/api/stream?topics=books', lastEventId: stream.lastId() });
    assert.equal(again.status, 200);
    await again.until(1);
    assert.match(again.events[0]?.data ?? '', /"title":"two"/);
    await again.close();
    const ahead = String(Number(missed.headers['hookshelf-sequence']) + 100_000);
    const late = await followStream(portOf(second), { lastEventId: ahead });
    assert.equal(late.status, 503);
    await late.close();
  }));

test('a node whose log was replaced serves what the new one holds, and ends its streams', () =>
  withNodes(1, async ([node], apps) => {
    assert.ok(node !== undefined);
    const kept = await addBook(node, 'kept');
    const { length } = apps.engine.entries;
    const lost = await addBook(node, 'lost');
    const path = new URL(String(lost.headers.location), node.url).pathname;
    const stream = await followStream(portOf(node), { path: '/api/stream?topics=books' });
    await until('the stream has begun', () => stream.lastId() !== '');
    apps.engine.failOver(length);
    await until('the lost book is gone', async () => (await node.ask(path)).status === 404);
    await until('the stream has ended', () => stream.isEnded());
    await stream.close();
    const keptPath = new URL(String(kept.headers.location), node.url).pathname;
    assert.equal((await node.ask(keptPath)).status, 200);
    const old = await followStream(portOf(node), { lastEventId: '1' });
    assert.equal(old.status, 410);
    await old.close();
    await until('it is ready', async () => (await node.ask('/readyz')).status === 200);
    const [view] = JSON.parse((await node.ask('/api/nodes')).text) as readonly NodeView[];
    assert.deepEqual(view?.shards, [], 'the leases of the old log have to run out first');
    assert.equal((await addBook(node, 'next')).status, 201);
  }));
