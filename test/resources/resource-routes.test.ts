import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError } from '../../src/base/errors.ts';
import { resourceRoutes } from '../../src/resources/resource-routes.ts';
import type { RoutedResource } from '../../src/resources/resource-routes.ts';
import { collectionRoute } from '../../src/resources/collection-route.ts';
import type { Precondition, WriteOptions } from '../../src/resources/repository.ts';
import { Representation } from '../../src/resources/representation.ts';
import type { Transaction } from '../../src/store/store-port.ts';
import { rawRequest } from '../support/raw-http.ts';
import type { RawAnswer } from '../support/raw-http.ts';
import { startServer } from '../support/test-server.ts';
import type { TestServer } from '../support/test-server.ts';

const START_MS = Date.UTC(2026, 4, 17, 12, 30, 15, 250);
const JSON_TYPE = { 'Content-Type': 'application/json' };
const DATE = 'Sun, 17 May 2026 12:30:15 GMT';

/** Without an idempotency key nothing is staged beside a thing. */
const UNUSED: Transaction = {
  find: () => assert.fail(), findId: () => assert.fail(), listIds: () => assert.fail(),
  listStaged: () => assert.fail(), listRemoved: () => assert.fail(),
  put: () => assert.fail(), delete: () => assert.fail(),
  reserve: () => assert.fail(), countReserved: () => assert.fail(),
};

type ItemRepository = Parameters<typeof resourceRoutes>[1];

/** Things in memory, each write a millisecond after the last. */
class ThingService implements ItemRepository {
  readonly things = new Map<string, Representation>();
  readonly #removed = new Map<string, Representation>();
  #writes = 0;

  find(id: string): Representation | undefined {
    return this.things.get(id);
  }

  async add(
    body: unknown, _options?: WriteOptions,
    onAdded?: (transaction: Transaction, added: Representation) => void,
  ): Promise<Representation> {
    const added = this.#put(`t${this.things.size + 1}`, body);
    onAdded?.(UNUSED, added);
    return added;
  }

  async replace(
    id: string, body: unknown, expect?: Precondition,
  ): Promise<Representation> {
    const current = this.#get(id);
    expect?.(current);
    return this.#put(id, body);
  }

  async patch(
    id: string, patch: unknown, expect?: Precondition,
  ): Promise<Representation> {
    const current = this.#get(id);
    expect?.(current);
    return this.#put(id, { ...JSON.parse(current.bytes.toString()), ...patch as object });
  }

  async remove(id: string, expect?: Precondition): Promise<void> {
    const current = this.#get(id);
    expect?.(current);
    this.things.delete(id);
    this.#removed.set(id, current);
  }

  async restore(id: string): Promise<Representation> {
    const restored = this.#removed.get(id);
    if (restored === undefined) throw new AppError('not_found', `no thing ${id} was deleted`);
    this.things.set(id, restored);
    return restored;
  }

  #get(id: string): Representation {
    const found = this.things.get(id);
    if (found === undefined) throw new AppError('not_found', `there is no thing ${id}`);
    return found;
  }

  #put(id: string, body: unknown): Representation {
    const updatedAtMs = START_MS + this.#writes;
    const updatedAt = new Date(updatedAtMs).toISOString();
    this.#writes += 1;
    const { title } = body as { title?: string };
    const text = JSON.stringify({ id, createdAt: DATE, updatedAt, title });
    const representation = new Representation(id, Buffer.from(text), updatedAtMs);
    this.things.set(id, representation);
    return representation;
  }
}

type Shelf = { readonly server: TestServer; readonly service: ThingService; readonly etag: string };

/** A server with the thing `t1`, and its tag. */
async function startShelf(): Promise<Shelf> {
  const service = new ThingService();
  await service.add({ title: 'one' });
  const collection = {
    get size() {
      return service.things.size;
    },
    ids: (after: string | null = null) => [...service.things.keys()].sort()
      .filter((id) => after === null || id > after).values(),
    findListed(id: string) {
      const bytes = service.find(id)?.bytes;
      return bytes === undefined ? null : { id, bytes };
    },
  };
  const resource: RoutedResource = {
    path: '/api/things', noun: 'thing', collection: { name: 'things', key: 'id' },
    schema: { kind: 'object', name: 'Thing', members: {} },
  };
  const server = await startServer([
    collectionRoute(resource, collection), ...resourceRoutes(resource, service),
  ]);
  const { headers } = await rawRequest(server, 'GET', '/api/things/t1');
  return { server, service, etag: headers['etag'] ?? '' };
}

