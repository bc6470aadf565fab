import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { AppError } from '../../src/base/errors.ts';
import type { JsonObject } from '../../src/base/schema.ts';
import type { ChangeHook, RepositoryResource } from '../../src/resources/record-stager.ts';
import { Repository, type Precondition } from '../../src/resources/repository.ts';
import type { NamedSchema } from '../../src/resources/resource.ts';
import { createMemoryStore } from '../support/memory-store.ts';
import type { MemoryStore } from '../support/memory-store.ts';

const text = { kind: 'string' } as const;
const schema: NamedSchema = {
  kind: 'object',
  name: 'Note',
  members: {
    id: { readOnly: 'echo', schema: text },
    createdAt: { readOnly: 'ignored', schema: text },
    updatedAt: { readOnly: 'ignored', schema: text },
    name: { schema: { ...text, minLength: 1 }, isRequired: true },
    secret: { schema: text, isWriteOnly: true },
    note: { schema: text },
  },
};
const START_MS = Date.parse('2026-03-01T12:00:00.000Z');

let store: MemoryStore;
let nowMs: number;
let nextId: number;

beforeEach(() => {
  store = createMemoryStore([{ name: 'notes', key: 'id' }, { name: 'slugs', key: 'identifier' },
    { name: 'log', key: 'id' }]);
  nowMs = START_MS;
  nextId = 1;
});

function repositoryOf(
  changes: Partial<RepositoryResource> = {}, stageWithChange: ChangeHook = () => {},
): Repository {
  const resource: RepositoryResource = {
    collection: { name: 'notes', key: 'id' }, noun: 'note', schema, ...changes,
  };
  return new Repository({
    store, resource, clock: { now: () => nowMs }, makeId: () => `n${nextId++}`, stageWithChange,
  });
}

test('a new record is one line: key, stamps, then members in the order of the table', async () => {
  const added = await repositoryOf().add({ note: 'x', name: 'A', createdAt: 'ignored' });
  assert.equal(added.bytes.toString(), '{"id":"n1","createdAt":"2026-03-01T12:00:00.000Z",'
    + '"updatedAt":"2026-03-01T12:00:00.000Z","name":"A","note":"x"}');
  assert.equal(repositoryOf().find('n1')?.bytes.toString(), added.bytes.toString());
});

test('a record is seen only once it is committed', async () => {
  const repository = repositoryOf();
  const adding = repository.add({ name: 'A' });
  assert.equal(repository.find('n1'), undefined);
  await adding;
  assert.notEqual(repository.find('n1'), undefined);
});

test('a replacement keeps the id and createdAt, and drops what it does not hold', async () => {
  const repository = repositoryOf();
  await repository.add({ name: 'A', note: 'x' });
  nowMs += 1000;
  const replaced = await repository.replace('n1', { id: 'n1', name: 'B', updatedAt: 'ignored' });
  assert.deepEqual(shown(replaced.bytes), {
    id: 'n1', name: 'B',
    createdAt: '2026-03-01T12:00:00.000Z', updatedAt: '2026-03-01T12:00:01.000Z',
  });
});

test('a patch merges, and its result must hold the rules', async () => {
  const repository = repositoryOf();
  await repository.add({ name: 'A', note: 'x' });
  const patched = await repository.patch('n1', { note: null, secret: 's' });
  assert.equal(patched.bytes.toString().endsWith(',"name":"A","secret":"s"}'), true);
  await rejects(repository.patch('n1', { name: null }), 'invalid', '/name');
  await rejects(repository.patch('n1', { nam: 'B' }), 'invalid', '/nam');
  await rejects(repository.patch('n1', ['A']), 'invalid', '');
  await rejects(repository.patch('n1', null), 'invalid', '');
});

test('updatedAt rises with every write, also when the clock stands or steps back', async () => {
  const repository = repositoryOf();
  const stamps = [shown((await repository.add({ name: 'A' })).bytes)['updatedAt']];
  for (const stepMs of [0, 0, -5000, 1]) {
    nowMs += stepMs;
    stamps.push(shown((await repository.patch('n1', {})).bytes)['updatedAt']);
  }
  assert.deepEqual(stamps.map((stamp) => Date.parse(String(stamp)) - START_MS), [0, 1, 2, 3, 4]);
});

