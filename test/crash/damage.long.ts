import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError } from '../../src/base/errors.ts';
import { verifyDirectory } from '../../src/store/backup/verify.ts';
import { about, imagesOf, sample, startOn } from '../support/crashes.ts';
import { DIRECTORY, openOn } from '../support/open-store.ts';
import { below, createRandom } from '../support/random.ts';
import { Disk } from '../support/simulated-disk.ts';
import { SimulatedFiles } from '../support/simulated-files.ts';
import {
  COLLECTIONS, type Content, contentOf, createSteps, runSteps,
} from '../support/workload.ts';

type Directory = { readonly disk: Disk; readonly content: Content; readonly paths: string[] };

/**
 * A small directory after a clean stop: two generations, and a journal with some lines; where the
 * last compaction could not be finished, two journals.
 */
async function createDirectory(seed: number, isUnfinished = false): Promise<Directory> {
  const { store, files } = await openOn(new Disk());
  for (const prefix of ['a', 'b']) {
    await runSteps(store, createSteps(seed, 2, prefix), 2, () => 0);
    await store.compact();
  }
  await runSteps(store, createSteps(seed, 3, 'c'), 2, () => 0);
  if (isUnfinished) {
    files.onCall = ({ kind }) => kind === 'rename' ? { code: 'EIO' } : null;
    await assert.rejects(store.compact(), { code: 'unavailable' });
    files.onCall = () => null;
    await runSteps(store, createSteps(seed, 4, 'd'), 2, () => 0);
  }
  const content = contentOf(store);
  await store.close();
  const disk = files.disk.crash({ kind: 'kept' });
  return { disk, content, paths: disk.paths.filter((path) => path.startsWith(`${DIRECTORY}/`)) };
}

/** Asserts that a damaged directory serves all it held, or is refused; says which. */
async function checkFound(
  { disk, content }: Directory, path: string, bytes: Buffer | null, origin: string,
): Promise<'served' | 'refused'> {
  return about(origin, async () => {
    const damaged = disk.clone();
    damaged.replace(path, bytes);
    const start = await startOn(damaged);
    if ('refusal' in start) {
      assert.equal(start.refusal.code, 'damaged');
      return 'refused';
    }
    assert.deepEqual(start.content, content);
    return 'served';
  });
}

test('a flipped bit at any offset of a small directory is found or harmless, never served',
  async () => {
    const directory = await createDirectory(61);
    const random = createRandom(61);
    const ends = { served: 0, refused: 0 };
    for (const path of directory.paths) {
      const bytes = directory.disk.read(path);
      for (let offset = 0; offset < bytes.length; offset += 1) {
        const flipped = Buffer.from(bytes);
        flipped.writeUInt8(bytes.readUInt8(offset) ^ (1 << below(random, 8)), offset);
        const origin = `with a bit of ${path} flipped at ${offset}`;
        ends[await checkFound(directory, path, flipped, origin)]++;
      }
    }
    assert.ok(ends.served > 0 && ends.refused > 0, JSON.stringify(ends));
  });

for (const isUnfinished of [false, true]) {
  const where = isUnfinished ? ', also after a compaction that failed' : '';
  test(`a missing, emptied, cut, doubled or zeroed file is found or harmless${where}`, async () => {
    await checkDamages(await createDirectory(62, isUnfinished));
  });
}

test('of a missing file the newest journal is refused, and a snapshot is made good', async () => {
  const { disk, paths, content } = await createDirectory(65);
  const newest = paths.filter((path) => path.includes('-000003.'));
  assert.equal(newest.length, 4);
  for (const path of newest) {
    const damaged = disk.clone();
    damaged.replace(path, null);
    const start = await startOn(damaged);
    if (path.endsWith('.json')) {
      assert.ok('content' in start, path);
      assert.deepEqual(start.content, content);
      continue;
    }
    assert.ok('refusal' in start, path);
    assert.ok(start.refusal.message.startsWith(path.slice(DIRECTORY.length + 1)));
  }
});

test('two files of a generation swapped, or one from another generation, is never served',
  async () => {
    const directory = await createDirectory(63);
    let refused = 0;
    for (const path of directory.paths) {
      for (const other of directory.paths.filter((candidate) => candidate !== path)) {
        const bytes = directory.disk.read(other);
        const end = await checkFound(directory, path, bytes, `${other} as ${path}`);
        if (end === 'refused') refused += 1;
      }
    }
    assert.ok(refused > 0, `${refused} were refused`);
  });

