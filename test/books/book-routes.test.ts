import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { bookExample } from '../../src/books/book.ts';
import { createDocument } from '../../src/server/documents/openapi.ts';
import { startBookServer } from '../support/book-server.ts';
import type { Answer, BookServer } from '../support/book-server.ts';
import { resolvePointer, validate } from '../support/json-schema.ts';

const DUNE = { title: 'Dune', authors: [{ name: 'Frank Herbert' }], isbn: '0-441-17271-7' };
const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

let server: BookServer;
let openApi: unknown;

before(async () => {
  server = await startBookServer();
  openApi = createDocument({ routes: server.routes, version: '1', baseUri: null });
});

after(() => server.close());

test('a book that is added comes back as stored, with its place and version', async () => {
  const answer = await server.ask('POST', '/api/books', JSON.stringify(DUNE));
  assert.equal(answer.status, 201);
  const book = parse(answer);
  assert.match(String(book['id']), UUID_V7);
  assert.equal(answer.headers['location'], `/api/books/${String(book['id'])}`);
  assert.match(String(answer.headers.etag), /^"[^"]+"$/);
  assert.deepEqual(Object.keys(book),
    ['id', 'createdAt', 'updatedAt', 'title', 'authors', 'isbn']);
  assert.equal(book['isbn'], '9780441172719');
  const read = await server.ask('GET', String(answer.headers['location']));
  assert.equal(read.text, answer.text);
  assert.equal(read.headers.etag, answer.headers.etag);
});

test('ids rise with creation, and the collection is in their order', async () => {
  const ids: unknown[] = [];
  for (const title of ['b', 'a', 'c']) ids.push((await add({ title }))['id']);
  assert.deepEqual(ids, [...ids].sort());
  const list = await server.ask('GET', '/api/books');
  const listed = JSON.parse(list.text).map(({ id }: { id: string }) => id);
  assert.deepEqual(listed, [...listed].sort());
  assert.equal(list.headers['x-total-count'], String(listed.length));
});

test('a replacement is whole, a patch is merged, a deletion leaves nothing', async () => {
  const { id, createdAt } = await add({ ...DUNE, subtitle: 'x', metadata: { a: 1, b: 2 } });
  const path = `/api/books/${String(id)}`;
  const replaced = await server.ask('PUT', path, JSON.stringify({ id, title: 'Dune Messiah' }));
  assert.equal(replaced.status, 200);
  assert.deepEqual(without(parse(replaced), 'updatedAt'),
    { id, createdAt, title: 'Dune Messiah', authors: [] });
  const patch = { metadata: { a: 1, b: { c: null, d: 1 } }, title: 'Dune', subtitle: null };
  const patched = await server.ask('PATCH', path, JSON.stringify(patch),
    { 'Content-Type': 'application/merge-patch+json' });
  assert.deepEqual(without(parse(patched), 'updatedAt'),
    { id, createdAt, title: 'Dune', authors: [], metadata: { a: 1, b: { d: 1 } } });
  assert.ok(String(parse(patched)['updatedAt']) > String(parse(replaced)['updatedAt']));
  const deleted = await server.ask('DELETE', path);
  assert.deepEqual([deleted.status, deleted.text], [204, '']);
  assert.equal((await server.ask('GET', path)).status, 404);
  assert.equal((await server.ask('DELETE', path)).status, 404);
});

test('a book is read with some members alone, and is the same version', async () => {
  const { id } = await add({ ...DUNE, keywords: ['a', 'b'], metadata: { title: 'x', isbn: [] } });
  const path = `/api/books/${String(id)}`;
  const whole = await server.ask('GET', path);
  const part = await server.ask('GET', `${path}?fields=keywords,title`);
  assert.equal(part.status, 200);
  assert.equal(part.text, `{"id":"${String(id)}","title":"Dune","keywords":["a","b"]}`);
  for (const name of ['etag', 'last-modified', 'cache-control', 'content-type']) {
    assert.equal(part.headers[name], whole.headers[name], name);
  }
  assert.equal(part.headers['content-length'], String(part.text.length));
  const head = await server.ask('HEAD', `${path}?fields=keywords,title`);
  assert.equal(head.headers['content-length'], part.headers['content-length']);
  const again = await server.ask('GET', `${path}?fields=title`, undefined,
    { 'If-None-Match': String(whole.headers.etag) });
  assert.equal(again.status, 304);
  const all = Object.keys(parse(whole)).toReversed().join(',');
  assert.equal((await server.ask('GET', `${path}?fields=${all}`)).text, whole.text);
  assert.equal((await server.ask('GET', `${path}?`)).text, whole.text);
});

test('fields that no book has are refused, with what was meant', async () => {
  const path = `/api/books/${String((await add(DUNE))['id'])}`;
  const cases: readonly (readonly [search: string, detail: RegExp])[] = [
    ['fields=', /`fields` must name members of a book, such as/],
    ['fields=titel', /did you mean `title`/],
    ['fields=isbn,', /`fields`/],
    ['fields=isbn&fields=title', /`fields` stands twice: leave one out/],
    ['field=isbn', /unknown query parameter `field`: did you mean `fields`/],
    ['limit=1', /unknown query parameter `limit`/],
  ];
  assert.equal((await server.ask('GET', '/api/books/none?fields=titel')).status, 400);
  assert.equal((await server.ask('GET', '/api/books/none?fields=title')).status, 404);
  for (const [search, detail] of cases) {
    const answer = await server.ask('GET', `${path}?${search}`);
    assert.equal(answer.status, 400, search);
    assert.match(String(parse(answer)['detail']), detail);
  }
});

