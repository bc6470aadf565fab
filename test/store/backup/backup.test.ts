import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  copyFileSync, existsSync, mkdirSync, readFileSync, readdirSync, renameSync, symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { silentLogger } from '../../../src/base/log.ts';
import { openFiles, openStateFiles, writeBackup } from '../../../src/store/backup/backup.ts';
import { openArchive, restoreBackup } from '../../../src/store/backup/restore.ts';
import {
  TAR_BLOCK_BYTES, decodeTarHeader, encodeTarHeader, tarPadding,
} from '../../../src/store/backup/tar.ts';
import { verifyDirectory } from '../../../src/store/backup/verify.ts';
import { createNodeFiles } from '../../../src/store/disk/files.ts';
import type { Files } from '../../../src/store/disk/files.ts';
import type { CollectionSpec } from '../../../src/store/store-port.ts';
import { openStore } from '../../../src/store/store.ts';
import type { OpenedStore } from '../../../src/store/store.ts';
import { createTemporaryFolder } from '../../support/temporary-folder.ts';

const specs: readonly CollectionSpec[] = [{ name: 'books', key: 'id' }];
const files = createNodeFiles();
const nowMs = Date.UTC(2026, 0, 2, 3, 4, 5);

for (const name of ['copy', 'copy.tar']) {
  test(`a backup of a live store restores what was committed before it (${name})`,
    async () => {
      const root = createTemporaryFolder();
      const store = await openIn(join(root, 'data'));
      await put(store, 'a', 'b');
      await store.compact();
      await put(store, 'c');
      const backup = await store.openBackupSources();
      await Promise.all([store.compact(), put(store, 'd')]);
      await store.compact();
      await writeBackup(files, backup, join(root, name), nowMs);
      backup.close();
      await store.close();

      const report = await restore(root, name, 'fresh');
      assert.deepEqual([report.records, report.notes, report.before], [{ books: 3 }, [], null]);
      assert.deepEqual(await idsIn(join(root, 'fresh')), ['a', 'b', 'c']);
    });
}

test('a directory is no damaged copy when its server writes and stops while it is opened',
  async () => {
    const root = createTemporaryFolder();
    const data = join(root, 'data');
    await fill(data, ['a']);
    const stopping: Files = {
      ...files,
      openSync(path, mode) {
        const descriptor = files.openSync(path, mode);
        if (!path.endsWith('.jsonl')) return descriptor;
        writeFileSync(join(data, 'lock'), '{"journal":{"generation":1,"sequence":9}}');
        return descriptor;
      },
    };
    const archive = await openArchive(stopping, data);
    assert.equal(archive.journalEnd, null);
    archive.close();
  });

test('a backup ends its journal where that was synced, though more is written', async () => {
  const root = createTemporaryFolder();
  const name = 'journal-000001.jsonl';
  writeFileSync(join(root, name), 'synced, not synced');
  const contents = { sequence: 0, records: {} };
  const backup = openStateFiles(files, root, 0, { generation: 1, length: 6 }, contents);
  await writeBackup(files, backup, join(root, 'copy'), nowMs);
  backup.close();
  assert.equal(readFileSync(join(root, 'copy', name), 'utf8'), 'synced');
});

test('a tar backup is one that tar reads and writes', async () => {
  const root = createTemporaryFolder();
  await fill(join(root, 'data'), ['a']);
  await backUp(root, 'data', 'backup.tar');
  const listed = spawnSync('tar', ['-tf', join(root, 'backup.tar')], { encoding: 'utf8' });
  assert.equal(listed.stdout, 'journal-000001.jsonl\nmanifest.json\n');
  spawnSync('tar', ['-cf', join(root, 'by-tar.tar'), '-C', root, 'data']);
  await restore(root, 'by-tar.tar', 'fresh');
  assert.deepEqual(await idsIn(join(root, 'fresh')), ['a']);
});

test('a directory that holds anything, a folder or a link too, is not written into',
  async () => {
    const root = createTemporaryFolder();
    await fill(join(root, 'data'), ['a']);
    mkdirSync(join(root, 'folders', 'older'), { recursive: true });
    mkdirSync(join(root, 'links'));
    symlinkSync('nowhere', join(root, 'links', 'a'));
    for (const [name, held] of [['folders', 'older'], ['links', 'a']] as const) {
      await assert.rejects(backUp(root, 'data', name), { code: 'conflict', message: /not empty/ });
      assert.deepEqual(readdirSync(join(root, name)), [held]);
    }
  });

test('a restore needs leave to replace, and keeps what was there', async () => {
  const root = createTemporaryFolder();
  await fill(join(root, 'data'), ['new']);
  await fill(join(root, 'old'), ['a', 'b']);
  writeFileSync(join(root, 'old', 'settings.json'), '{}');
  await assert.rejects(restore(root, 'data', 'old'), { code: 'conflict' });
  const { before } = await restore(root, 'data', 'old', true);
  assert.deepEqual(await idsIn(join(root, 'old')), ['new']);
  assert.ok(before?.startsWith(join(root, 'old', 'before-2026-01-02T03-04-05')));
  assert.deepEqual(await idsIn(before ?? ''), ['a', 'b']);
  assert.equal(readFileSync(join(root, 'old', 'settings.json'), 'utf8'), '{}');
});