test('reads answer with the stored bytes, a strong tag and a date', async () => {
  const { server, service, etag } = await startShelf();
  await using _ = server;
  const answer = await rawRequest(server, 'GET', '/api/things/t1');
  assert.equal(answer.body, service.find('t1')?.bytes.toString());
  assert.match(etag, /^"[0-9a-z]+-[0-9a-f]{8}"$/);
  assert.equal(answer.headers['last-modified'], DATE);
  assert.equal(answer.headers['content-type'], 'application/json');
  assert.equal((await rawRequest(server, 'GET', '/api/things/t1')).headers['etag'], etag);
  const missing = await rawRequest(server, 'GET', '/api/things/none');
  assert.deepEqual(JSON.parse(missing.body), {
    type: 'urn:hookshelf:problem:not-found', title: 'Not Found', status: 404,
    detail: 'there is no thing "none"', instance: '/api/things/none',
  });
});

test('conditional reads follow RFC 9110 section 13', async () => {
  const { server, etag } = await startShelf();
  await using _ = server;
  const later = 'Sun, 17 May 2026 12:30:16 GMT';
  const earlier = 'Sun, 17 May 2026 12:30:14 GMT';
  const cases: readonly [Record<string, string>, number][] = [
    [{ 'If-None-Match': etag }, 304],
    [{ 'If-None-Match': `W/${etag}` }, 304],
    [{ 'If-None-Match': `"x", ${etag}, "y"` }, 304],
    [{ 'If-None-Match': '*' }, 304],
    [{ 'If-None-Match': '"x"' }, 200],
    [{ 'If-None-Match': etag.replaceAll('"', '') }, 200],
    [{ 'If-Modified-Since': DATE }, 304],
    [{ 'If-Modified-Since': later }, 304],
    [{ 'If-Modified-Since': earlier }, 200],
    [{ 'If-Modified-Since': 'yesterday, perhaps' }, 200],
    [{ 'If-None-Match': '"x"', 'If-Modified-Since': later }, 200],
    [{ 'If-Match': etag }, 200],
    [{ 'If-Match': `W/${etag}` }, 412],
    [{ 'If-Match': '"x"' }, 412],
    [{ 'If-Match': `"x", ${etag}` }, 200],
    [{ 'If-Match': etag.replaceAll('"', '') }, 400],
    [{ 'If-Match': `${etag}, x` }, 400],
    [{ 'If-Match': '' }, 400],
    [{ 'If-Unmodified-Since': earlier }, 412],
    [{ 'If-Unmodified-Since': DATE }, 200],
    // Who can tell versions apart has no need of seconds: the date beside a tag does not count.
    [{ 'If-Match': etag, 'If-Unmodified-Since': earlier }, 200],
    [{ 'If-Match': '"x"', 'If-Unmodified-Since': later }, 412],
    [{ 'If-Match': etag, 'If-None-Match': etag }, 304],
  ];
  for (const [headers, status] of cases) {
    for (const method of ['GET', 'HEAD']) {
      const answer = await rawRequest(server, method, '/api/things/t1', headers);
      assert.equal(answer.status, status, `${method} ${JSON.stringify(headers)}`);
      if (status === 304) assert.deepEqual([answer.headers['etag'], answer.body], [etag, '']);
    }
  }
});

test('writes answer with what is stored, where, and its tag', async () => {
  const { server, service, etag } = await startShelf();
  await using _ = server;
  const send = (method: string, path: string, body?: string, headers = {}): Promise<RawAnswer> =>
    rawRequest(server, method, `/api/things${path}`, { ...JSON_TYPE, ...headers }, body);
  const added = await send('POST', '', '{"title":"two"}');
  assert.deepEqual([added.status, added.headers['location']], [201, '/api/things/t2']);
  assert.equal(added.body, service.find('t2')?.bytes.toString());
  const replaced = await send('PUT', '/t1', '{"title":"three"}', { 'If-Match': etag });
  assert.equal(replaced.status, 200);
  assert.notEqual(replaced.headers['etag'], etag);
  assert.equal((await send('GET', '/t1')).headers['etag'], replaced.headers['etag']);
  const patched = await send('PATCH', '/t1', '{"title":"four"}',
    { 'Content-Type': 'application/merge-patch+json' });
  assert.deepEqual([patched.status, JSON.parse(patched.body).title], [200, 'four']);
  assert.equal((await send('PATCH', '/t1', '{"title":"five"}')).status, 200);
  const last = await send('GET', '/t1');
  const deleted = await send('DELETE', '/t1');
  assert.deepEqual([deleted.status, deleted.body, deleted.headers['content-length']],
    [204, '', undefined]);
  assert.equal((await send('DELETE', '/t1')).status, 404);
  const restored = await send('POST', '/t1/restore');
  assert.deepEqual([restored.status, restored.body, restored.headers['etag']],
    [200, last.body, last.headers['etag']]);
});

