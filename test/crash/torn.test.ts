import assert from 'node:assert/strict';
import { test } from 'node:test';
import { imagesOf, startOn } from '../support/crashes.ts';
import { DIRECTORY, openOn } from '../support/open-store.ts';
import { Disk } from '../support/simulated-disk.ts';
import { createSteps, heldSteps, runSteps } from '../support/workload.ts';

type Journal = { readonly disk: Disk; readonly path: string; readonly lines: string[] };

/** One journal with a line for each of some transactions, each synced before the next. */
async function createJournal(): Promise<Journal> {
  const { store, files } = await openOn(new Disk());
  await runSteps(store, createSteps(71, 8), 1, () => 0);
  const disk = files.disk.crash({ kind: 'kept' });
  await store.close();
  const path = disk.paths.filter((name) => /journal-\d+\.jsonl$/.test(name)).sort().at(-1) ?? '';
  return { disk, path, lines: disk.read(path).toString().split(/(?<=\n)/) };
}

/** The start on the journal with other bytes: how much is served, and what is kept aside. */
async function startWith({ disk, path }: Journal, bytes: Buffer): Promise<{
  readonly held: number; readonly torn: readonly string[]; readonly refusal: string | null;
}> {
  const changed = disk.clone();
  changed.replace(path, bytes);
  const start = await startOn(changed);
  if ('refusal' in start) return { held: 0, torn: [], refusal: start.refusal.message };
  const torn = start.after.paths.filter((name) => name.endsWith('.torn'))
    .map((name) => start.after.read(name).toString());
  return { held: heldSteps(start.content).length, torn, refusal: null };
}

test('a torn end is kept aside byte by byte, cut, and what came before is served', async () => {
  const journal = await createJournal();
  const whole = await startWith(journal, Buffer.from(journal.lines.join('')));
  assert.deepEqual([whole.torn, whole.refusal], [[], null]);
  const last = journal.lines.at(-1) ?? '';
  const before = journal.lines.slice(0, -1).join('');
  const zeros = '\0'.repeat(5000);
  for (const tail of [last.slice(0, -1), last.slice(0, 20), '{', zeros, '\n', 'x\ny\n']) {
    const start = await startWith(journal, Buffer.from(before + tail));
    assert.equal(start.refusal, null, JSON.stringify(tail.slice(0, 20)));
    assert.ok(start.held >= whole.held - 1);
    assert.deepEqual(start.torn, [tail]);
  }
});

test('a crash at any moment of the cutting leaves what is cut off', async () => {
  const { disk, path, lines } = await createJournal();
  const tail = 'half a line and nothing more';
  disk.replace(path, Buffer.from(lines.join('') + tail));
  const { store, files } = await openOn(disk);
  await store.close();
  const images = imagesOf(files, { seeds: 8, pageBytes: 16 });
  for (const image of images) {
    const start = await startOn(image.disk);
    assert.ok('after' in start);
    const kept = start.after.paths.filter((name) => name.endsWith('.torn'))
      .map((name) => start.after.read(name).toString());
    assert.ok(kept.includes(tail), `${image.origin}: ${JSON.stringify(kept)}`);
  }
  assert.ok(images.length > 10);
});

test('a bad line before one that names it durable is damage, told with file, line and offset',
  async () => {
    const journal = await createJournal();
    const whole = Buffer.from(journal.lines.join(''));
    const index = 3;
    const offset = Buffer.byteLength(journal.lines.slice(0, index).join(''));
    const damaged = Buffer.from(whole);
    damaged.writeUInt8(whole.readUInt8(offset + 30) ^ 1, offset + 30);
    const zeroed = Buffer.from(whole).fill(0, offset, offset + 40);
    for (const bytes of [damaged, zeroed]) {
      const refusal = (await startWith(journal, bytes)).refusal ?? 'served';
      assert.ok(refusal.includes(journal.path.slice(DIRECTORY.length + 1)), refusal);
      assert.ok(refusal.includes(`line ${index + 1}`), refusal);
      assert.ok(refusal.includes(String(offset)), refusal);
    }
  });

test('a flipped bit in a journal without a last mark costs its last line at most', async () => {
  const journal = await createJournal();
  const whole = Buffer.from(journal.lines.join(''));
  const { held } = await startWith(journal, whole);
  const seen = new Set<number | null>();
  for (let offset = 0; offset < whole.length; offset++) {
    const flipped = Buffer.from(whole);
    flipped.writeUInt8(whole.readUInt8(offset) ^ (1 << (offset % 8)), offset);
    const start = await startWith(journal, flipped);
    seen.add(start.refusal === null ? start.held : null);
  }
  assert.deepEqual(seen, new Set([null, held - 1]));
});

test('a whole line missing from the middle is damage', async () => {
  const journal = await createJournal();
  const without = journal.lines.filter((_, index) => index !== 3).join('');
  assert.ok((await startWith(journal, Buffer.from(without))).refusal !== null);
});
