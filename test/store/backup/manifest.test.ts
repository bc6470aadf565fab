import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, renameSync, rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { silentLogger } from '../../../src/base/log.ts';
import { writeBackup } from '../../../src/store/backup/backup.ts';
import { checkFiles } from '../../../src/store/backup/manifest.ts';
import { openArchive, restoreBackup } from '../../../src/store/backup/restore.ts';
import { verifyDirectory } from '../../../src/store/backup/verify.ts';
import { createNodeFiles } from '../../../src/store/disk/files.ts';
import type { Files } from '../../../src/store/disk/files.ts';
import type { CollectionSpec } from '../../../src/store/store-port.ts';
import { openStore } from '../../../src/store/store.ts';
import type { OpenedStore } from '../../../src/store/store.ts';
import { createTemporaryFolder, inFolder } from '../../support/temporary-folder.ts';

const specs: readonly CollectionSpec[] = [{ name: 'books', key: 'id' }];
const files = createNodeFiles();
const GARBAGE = [
  'garbage', 'garbage\n', '', '\0'.repeat(95), `${'x'.repeat(90)}\n`.repeat(40), '{"crc":"\n',
];

function openIn(directory: string): Promise<OpenedStore> {
  return openStore({ directory, files, specs, logger: silentLogger });
}

/** A backup of two generations and a journal, in `<root>/copy`. */
async function makeBackup(root: string): Promise<string> {
  const store = await openIn(join(root, 'data'));
  const put = (id: string) => store.transact((transaction) =>
    transaction.put('books', id, JSON.stringify({ id, title: id })));
  await Promise.all(['a', 'b', 'c'].map(put));
  await store.compact();
  await put('d');
  const backup = await store.openBackupSources();
  const copy = join(root, 'copy');
  await writeBackup(files, backup, copy, 0);
  backup.close();
  await store.close();
  return copy;
}

async function restore(root: string, from: string): Promise<Readonly<Record<string, number>>> {
  const directory = mkdtempSync(join(root, 'fresh-'));
  const archive = await openArchive(files, from);
  try {
    const { records } = await restoreBackup({
      directory, archive, files, specs, isReplacing: false, nowMs: 0,
    });
    assert.ok(!existsSync(join(directory, 'manifest.json')), 'data is no backup');
    return records;
  } finally {
    archive.close();
    if (readdirSync(directory).length > 0) await (await openIn(directory)).close();
  }
}

/** The directory as a tar file that tar(1) makes. */
function asTar(copy: string): string {
  rmSync(`${copy}.tar`, { force: true });
  const { status } = spawnSync('tar', ['-cf', `${copy}.tar`, '-C', copy, '.']);
  assert.equal(status, 0);
  return `${copy}.tar`;
}

test('a manifest says what each file is, and what they make up',
  async () => {
    const copy = await makeBackup(createTemporaryFolder());
    const manifest = JSON.parse(readFileSync(join(copy, 'manifest.json'), 'utf8'));
    assert.deepEqual(Object.keys(manifest), ['format', 'sequence', 'records', 'files']);
    assert.deepEqual([manifest.format, manifest.sequence, manifest.records],
      ['hookshelf-backup-1', 4, { books: 4 }]);
    const names = readdirSync(copy).filter((name) => name !== 'manifest.json').sort();
    const listed: { name: string; bytes: number; sha256: string }[] = manifest.files;
    assert.deepEqual(listed.map(({ name }) => name).sort(), names);
    for (const { name, bytes, sha256 } of listed) {
      const content = readFileSync(join(copy, name));
      assert.equal(content.length, bytes);
      assert.equal(createHash('sha256').update(content).digest('hex'), sha256);
    }
  });