test('of 100 writers with one If-Match exactly one passes', async () => {
  const added = await server.ask('POST', '/api/books', JSON.stringify(DUNE));
  const path = String(added.headers['location']);
  const match = { 'If-Match': String(added.headers.etag) };
  const answers = await Promise.all(Array.from({ length: 100 }, (_, index) =>
    server.ask('PATCH', path, JSON.stringify({ bookEdition: `${index}` }), match)));
  const statuses = answers.map(({ status }) => status);
  assert.equal(statuses.filter((status) => status === 200).length, 1);
  assert.equal(statuses.filter((status) => status === 412).length, 99);
});

test('what is wrong is told as a problem, all of it at once', async () => {
  const id = '018f2b7c-0000-7000-8000-000000000000';
  const path = `/api/books/${String((await add(DUNE))['id'])}`;
  const cases: readonly (readonly [
    method: string, path: string, body: string, status: number, pointers?: readonly string[],
  ])[] = [
    ['POST', '/api/books', '{"title":"","isbn":1,"x":[]}', 422, ['/x', '/title', '/isbn']],
    ['POST', '/api/books', `{"id":"${id}","title":"A"}`, 422, ['/id']],
    ['POST', '/api/books', '[]', 422, ['']],
    ['POST', '/api/books', '"text"', 422, ['']],
    ['POST', '/api/books', '{"title":"A"', 400],
    ['POST', '/api/books', '', 400],
    ['POST', '/api/books', '{"title":"A","__proto__":{"x":1}}', 422, ['/__proto__']],
    ['PUT', path, `{"id":"${id}","title":"A"}`, 422, ['/id']],
    ['PUT', path, '{}', 422, ['/title']],
    ['PATCH', path, '{"__proto__":{"title":"B"}}', 422, ['/__proto__']],
    ['PATCH', path, '{"title":null}', 422, ['/title']],
    ['PATCH', path, 'null', 422, ['']],
    ['PUT', `/api/books/${id}`, '{"title":"A"}', 404],
    ['PATCH', `/api/books/${id}`, '{}', 404],
    ['GET', '/api/books/../books', '', 404],
  ];
  for (const [method, path_, body, status, pointers] of cases) {
    const answer = await server.ask(method, path_, body);
    assert.equal(answer.status, status, `${method} ${path_} ${body}`);
    assert.equal(answer.headers['content-type'], 'application/problem+json');
    const problem = parse(answer);
    assert.equal(problem['status'], status);
    assert.deepEqual(validate(problem,
      resolvePointer(openApi, '#/components/schemas/Problem'), openApi), []);
    const errors = problem['errors'] as readonly { pointer: string }[] | undefined;
    if (pointers === undefined) assert.equal(errors, undefined);
    else assert.deepEqual(errors?.map(({ pointer }) => pointer), pointers);
  }
});

test('answers hold what the document says, and it describes every route', async () => {
  const book = await add({ ...DUNE, keywords: ['a'], datePublished: '1965-08', metadata: {} });
  const schema = resolvePointer(openApi, '#/components/schemas/Book');
  assert.deepEqual(validate(book, schema, openApi), []);
  const list = JSON.parse((await server.ask('GET', '/api/books')).text);
  for (const item of list) assert.deepEqual(validate(item, schema, openApi), []);
  const paths = resolvePointer(openApi, '#/paths');
  const described = Object.entries(paths).flatMap(([path, operations]) =>
    Object.keys(Object(operations)).map((method) => `${method.toUpperCase()} ${path}`));
  assert.deepEqual(described.sort(), [
    'DELETE /api/books/{id}', 'GET /api/books', 'GET /api/books/duplicates',
    'GET /api/books/facets', 'GET /api/books/statistics',
    'GET /api/books/suggest', 'GET /api/books/{id}', 'PATCH /api/books/{id}', 'POST /api/books',
    'POST /api/books/import', 'POST /api/books/{id}/merge', 'POST /api/books/{id}/restore',
    'PUT /api/books/{id}',
  ]);
});

test('the documented example is accepted, and shown with the route', async () => {
  await add(bookExample);
  const content = resolvePointer(openApi, '#/paths/~1api~1books/post/requestBody/content');
  assert.deepEqual(content['application/json'],
    { schema: { $ref: '#/components/schemas/BookBody' }, example: bookExample });
});

test('any text comes back code point by code point', async () => {
  const title = 'e\u0301 \u00e9 \u0000 \u2028 \ufeff 😀 \ud83d\udc69\u200d\ud83d\ude80 ﷽ "\\/';
  const { id } = await add({ title });
  const answer = await server.ask('GET', `/api/books/${String(id)}`);
  assert.equal(parse(answer)['title'], title);
  const escaped = await server.ask('POST', '/api/books', '{"title":"\\u0041\\ud83d\\ude00"}');
  assert.equal(parse(escaped)['title'], 'A😀');
  assert.equal((await server.ask('POST', '/api/books', '{"title":"\\ud83d"}')).status, 422);
});

type Json = Readonly<Record<string, unknown>>;

async function add(book: object): Promise<Json> {
  const answer = await server.ask('POST', '/api/books', JSON.stringify(book));
  assert.equal(answer.status, 201, answer.text);
  return parse(answer);
}

function parse({ text }: Answer): Json {
  return JSON.parse(text);
}

function without(book: Json, name: string): Json {
  return Object.fromEntries(Object.entries(book).filter(([member]) => member !== name));
}
