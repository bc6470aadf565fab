/** Groups of duplicates are read while they come; the server is a stand-in. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compile } from '../../../support/compile.ts';
import { createTemporaryFolder } from '../../../support/temporary-folder.ts';

type Groups = { readonly groups: readonly { readonly books: readonly unknown[] }[] };
type GroupsModule = {
  fetchGroups(by: string, countMax: number, signal: AbortSignal):
    Promise<Groups & { readonly hasMore: boolean }>;
};

const server = { response: Response.error(), path: '' };

Object.assign(globalThis, {
  location: { pathname: '/console' },
  sessionStorage: { getItem: () => null },
  fetch: async (path: string): Promise<Response> => {
    server.path = path;
    return server.response;
  },
});
const { fetchGroups }: GroupsModule = await import(
  compile('src/console/screens/books/duplicate-groups.ts', createTemporaryFolder()));

/** Reads an answer that comes in pieces of so many characters; returns the ids. */
async function read(text: string, countMax: number, pieceLength: number): Promise<unknown> {
  const bytes = Buffer.from(text);
  server.response = new Response(new ReadableStream({
    start(controller) {
      for (let start = 0; start < bytes.length; start += pieceLength) {
        controller.enqueue(new Uint8Array(bytes.subarray(start, start + pieceLength)));
      }
      controller.close();
    },
  }));
  const { groups, hasMore } = await fetchGroups('isbn', countMax, AbortSignal.timeout(10_000));
  const ids = groups.map(({ books }) => books.map((book) => String(Object(book).id)).join('+'));
  return hasMore ? [...ids, 'and more'] : ids;
}

const GROUP = '{"books":[{"id":"ä"},{"id":"]\\n,"}]}';
const OTHER = '{"books":[{"id":"c"},{"id":"d"},{"id":"e"}]}';

test('groups are read whole from whatever pieces they come in', async () => {
  for (const text of [`[${GROUP},\n${OTHER}]\n`, `[${GROUP},${OTHER}]`]) {
    for (const pieceLength of [1, 2, 3, 7, 50, 1000]) {
      assert.deepEqual(await read(text, 10, pieceLength), ['ä+]\n,', 'c+d+e']);
    }
  }
  assert.equal(server.path, '/api/books/duplicates?by=isbn');
  for (const text of ['[]\n', '[]']) assert.deepEqual(await read(text, 10, 1), []);
});

test('no more groups are read than are asked for, and it is told that there are more', async () => {
  const text = `[${GROUP},\n${OTHER},\n${GROUP}]\n`;
  assert.deepEqual(await read(text, 3, 9), ['ä+]\n,', 'c+d+e', 'ä+]\n,']);
  assert.deepEqual(await read(text, 2, 9), ['ä+]\n,', 'c+d+e', 'and more']);
  const isCancelled = new Promise<void>((resolve) => {
    server.response = new Response(new ReadableStream({
      pull: (controller) => controller.enqueue(Buffer.from(`[${GROUP},\n`)),
      cancel: () => resolve(),
    }));
  });
  await fetchGroups('title', 5, AbortSignal.timeout(10_000));
  await isCancelled;
});

test('a group whose books have gone meanwhile is none', async () => {
  const text = `[{"books":[]},\n{"books":[{"id":"a"}]},\n${OTHER}]\n`;
  assert.deepEqual(await read(text, 10, 1000), ['c+d+e']);
});

test('an answer that is a problem is thrown', async () => {
  server.response = Response.json({ detail: 'too much to do' }, { status: 503 });
  await assert.rejects(fetchGroups('isbn', 5, AbortSignal.timeout(10_000)),
    { status: 503, message: 'too much to do' });
});
