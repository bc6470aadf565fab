import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError } from '../../src/base/errors.ts';
import { silentLogger } from '../../src/base/log.ts';
import { bookResource } from '../../src/books/book-resource.ts';
import type { ExpiryLimits } from '../../src/resources/expiring-records.ts';
import { IDEMPOTENCY_KEYS, IdempotencyKeys }
  from '../../src/resources/idempotency-keys.ts';
import { startBookServer, type Answer, type BookServer } from '../support/book-server.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { createMemoryStore, type MemoryStore } from '../support/memory-store.ts';

const DAY_MS = 24 * 3_600_000;
const BOOK = JSON.stringify({ title: 'Persuasion', authors: [{ name: 'Jane Austen' }] });
const OTHER = JSON.stringify({ title: 'Emma', authors: [{ name: 'Jane Austen' }] });

type Place = {
  readonly server: BookServer; readonly store: MemoryStore; readonly clock: ManualClock;
  readonly keys: IdempotencyKeys;
  add(key: string, body?: string, token?: string): Promise<Answer>;
};

async function withPlace(
  use: (place: Place) => Promise<void>, limits?: ExpiryLimits,
): Promise<void> {
  const store = createMemoryStore([bookResource.collection, IDEMPOTENCY_KEYS]);
  const clock = new ManualClock();
  const keys = new IdempotencyKeys({ store, clock, log: silentLogger }, limits);
  const server = await startBookServer({ store, clock, keys });
  try {
    await use({
      server, store, clock, keys,
      add: (key, body = BOOK, token = 'one') => server.ask('POST', '/api/books', body, {
        'Idempotency-Key': key, Authorization: `Bearer ${token}`,
      }),
    });
  } finally {
    await server.close();
    await keys.close();
  }
}

function isReplayed({ headers }: Answer): boolean {
  return headers['idempotency-replayed'] === 'true';
}

test('gives the first answer again, and adds one book', () => withPlace(async ({ add, server }) => {
  const first = await add('k1');
  const again = await add('k1');
  assert.deepEqual([first.status, again.status], [201, 201]);
  assert.deepEqual([isReplayed(first), isReplayed(again)], [false, true]);
  for (const name of ['location', 'etag', 'content-type', 'last-modified']) {
    assert.ok(first.headers[name] !== undefined, name);
    assert.equal(again.headers[name], first.headers[name]);
  }
  assert.equal(again.text, first.text);
  assert.equal(server.catalog.size, 1);
}));

test('gives the first answer even when the book has changed since', () =>
  withPlace(async ({ add, server }) => {
    const first = await add('k1');
    await server.catalog.remove(JSON.parse(first.text).id);
    assert.equal((await add('k1')).text, first.text);
    assert.equal(server.catalog.size, 0);
  }));

test('commits the key and the book in one line', () => withPlace(async ({ add, store }) => {
  await add('k1');
  const [line, ...more] = store.lines;
  assert.deepEqual(line?.map(({ collection }) => collection).sort(), ['books', 'idempotency-keys']);
  assert.deepEqual(more, []);
}));

test('refuses another body with the same key', () => withPlace(async ({ add, server }) => {
  await add('k1');
  const refused = await add('k1', OTHER);
  assert.equal(refused.status, 422);
  const [error] = JSON.parse(refused.text).errors;
  assert.equal(error.pointer, '');
  assert.match(error.detail, /came with another body before/);
  assert.match(refused.text, /another body/);
  assert.equal(server.catalog.size, 1);
}));

test('refuses a request while the first with its key is under way', () =>
  withPlace(async ({ add, server }) => {
    const answers = await Promise.all(Array.from({ length: 5 }, () => add('k1')));
    assert.equal(server.catalog.size, 1);
    const statuses = answers.map((answer) => isReplayed(answer) ? 'replayed' : answer.status);
    assert.equal(statuses.filter((status) => status === 201).length, 1);
    assert.ok(statuses.every((status) => [201, 409, 'replayed'].includes(status)));
  }));