test('files of other names are left alone', async () => {
  const { disk, content } = await createDirectory(64);
  for (const name of ['notes.txt', 'books-old.json', 'journal-1.jsonl', '.journal-000001.jsonl']) {
    disk.replace(`${DIRECTORY}/${name}`, Buffer.from('mine'));
  }
  const start = await startOn(disk);
  assert.ok('content' in start);
  assert.deepEqual(start.content, content);
  assert.equal(start.after.read(`${DIRECTORY}/notes.txt`).toString(), 'mine');
  assert.equal(start.after.read(`${DIRECTORY}/books-old.json`).toString(), 'mine');
});

async function checkDamages(directory: Directory): Promise<void> {
  const ends = { served: 0, refused: 0 };
  for (const path of directory.paths) {
    const bytes = directory.disk.read(path);
    const lines = bytes.toString().split(/(?<=\n)/);
    const damages: Record<string, Buffer | null> = {
      missing: null,
      emptied: Buffer.alloc(0),
      zeroed: Buffer.alloc(bytes.length),
      doubled: Buffer.concat([bytes, bytes]),
    };
    for (const [index, line] of lines.entries()) {
      const [before, after] = [lines.slice(0, index).join(''), lines.slice(index + 1).join('')];
      damages[`without line ${index}`] = Buffer.from(before + after);
      damages[`with line ${index} twice`] = Buffer.from(before + line + line + after);
      damages[`with an empty line ${index}`] = Buffer.from(`${before}\n${line}${after}`);
      damages[`with line ${index} cut`] = Buffer.from(`${before}${line.slice(0, 9)}\n${after}`);
    }
    for (const [what, damaged] of Object.entries(damages)) {
      ends[await checkFound(directory, path, damaged, `with ${path} ${what}`)]++;
    }
  }
  assert.ok(ends.served > 0 && ends.refused > directory.paths.length, JSON.stringify(ends));
}

/** What verifying says of a disk: the message of the damage, or the count of its notes. */
async function verify(disk: Disk): Promise<{ damage: string } | { notes: readonly string[] }> {
  const files = new SimulatedFiles(disk.clone());
  try {
    return await verifyDirectory({ directory: DIRECTORY, files, specs: COLLECTIONS });
  } catch (error) {
    assert.ok(error instanceof AppError && error.code === 'damaged', String(error));
    return { damage: error.message };
  } finally {
    assert.deepEqual(files.history, [], 'verifying changes nothing');
    assert.deepEqual(files.openPaths, []);
  }
}

/** Asserts that verifying says what a start then does. */
async function checkAgrees(disk: Disk): Promise<'damage' | 'torn' | 'whole'> {
  const before = disk.paths.filter((path) => path.endsWith('.torn')).length;
  const [said, start] = [await verify(disk), await startOn(disk)];
  if ('damage' in said || 'refusal' in start) {
    assert.ok('damage' in said && 'refusal' in start, JSON.stringify(said));
    assert.equal(said.damage, start.refusal.message);
    return 'damage';
  }
  const after = start.after.paths.filter((path) => path.endsWith('.torn')).length;
  const isTorn = said.notes.some((note) => note.includes('torn end'));
  if (isTorn) assert.ok(after > before, said.notes.join());
  return isTorn ? 'torn' : 'whole';
}

const IMAGES = 140;

test('verifying says of every crash and every damage what the next start does', async () => {
  const { store, files } = await openOn(new Disk());
  await runSteps(store, createSteps(111, 4, 'a'), 2, () => 0);
  await store.compact();
  await runSteps(store, createSteps(111, 4, 'b'), 2, () => 0);
  await store.compact();
  await runSteps(store, createSteps(111, 4, 'c'), 2, () => 0);
  await store.close();
  const from = files.history.findIndex(({ kind }) => kind === 'sync-directory') + 3;
  const random = createRandom(111);
  const seen = { damage: 0, torn: 0, whole: 0 };
  for (const image of sample(imagesOf(files, { seeds: 4, pageBytes: 64, from }), IMAGES, 1)) {
    seen[await about(image.origin, () => checkAgrees(image.disk))]++;
    const paths = image.disk.paths.filter((path) => /\.jsonl?$/.test(path));
    const path = paths[below(random, paths.length)];
    if (path === undefined) continue;
    const bytes = Buffer.from(image.disk.read(path));
    const offset = below(random, bytes.length);
    if (bytes.length > 0) bytes.writeUInt8(bytes.readUInt8(offset) ^ 4, offset);
    const damaged = image.disk.clone();
    damaged.replace(path, bytes);
    seen[await about(`${image.origin}, ${path} ${offset}`, () => checkAgrees(damaged))]++;
  }
  assert.ok(seen.damage > 10 && seen.torn > 10 && seen.whole > 10, JSON.stringify(seen));
});