/** What may befall a backup, by name; each gets the backup's directory. */
const FATES: Readonly<Record<string, (copy: string) => void>> = {
  'a journal that is garbage': (copy) =>
    writeFileSync(join(copy, 'journal-000002.jsonl'), 'garbage\n'),
  'a journal cut at the end of a line': (copy) => {
    const path = join(copy, 'journal-000002.jsonl');
    const [start = '', ...rest] = readFileSync(path, 'utf8').split(/(?<=\n)/);
    writeFileSync(path, start + rest.slice(0, -1).join(''));
  },
  'an empty journal': (copy) => writeFileSync(join(copy, 'journal-000002.jsonl'), ''),
  'a missing journal': (copy) => rmSync(join(copy, 'journal-000002.jsonl')),
  'a missing snapshot': (copy) => rmSync(join(copy, 'books-000002.json')),
  'no file but the manifest': (copy) => {
    for (const name of ['journal-000002.jsonl', 'books-000002.json']) rmSync(join(copy, name));
  },
  'another whole generation': (copy) => {
    cpSync(join(copy, '../data/journal-000001.jsonl'), join(copy, 'journal-000001.jsonl'));
  },
  'a snapshot of another name': (copy) =>
    renameSync(join(copy, 'books-000002.json'), join(copy, 'books-000003.json')),
  'a manifest that says more records': (copy) => edit(copy, '"books":4', '"books":5'),
  'a manifest that says another sequence': (copy) => edit(copy, '"sequence":4', '"sequence":5'),
  'a manifest of another format': (copy) => edit(copy, 'hookshelf-backup-1', 'other-1'),
  'a manifest that is garbage': (copy) => writeFileSync(join(copy, 'manifest.json'), 'garbage'),
  'an empty manifest': (copy) => writeFileSync(join(copy, 'manifest.json'), ''),
};

test('a backup of another format is refused with what to do', async () => {
  const root = createTemporaryFolder();
  const copy = await makeBackup(root);
  edit(copy, 'hookshelf-backup-1', 'hookshelf-backup-2');
  await assert.rejects(restore(root, copy), {
    code: 'damaged', message: /is hookshelf-backup-2, and this version reads hookshelf-backup-1 /,
  });
});

function edit(copy: string, from: string, to: string): void {
  const path = join(copy, 'manifest.json');
  const text = readFileSync(path, 'utf8');
  assert.ok(text.includes(from), from);
  writeFileSync(path, text.replace(from, to));
}

for (const [what, befall] of Object.entries(FATES)) {
  test(`a backup with ${what} is neither restored nor verified`, async () => {
    const root = createTemporaryFolder();
    const copy = await makeBackup(root);
    assert.deepEqual(await restore(root, asTar(copy)), { books: 4 });
    befall(copy);
    await assert.rejects(verifyDirectory({ directory: copy, files, specs }), { code: 'damaged' });
    for (const from of [copy, asTar(copy)]) {
      await assert.rejects(restore(root, from), { code: 'damaged' });
    }
  });
}

for (const garbage of GARBAGE) {
  test(`a journal of garbage is no empty backup, without a manifest too: ${
    JSON.stringify(garbage.slice(0, 12))} (${garbage.length})`, async () => {
    const root = createTemporaryFolder();
    const copy = join(root, 'copy');
    mkdirSync(copy);
    writeFileSync(join(copy, 'journal-000001.jsonl'), garbage);
    for (const from of [copy, asTar(copy)]) {
      await assert.rejects(restore(root, from), { code: 'damaged' });
    }
  });
}

test('a start takes no long journal without its first line for one that was never used',
  async () => {
    const directory = createTemporaryFolder();
    const path = join(directory, 'journal-000001.jsonl');
    const garbage = `${'x'.repeat(90)}\n`.repeat(40);
    writeFileSync(path, garbage);
    await assert.rejects(openIn(directory), { code: 'damaged', message: /line 1, offset 0/ });
    assert.deepEqual(readdirSync(directory), ['journal-000001.jsonl']);
    assert.equal(readFileSync(path, 'utf8'), garbage);
  });