test('a restore that was cut off is begun again without leave to replace', async () => {
  const root = createTemporaryFolder();
  await fill(join(root, 'data'), ['a']);
  mkdirSync(join(root, 'fresh', 'replacing.tmp'), { recursive: true });
  for (const name of ['replacing.tmp/journal-000001.jsonl', 'journal-000001.jsonl']) {
    writeFileSync(join(root, 'fresh', name), 'half');
  }
  writeFileSync(join(root, 'fresh', 'journal-000001.replacing'), '{"before":null}\n');
  const { before } = await restore(root, 'data', 'fresh');
  assert.equal(before, null);
  assert.deepEqual(readdirSync(join(root, 'fresh')).sort(),
    ['books-000001.json', 'journal-000001.jsonl']);
});

test('what says that the old data is a backup is moved away with it', async () => {
  const root = createTemporaryFolder();
  await fill(join(root, 'data'), ['new']);
  for (const name of ['whole', 'half']) await backUp(root, 'data', name);
  await fill(join(root, 'data'), ['newer']);
  writeFileSync(join(root, 'half', 'backup.pending'), '');
  for (const name of ['whole', 'half']) {
    const { before } = await restore(root, 'data', name, true);
    assert.deepEqual(await idsIn(join(root, name)), ['new', 'newer']);
    assert.ok(existsSync(join(before ?? '', 'manifest.json')));
  }
  mkdirSync(join(root, 'other'));
  writeFileSync(join(root, 'other', 'manifest.json'), 'of something else');
  await assert.rejects(restore(root, 'data', 'other'), { code: 'conflict' });
});

test('a copy of a directory whose replacement was cut off restores what that holds', async () => {
  const root = createTemporaryFolder();
  await fill(join(root, 'data'), ['a']);
  await fill(join(root, 'other'), ['b', 'c']);
  const other = await openIn(join(root, 'other'));
  await other.compact();
  await other.close();
  const journal = 'journal-000002.jsonl';
  copyFileSync(join(root, 'other', journal), join(root, 'data', journal));
  writeFileSync(join(root, 'data', 'journal-000002.replacing'), '{"before":null}\n');
  await restore(root, 'data', 'fresh');
  assert.deepEqual(await idsIn(join(root, 'fresh')), ['a']);
});

test('a restore takes the room of the backup once, not beside the copy that it reads', async () => {
  const root = createTemporaryFolder();
  await fill(join(root, 'data'), ['a']);
  mkdirSync(join(root, 'fresh'));
  const stages: boolean[] = [];
  const watched: Files = {
    ...files,
    openSync(path, mode) {
      if (path.endsWith('.json.tmp')) stages.push(existsSync(join(root, 'fresh', 'replacing.tmp')));
      return files.openSync(path, mode);
    },
  };
  await restore(root, 'data', 'fresh', false, watched);
  assert.deepEqual(stages, [false]);
});

test('a damaged backup is refused and changes nothing', async () => {
  const root = createTemporaryFolder();
  await fill(join(root, 'data'), ['a', 'b']);
  const journal = join(root, 'data', 'journal-000001.jsonl');
  const content = readFileSync(journal, 'utf8');
  writeFileSync(journal, content.replace('"title":"a"', '"title":"x"'));
  await fill(join(root, 'old'), ['c']);
  const namesBefore = readdirSync(join(root, 'old'));
  await assert.rejects(restore(root, 'data', 'old', true),
    { code: 'damaged', message: /journal-000001\.jsonl, line 2, offset \d+/ });
  assert.deepEqual(readdirSync(join(root, 'old')), namesBefore);
  assert.deepEqual(await idsIn(join(root, 'old')), ['c']);
});

test('only the store\'s own regular files are restored', async () => {
  const root = createTemporaryFolder();
  await fill(join(root, 'data'), ['a']);
  mkdirSync(join(root, 'data', 'actions'));
  writeFileSync(join(root, 'data', 'actions', 'evil.js'), '');
  writeFileSync(join(root, 'data', 'settings.json'), '{"server":{}}');
  symlinkSync('/etc/passwd', join(root, 'data', 'books-000009.json'));
  await restore(root, 'data', 'fresh');
  assert.deepEqual(readdirSync(join(root, 'fresh')).sort(),
    ['books-000001.json', 'journal-000001.jsonl']);
});