test('a write whose conditions do not hold is not done', async () => {
  const { server, service, etag } = await startShelf();
  await using _ = server;
  const before = service.find('t1')?.bytes.toString();
  const conditions = [
    { 'If-Match': '"x"' }, { 'If-Match': `W/${etag}` }, { 'If-None-Match': '*' },
    { 'If-None-Match': etag }, { 'If-Unmodified-Since': 'Sun, 17 May 2026 12:30:14 GMT' },
  ];
  for (const headers of conditions) {
    for (const method of ['PUT', 'PATCH', 'DELETE']) {
      const path = '/api/things/t1';
      const answer = await rawRequest(server, method, path, { ...JSON_TYPE, ...headers }, '{}');
      assert.equal(answer.status, 412, `${method} ${JSON.stringify(headers)}`);
      const missing = await rawRequest(server, method, '/api/things/none',
        { ...JSON_TYPE, ...headers }, '{}');
      assert.equal(missing.status, 404, 'not found goes before');
    }
  }
  for (const method of ['PUT', 'PATCH', 'DELETE']) {
    const unquoted = { 'If-Match': etag.replaceAll('"', '') };
    const answer = await rawRequest(server, method, '/api/things/t1',
      { ...JSON_TYPE, ...unquoted }, '{}');
    assert.equal(answer.status, 400, method);
    assert.match(JSON.parse(answer.body).detail, /ETag in If-Match must be quoted/);
  }
  assert.equal(service.find('t1')?.bytes.toString(), before);
  const matching = await rawRequest(server, 'DELETE', '/api/things/t1', { 'If-Match': '*' });
  assert.equal(matching.status, 204);
});

test('a patch in another media type is refused with those that are taken', async () => {
  const { server } = await startShelf();
  await using _ = server;
  const answer = await rawRequest(server, 'PATCH', '/api/things/t1',
    { 'Content-Type': 'application/json-patch+json' }, '[]');
  assert.equal(answer.status, 415);
  assert.equal(answer.headers['accept-patch'], 'application/merge-patch+json, application/json');
});

test('a collection is given whole, or page by page with links', async () => {
  const { server, service } = await startShelf();
  await using _ = server;
  for (let count = 0; count < 4; count += 1) await service.add({ title: 'x'.repeat(50_000) });
  const all = await rawRequest(server, 'GET', '/api/things');
  assert.equal(all.headers['x-total-count'], '5');
  const ids = (JSON.parse(all.body) as { id: string }[]).map(({ id }) => id);
  assert.deepEqual(ids, ['t1', 't2', 't3', 't4', 't5']);
  const paged: string[] = [];
  let path: string | undefined = '/api/things?limit=2';
  while (path !== undefined) {
    const page: RawAnswer = await rawRequest(server, 'GET', path);
    paged.push(...(JSON.parse(page.body) as { id: string }[]).map(({ id }) => id));
    path = /^<([^>]+)>; rel="next"$/.exec(page.headers['link'] ?? '')?.[1];
  }
  assert.deepEqual(paged, ids);
  service.things.clear();
  assert.equal((await rawRequest(server, 'GET', '/api/things')).body, '[]');
});

test('a query that is not understood is refused', async () => {
  const { server } = await startShelf();
  await using _ = server;
  const cases: readonly [string, RegExp][] = [
    ['limt=2', /unknown query parameter `limt`: did you mean `limit`/],
    ['limit=0', /`limit` must be an integer from 1 to 1000/],
    ['limit=1001', /`limit` must be/],
    ['limit=1e2', /`limit` must be/],
    ['limit=', /`limit` must be/],
    ['limit=1&limit=2', /stands twice/],
    ['cursor=%zz', /bad percent-encoding/],
    ['cursor=!', /`cursor` is not one/],
  ];
  for (const [query, detail] of cases) {
    const answer = await rawRequest(server, 'GET', `/api/things?${query}`);
    assert.equal(answer.status, 400, query);
    assert.match(JSON.parse(answer.body).detail, detail);
  }
});