test('a backup without a manifest, as older versions made it, is restored', async () => {
  const root = createTemporaryFolder();
  const copy = await makeBackup(root);
  rmSync(join(copy, 'manifest.json'));
  for (const from of [copy, asTar(copy)]) {
    assert.deepEqual(await restore(root, from), { books: 4 });
  }
});

test('a start on a backup holds it to its manifest, and then goes on without one',
  async () => {
    const root = createTemporaryFolder();
    const copy = await makeBackup(root);
    cpSync(copy, join(root, 'cut'), { recursive: true });
    FATES['a journal cut at the end of a line']?.(join(root, 'cut'));
    await assert.rejects(openIn(join(root, 'cut')), { code: 'damaged', message: /manifest/ });
    assert.ok(existsSync(join(root, 'cut', 'manifest.json')));
    const store = await openIn(copy);
    await store.transact((transaction) => transaction.put('books', 'e', '{"id":"e"}'));
    await store.close();
    assert.ok(!existsSync(join(copy, 'manifest.json')));
    const { records } = await verifyDirectory({ directory: copy, files, specs });
    assert.deepEqual(records, { books: 5 });
  });

test('a file of the right name and length is none of the backup with another checksum', () => {
  const file = { name: 'books-000002.json', bytes: 5, sha256: 'a'.repeat(64) };
  const manifest = { sequence: 1, records: {}, files: [file] };
  checkFiles(manifest, [file]);
  assert.throws(() => checkFiles(manifest, [{ ...file, sha256: 'b'.repeat(64) }]),
    { code: 'damaged', message: /books-000002.json is not the file that was backed up/ });
});

const MEBIBYTE = 1 << 20;
/** Verifies while a server compacts twice: as soon as so much of such a file is read. */
async function verifyBeside(
  directory: string, part: string, fillIt: (store: OpenedStore) => Promise<void>,
): Promise<void> {
  const files = createNodeFiles();
  const store = await openStore({ directory, files, specs, logger: silentLogger });
  await fillIt(store);
  const { sequence, generation } = store.statistics;
  let isOver = false;
  const names = new Map<number, string>();
  const beside: Files = {
    ...files,
    openSync(path, mode) {
      const descriptor = files.openSync(path, mode);
      names.set(descriptor, path);
      return descriptor;
    },
    async read(descriptor, target, position) {
      const isWanted = names.get(descriptor)?.includes(part) === true;
      if (isWanted && position > 8 * MEBIBYTE && !isOver) {
        isOver = true;
        for (const id of ['c', 'd']) {
          await write(store, id);
          await store.compact();
        }
      }
      return files.read(descriptor, target, position);
    },
  };
  const source = { directory, files: beside, specs };
  await assert.rejects(verifyDirectory(source), {
    code: 'unavailable', message: /^a compaction has deleted .*books-\d+\.json meanwhile: try/,
  });
  assert.ok(isOver);
  const report = await verifyDirectory(source);
  assert.deepEqual([report.sequence, report.generation, report.notes],
    [sequence + 2, generation + 2, []]);
  await store.close();
}

const write = (store: OpenedStore, id: string): Promise<unknown> =>
  store.transact((transaction) =>
    transaction.put('books', id, JSON.stringify({ id, text: 'a'.repeat(MEBIBYTE) })));

async function fill(store: OpenedStore): Promise<void> {
  for (let count = 0; count < 20; count += 1) await write(store, `b${count}`);
  await store.compact();
}

test('a journal that a server beside deletes while it is read is not taken for a torn end', () =>
  inFolder((directory) => verifyBeside(directory, 'journal', async (store) => {
    await fill(store);
    // More than is kept for readers of past changes, and not enough for a new generation.
    for (let count = 0; count < 18; count += 1) await write(store, 'b0');
  })));

test('a snapshot that a server beside deletes while it is read is not taken for damage', () =>
  inFolder((directory) => verifyBeside(directory, 'books-', fill)));
