import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Hookshelf } from '../src/index.ts';
import { ask } from './e2e/ask.ts';
import { openHookshelf } from './support/embedded.ts';

test('an app serves what was added in process', async (context) => {
  const shelf = await openHookshelf(context);
  const added = await shelf.books.add({ title: 'Kokoro', authors: [{ name: 'Natsume Sōseki' }] });
  const { url } = await shelf.listen({ port: 0 });
  const { status, text } = await ask(`${url}/api/books/${added.id}`);
  assert.equal(status, 200);
  assert.deepEqual(JSON.parse(text), added);
});

test('two apps on two directories live in one process', async (context) => {
  const [left, right] = await Promise.all([openHookshelf(context), openHookshelf(context)]);
  await left.books.add({ title: 'Left' });
  await right.books.add({ title: 'Right' });
  const titles = async (shelf: Hookshelf): Promise<readonly string[]> =>
    (await shelf.books.list()).books.map(({ title }) => title);
  assert.deepEqual(await titles(left), ['Left']);
  assert.deepEqual(await titles(right), ['Right']);
});

test('books are replaced, patched, listed by page and deleted', async (context) => {
  const { books } = await openHookshelf(context);
  const first = await books.add({ title: 'One' });
  const second = await books.add({ title: 'Two', numberOfPages: 2 });
  assert.equal((await books.replace(first.id, { title: 'Uno' })).title, 'Uno');
  assert.equal((await books.patch(second.id, { numberOfPages: null })).numberOfPages, undefined);
  const page = await books.list({ limit: 1 });
  assert.equal(page.total, 2);
  assert.notEqual(page.cursor, null);
  const rest = await books.list({ limit: 1, cursor: page.cursor ?? '' });
  assert.deepEqual(rest.books.map(({ id }) => id), [second.id]);
  assert.equal(rest.cursor, null);
  const { plan, total } = await books.explain({ limit: 1 });
  assert.deepEqual([plan, total], ['page-by-id', 2]);
  await books.delete(first.id);
  assert.throws(() => books.get(first.id), { code: 'not_found' });
});

test('limits of time may be any part of a second', async (context) => {
  for (const seconds of [16.4, 1.0005, 0.001]) {
    const names = ['requestTimeout', 'headersTimeout', 'keepAliveTimeout', 'shutdownTimeout'];
    const server = Object.fromEntries(names.map((name) => [name, seconds]));
    await (await openHookshelf(context, { settings: { server } })).listen({ port: 0 });
  }
});

test('a service open to anybody stays on loopback', async (context) => {
  const shelf = await openHookshelf(context);
  await shelf.listen({ port: 0, host: 'LOCALHOST' });
  await assert.rejects(shelf.listen({ port: 0, host: '0.0.0.0' }), { code: 'usage' });
});

test('close is idempotent and takes no signal handler', async (context) => {
  const before = process.listenerCount('SIGTERM');
  const shelf = await openHookshelf(context);
  assert.equal(process.listenerCount('SIGTERM'), before);
  await Promise.all([shelf.close(), shelf.close()]);
});
