import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LogFields, Logger } from '../../../src/base/log.ts';
import { silentLogger } from '../../../src/base/log.ts';
import type { CollectionSpec } from '../../../src/store/store-port.ts';
import { openStore } from '../../../src/store/store.ts';
import type { OpenedStore } from '../../../src/store/store.ts';
import { SimulatedFiles } from '../../support/simulated-files.ts';

const BOOKS: CollectionSpec = { name: 'books', key: 'id' };
const HOOKS: CollectionSpec = { name: 'hooks', key: 'identifier' };

function open(files: SimulatedFiles, specs = [BOOKS], logger: Logger = silentLogger) {
  return openStore({ directory: '/data', files, specs, logger });
}

async function put(store: OpenedStore, ...ids: string[]): Promise<void> {
  for (const id of ids) {
    await store.transact((transaction) => transaction.put('books', id, `{"id":"${id}"}`));
  }
}

function flip(files: SimulatedFiles, path: string, text: string): void {
  const descriptor = files.openSync(path, 'append-existing');
  const content = Buffer.alloc(files.sizeSync(descriptor));
  files.readSync(descriptor, content, 0);
  const at = content.indexOf(text);
  assert.ok(at >= 0);
  files.writeSync(descriptor, Buffer.from([(content[at] ?? 0) ^ 1]), at);
  files.closeSync(descriptor);
}

test('a collection that is new to this version opens empty, and is in the next generation', async (
) => {
  const files = new SimulatedFiles();
  const before = await open(files);
  await put(before, 'a');
  await before.compact();
  await before.close();
  const after = await open(files, [BOOKS, HOOKS]);
  assert.deepEqual([after.collection('books').size, after.collection('hooks').size], [1, 0]);
  await after.transact((transaction) =>
    transaction.put('hooks', 'h', '{"identifier":"h"}'));
  await after.compact();
  await after.close();
  const again = await open(files, [BOOKS, HOOKS]);
  assert.equal(again.collection('hooks').size, 1);
  await again.close();
});

for (const isCompacted of [false, true]) {
  const where = isCompacted ? 'a snapshot' : 'the journal';
  test(`records in ${where} of a collection that this version does not know stop the start`,
    async () => {
      const files = new SimulatedFiles();
      const store = await open(files, [BOOKS, HOOKS]);
      await store.transact((transaction) =>
        transaction.put('hooks', 'h', '{"identifier":"h"}'));
      if (isCompacted) await store.compact();
      await store.close();
      const changes = files.history.length;
      await assert.rejects(open(files, [BOOKS]), {
        code: 'damaged',
        message: new RegExp('line \\d+, offset \\d+: records of "hooks", which this version '
          + 'does not know. Nothing is damaged, .* go on with the hookshelf that wrote it'),
      });
      assert.equal(files.history.slice(changes)
        .filter(({ kind }) => kind !== 'sync-directory').length, 0);
    });
}

for (const damage of ['damaged', 'missing']) {
  test(`a ${damage} snapshot is made good from the generation before it, and told`,
    () => checkMadeGood(damage));
}

async function checkMadeGood(damage: string): Promise<void> {
  const files = new SimulatedFiles();
  const store = await open(files);
  await put(store, 'a');
  await store.compact();
  await put(store, 'b');
  await store.compact();
  await put(store, 'c');
  await store.close();
  if (damage === 'missing') files.unlinkSync('/data/books-000003.json');
  else flip(files, '/data/books-000003.json', '{"id":"b"}');
  const errors: string[] = [];
  const logger = {
    ...silentLogger, error: (message: string, fields?: LogFields) =>
      errors.push(`${message}: ${String(fields?.reason)}`),
  };
  const reopened = await open(files, [BOOKS], logger);
  assert.deepEqual(['a', 'b', 'c'].map((id) =>
    reopened.collection('books').find(id) !== undefined), [true, true, true]);
  assert.match(errors.join(), /^a snapshot is damaged or missing.*books-000003\.json, line \d/);
  assert.doesNotMatch(errors.join(), /backup/);
  await reopened.compact();
  await reopened.close();
  const again = await open(files);
  assert.equal(again.collection('books').size, 3);
  await again.close();
}

test('a journal that cannot be read is told, though a snapshot is damaged as well', async () => {
  const files = new SimulatedFiles();
  const store = await open(files);
  await put(store, 'a');
  await store.compact();
  await put(store, 'b');
  await store.compact();
  await store.close();
  flip(files, '/data/books-000003.json', '{"id":"b"}');
  files.onCall = ({ kind, path }) =>
    kind === 'read' && path === '/data/journal-000002.jsonl' ? { code: 'EIO' } : null;
  await assert.rejects(open(files), { code: 'unavailable', message: /EIO.*journal-000002/ });
});

test('a start after a clean stop writes the last line again and changes nothing', async () => {
  const files = new SimulatedFiles();
  const store = await open(files);
  await put(store, 'a');
  await store.close();
  const changes = files.history.length;
  const before = files.disk.read('/data/journal-000001.jsonl');
  await (await open(files)).close();
  assert.deepEqual(files.history.slice(changes)
    .map(({ kind }) => kind).filter((kind) => kind !== 'sync-directory'), ['write', 'datasync']);
  assert.deepEqual(files.disk.read('/data/journal-000001.jsonl'), before);
});

test('a start removes what a replacement that was cut off was to read', async () => {
  const files = new SimulatedFiles();
  await (await open(files)).close();
  files.makeDirectorySync('/data/replacing.tmp');
  files.closeSync(files.openSync('/data/replacing.tmp/books-000001.json', 'create'));
  await (await open(files)).close();
  assert.equal(files.existsSync('/data/replacing.tmp'), false);
});

test('a directory that cannot be read is named', async () => {
  const files = new SimulatedFiles();
  await (await open(files)).close();
  files.onCall = ({ kind }) => kind === 'list' ? { code: 'EACCES' } : null;
  await assert.rejects(open(files), { code: 'unavailable', message: /\/data.*EACCES/ });
});