test('writers see what is staged before them, and what it is stamped with', async () => {
  const repository = repositoryOf();
  await repository.add({ name: 'A' });
  const [left, right] = await Promise.all([
    repository.patch('n1', { note: 'left' }), repository.patch('n1', { secret: 'right' }),
  ]);
  assert.equal(shown(left?.bytes)['secret'], undefined);
  assert.deepEqual([shown(right?.bytes)['note'], shown(right?.bytes)['secret']], ['left', 'right']);
});

test('an id in a body is refused when new, and must be the path\'s otherwise', async () => {
  const repository = repositoryOf();
  await rejects(repository.add({ id: 'n1', name: 'A' }), 'invalid', '/id');
  await repository.add({ id: null, name: 'A' });
  for (const id of ['n2', 1, {}, '', '__proto__']) {
    await rejects(repository.replace('n1', { id, name: 'A' }), 'invalid', '/id');
    await rejects(repository.patch('n1', { id }), 'invalid', '/id');
  }
  await repository.replace('n1', { id: 'n1', name: 'B' });
  await repository.patch('n1', { id: null });
  assert.equal(shown(repository.find('n1')?.bytes)['id'], 'n1');
});

test('all mistakes of a body are told at once', async () => {
  await assert.rejects(repositoryOf().add({ id: 'x', nam: 'A' }), (error) => {
    assert.ok(error instanceof AppError);
    assert.deepEqual(error.details.errors?.map(({ pointer }) => pointer), ['/nam', '/name', '/id']);
    return true;
  });
});

test('not found comes before the precondition, the precondition before the rules', async () => {
  const repository = repositoryOf();
  const refuse = (): never => {
    throw new AppError('precondition_failed', 'changed meanwhile');
  };
  await repository.add({ name: 'A' });
  await rejects(repository.replace('n9', { name: 'A' }, refuse), 'not_found');
  await rejects(repository.patch('n9', {}, refuse), 'not_found');
  await rejects(repository.remove('n9', refuse), 'not_found');
  await rejects(repository.replace('n1', {}, refuse), 'precondition_failed');
  await rejects(repository.patch('n1', { name: 1 }, refuse), 'precondition_failed');
  await rejects(repository.remove('n1', refuse), 'precondition_failed');
  assert.equal(store.lines.length, 1);
});

test('of many writers who expect one version, one passes', async () => {
  const repository = repositoryOf();
  const first = (await repository.add({ name: 'A' })).bytes;
  const expect: Precondition = ({ bytes }) => {
    if (!bytes.equals(first)) throw new AppError('precondition_failed', 'changed meanwhile');
  };
  const results = await Promise.allSettled(Array.from({ length: 100 }, (_, index) =>
    repository.patch('n1', { note: `${index}` }, expect)));
  assert.equal(results.filter(({ status }) => status === 'fulfilled').length, 1);
});

test('a removed record is gone, and removing it again is not found', async () => {
  const repository = repositoryOf();
  await repository.add({ name: 'A' });
  await repository.remove('n1');
  assert.equal(repository.find('n1'), undefined);
  await rejects(repository.remove('n1'), 'not_found');
});

test('what the change hook adds is in the line of the change', async () => {
  const repository = repositoryOf({}, (transaction, { id, before, after }) => {
    const kind = [before === null ? 'new' : 'old', after === null ? 'gone' : 'kept'].join('-');
    transaction.put('log', `${id}-${kind}`, `{"id":"${id}-${kind}"}`);
  });
  await repository.add({ name: 'A' });
  await repository.patch('n1', {});
  await repository.remove('n1');
  assert.deepEqual(store.lines.map((line) => line.map(({ id }) => id)),
    [['n1', 'n1-new-kept'], ['n1', 'n1-old-kept'], ['n1', 'n1-old-gone']]);
});

test('what the change hook throws undoes the change', async () => {
  const repository = repositoryOf({}, () => {
    throw new AppError('conflict', 'in use');
  });
  await rejects(repository.add({ name: 'A' }), 'conflict');
  assert.equal(store.lines.length, 0);
});