test('keeps the keys of two callers apart', () => withPlace(async ({ add, server }) => {
  const first = await add('k1', BOOK, 'one');
  const second = await add('k1', BOOK, 'two');
  assert.equal(isReplayed(second), false);
  assert.notEqual(second.text, first.text);
  assert.equal(server.catalog.size, 2);
}));

test('forgets a request that was refused or failed', () => withPlace(async ({ add, store }) => {
  assert.equal((await add('k1', '{"title":7}')).status, 422);
  const mended = await add('k1');
  assert.deepEqual([mended.status, isReplayed(mended)], [201, false]);
  store.failNextBatch(new AppError('storage_full', 'full'));
  assert.equal((await add('k2')).status, 507);
  const stored = await add('k2', OTHER);
  assert.deepEqual([stored.status, isReplayed(stored)], [201, false]);
}));

test('refuses a key that is empty, too long or not printable', () =>
  withPlace(async ({ add, server }) => {
    for (const key of ['', 'k'.repeat(256), 'caf\u00e9']) {
      assert.equal((await add(key)).status, 400, JSON.stringify(key));
    }
    assert.equal((await add('k'.repeat(255))).status, 201);
    assert.equal(server.catalog.size, 1);
  }));

test('remembers a key for a day, then removes it', () =>
  withPlace(async ({ add, clock, store, keys }) => {
    keys.start();
    await add('k1');
    await clock.advance(DAY_MS - 60_000);
    assert.equal(isReplayed(await add('k1')), true);
    await clock.advance(180_000);
    await store.transact(() => {});
    const { size } = store.collection(IDEMPOTENCY_KEYS.name);
    assert.equal(isReplayed(await add('k1')), false);
    assert.ok(size <= 1);
    const removed = store.lines.flat().filter(({ collection, json }) =>
      collection === IDEMPOTENCY_KEYS.name && json === null);
    assert.equal(removed.length, 1);
  }));

test('keeps no more keys and bytes than the limits allow, the newest', async () => {
  for (const limits of [{ countMax: 3, bytesMax: 1e9 }, { countMax: 100, bytesMax: 2500 }]) {
    await withPlace(async ({ add, clock, store, keys }) => {
      keys.start();
      for (let count = 0; count < 10; count += 1) {
        await add(`k${count}`);
        await clock.advance(1000);
      }
      const kept = store.collection(IDEMPOTENCY_KEYS.name);
      for (let turn = 0; turn < 50; turn += 1) await new Promise(setImmediate);
      assert.ok(kept.size <= limits.countMax && kept.size > 0, `${kept.size} keys`);
      assert.ok(kept.bytesTotal <= limits.bytesMax, `${kept.bytesTotal} bytes`);
      assert.equal(isReplayed(await add('k9')), true);
      assert.equal(isReplayed(await add('k0')), false);
    }, limits);
  }
});

test('finds the keys of an earlier run, oldest first', () =>
  withPlace(async ({ add, clock, store, keys }) => {
    for (let count = 0; count < 4; count += 1) {
      await add(`k${count}`);
      await clock.advance(1000);
    }
    await keys.close();
    const limits = { countMax: 2, bytesMax: 1e9 };
    const next = new IdempotencyKeys({ store, clock, log: silentLogger }, limits);
    next.start();
    for (let turn = 0; turn < 50; turn += 1) await new Promise(setImmediate);
    assert.equal(store.collection(IDEMPOTENCY_KEYS.name).size, 2);
    const server = await startBookServer({ store, clock, keys: next });
    const ask = (key: string): Promise<Answer> => server.ask('POST', '/api/books', BOOK, {
      'Idempotency-Key': key, Authorization: 'Bearer one',
    });
    try {
      assert.deepEqual([isReplayed(await ask('k3')), isReplayed(await ask('k0'))], [true, false]);
    } finally {
      await server.close();
      await next.close();
    }
  }));