test('verify reports a torn end as a note', async () => {
  const root = createTemporaryFolder();
  await fill(join(root, 'data'), ['a']);
  const journal = join(root, 'data', 'journal-000001.jsonl');
  const content = `${readFileSync(journal, 'utf8')}{"crc":"0000`;
  writeFileSync(journal, content);
  const report = await verifyDirectory({ directory: join(root, 'data'), files, specs });
  assert.deepEqual([report.records, report.notes.length], [{ books: 1 }, 1]);
  assert.match(report.notes[0] ?? '', /torn end of 12 bytes/);
  assert.equal(readFileSync(journal, 'utf8'), content);
});

function openIn(directory: string): Promise<OpenedStore> {
  return openStore({ directory, files, specs, logger: silentLogger });
}

async function put(store: OpenedStore, ...ids: string[]): Promise<void> {
  for (const id of ids) {
    await store.transact((transaction) =>
      transaction.put('books', id, JSON.stringify({ id, title: id })));
  }
}

async function fill(directory: string, ids: readonly string[]): Promise<void> {
  const store = await openIn(directory);
  await put(store, ...ids);
  await store.close();
}

async function backUp(root: string, from: string, to: string): Promise<void> {
  const store = await openIn(join(root, from));
  const backup = await store.openBackupSources();
  await writeBackup(files, backup, join(root, to), nowMs);
  backup.close();
  await store.close();
}

async function restore(
  root: string, from: string, to: string, isReplacing = false, by: Files = files,
) {
  const directory = join(root, to);
  mkdirSync(directory, { recursive: true });
  const archive = await openArchive(files, join(root, from));
  try {
    return await restoreBackup({ directory, archive, files: by, specs, isReplacing, nowMs });
  } finally {
    archive.close();
  }
}

async function idsIn(directory: string): Promise<string[]> {
  const store = await openIn(directory);
  const books = store.collection('books');
  const walk = books.walk();
  const ids: string[] = [];
  for (let slot = walk.next(); slot >= 0; slot = walk.next()) ids.push(books.idAt(slot) ?? '');
  await store.close();
  return ids;
}

for (const bytes of [0, 1, 511, 512, 8 ** 11 - 1, 8 ** 11, 2 ** 45]) {
  test(`a header for ${bytes} bytes comes back`, () => {
    const block = encodeTarHeader('books-000042.json', bytes, Date.UTC(2026, 0, 1));
    assert.equal(block.length, TAR_BLOCK_BYTES);
    assert.deepEqual(decodeTarHeader(block), { name: 'books-000042.json', bytes, isFile: true });
    assert.equal((bytes + tarPadding(bytes)) % TAR_BLOCK_BYTES, 0);
    assert.ok(tarPadding(bytes) < TAR_BLOCK_BYTES, 'a zero block would end the archive');
  });
}

test('a header with any byte changed is not one', () => {
  const good = encodeTarHeader('journal-000001.jsonl', 1000, 0);
  for (const offset of good.keys()) {
    const bad = Buffer.from(good);
    bad[offset] = (bad[offset] ?? 0) ^ 0x11;
    const header = decodeTarHeader(bad);
    const isChecksum = offset >= 148 && offset < 156;
    if (!isChecksum) assert.equal(header, null, `at ${offset}`);
  }
  assert.equal(decodeTarHeader(good.subarray(0, 500)), null);
  assert.equal(decodeTarHeader(Buffer.alloc(TAR_BLOCK_BYTES)), 'end');
});

test('directories and links are no files', () => {
  for (const type of ['1', '2', '5', 'x']) {
    const block = encodeTarHeader('books-000042.json', 0, 0);
    block.write(type, 156, 'latin1');
    const sum = 8 * 0x20 + block.reduce((total, byte, index) =>
      index >= 148 && index < 156 ? total : total + byte, 0);
    block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
    const header = decodeTarHeader(block);
    assert.ok(header !== null && header !== 'end');
    assert.equal(header.isFile, false);
  }
});

const NAMES = ['books-000002.json', 'journal-000002.jsonl'];

test('a backup whose directory is swapped for the data leaves the data alone', async () => {
  const folder = createTemporaryFolder();
  const data = join(folder, 'data');
  const target = join(folder, 'backup');
  for (const path of [data, target]) mkdirSync(path);
  for (const name of NAMES) writeFileSync(join(data, name), name);
  const files = createNodeFiles();
  // What another user does who owns the folder above.
  const swapped: Files = {
    ...files,
    openSync(path, mode) {
      const descriptor = files.openSync(path, mode);
      if (path.endsWith('backup.pending')) {
        renameSync(target, `${target}.was`);
        symlinkSync(data, target);
      }
      return descriptor;
    },
  };
  const wanted = NAMES.map((name) => ({ name, bytes: null }));
  const backup = openFiles(files, data, wanted, null);
  await writeBackup(swapped, backup, target, 0);
  backup.close();
  for (const place of [data, `${target}.was`]) {
    assert.deepEqual(readdirSync(place).sort(), NAMES);
    for (const name of NAMES) assert.equal(readFileSync(join(place, name), 'utf8'), name);
  }
});