test('a caller may give the key where the resource says so', async () => {
  const slug = { ...text, pattern: /^[a-z]+$/, description: 'a slug' };
  const { id: _, ...members } = schema.members;
  const slugs: Partial<RepositoryResource> = {
    collection: { name: 'slugs', key: 'identifier' }, isKeyGiven: true,
    schema: { kind: 'object', name: 'Slug', members: { identifier: { schema: slug }, ...members } },
  };
  const repository = repositoryOf(slugs);
  const named = await repository.add({ identifier: 'mine', name: 'A' });
  assert.equal(named.bytes.toString().startsWith('{"identifier":"mine","createdAt":'), true);
  await rejects(repository.add({ identifier: 'mine', name: 'B' }), 'conflict');
  await rejects(repository.add({ identifier: '../x', name: 'B' }), 'invalid', '/identifier');
  const made = await repository.add({ name: 'C' });
  assert.match(String(shown(made.bytes)['identifier']), /^n\d+$/);
  await rejects(repository.replace('mine', { identifier: 'other', name: 'A' }), 'invalid',
    '/identifier');
});

test('a write-only member is kept, removed and never shown', async () => {
  const repository = repositoryOf({
    toPublic: ({ secret, ...rest }): JsonObject => ({ ...rest, hasSecret: secret !== undefined }),
    reconcile: (body, current, cause) => {
      const isKept = cause === 'replace' && !Object.hasOwn(body, 'secret');
      return isKept ? { ...body, secret: current?.['secret'] ?? null } : body;
    },
  });
  const stored = (): unknown => shown(store.collection('notes').find('n1')?.bytes)['secret'];
  const added = await repository.add({ name: 'A', secret: 's' });
  assert.equal(shown(added.bytes)['secret'], undefined);
  assert.equal(shown(added.bytes)['hasSecret'], true);
  assert.equal(stored(), 's');
  const expected = new Set<unknown>();
  const expect: Precondition = ({ bytes }) => {
    expected.add(shown(bytes)['secret']);
  };
  await repository.replace('n1', { name: 'B' }, expect);
  assert.equal(stored(), 's');
  await repository.patch('n1', { name: 'C' }, expect);
  assert.equal(stored(), 's');
  await repository.patch('n1', { secret: null });
  assert.equal(stored(), undefined);
  assert.equal(shown(repository.find('n1')?.bytes)['hasSecret'], false);
  assert.deepEqual(expected, new Set([undefined]));
});

test('a failed batch fails its writers and leaves nothing behind', async () => {
  const repository = repositoryOf();
  store.failNextBatch(new AppError('storage_full', 'no space'));
  await rejects(repository.add({ name: 'A' }), 'storage_full');
  assert.equal(repository.find('n1'), undefined);
  await repository.add({ name: 'B' });
});

function shown(bytes: Buffer | undefined): JsonObject {
  return JSON.parse(String(bytes));
}

async function rejects(promise: Promise<unknown>, code: string, pointer?: string): Promise<void> {
  await assert.rejects(promise, (error) => {
    assert.ok(error instanceof AppError, String(error));
    assert.equal(error.code, code);
    if (pointer !== undefined) assert.equal(error.details.errors?.[0]?.pointer, pointer);
    return true;
  });
}

test('what a reconciliation is given of a body with many unknown members is bounded', async () => {
  const flood = Object.fromEntries(
    Array.from({ length: 60_000 }, (_, index) => [`x${index}`, [index]]));
  const seen: number[] = [];
  const repository = repositoryOf({
    reconcile: (body) => {
      seen.push(JSON.stringify(body).length);
      return body;
    },
  });
  const { id } = await repository.add({ name: 'A' });
  const calls = {
    add: () => repository.add({ name: 'A', ...flood }),
    replace: () => repository.replace(id, { name: 'A', ...flood }),
    patch: () => repository.patch(id, { note: 'x', ...flood }),
  };
  for (const [what, call] of Object.entries(calls)) {
    await assert.rejects(call(), (error) => {
      assert(error instanceof AppError && error.code === 'invalid', what);
      const { errors = [] } = error.details;
      assert.deepEqual([errors.length, errors[0]],
        [100, { pointer: '/x0', detail: 'is not a known member' }]);
      return true;
    });
  }
  assert(seen.length === 4 && seen.every((length) => length < 2_000), seen.join());
  const removed = Object.fromEntries(Object.keys(flood).map((name) => [name, null]));
  const patched = await repository.patch(id, { note: 'y', ...removed });
  assert.equal(JSON.parse(patched.bytes.toString()).note, 'y', 'null removes what is not there');
});
