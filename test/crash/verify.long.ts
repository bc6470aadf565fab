import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError } from '../../src/base/errors.ts';
import { verifyDirectory } from '../../src/store/backup/verify.ts';
import { about, imagesOf, sample, startOn } from '../support/crashes.ts';
import { DIRECTORY, openOn } from '../support/open-store.ts';
import { below, createRandom } from '../support/random.ts';
import { Disk } from '../support/simulated-disk.ts';
import { SimulatedFiles } from '../support/simulated-files.ts';
import { COLLECTIONS, createSteps, runSteps } from '../support/workload.ts';

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
