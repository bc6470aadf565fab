import assert from 'node:assert/strict';
import { test } from 'node:test';
import { imagesOf, startOn } from '../support/crashes.ts';
import { DIRECTORY, openOn } from '../support/open-store.ts';
import { Disk } from '../support/simulated-disk.ts';
import { createSteps, heldSteps, marked, runSteps, type Step } from '../support/workload.ts';

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

/** Each leaves a line. */
function createPuts(prefix: string, count: number): Step[] {
  return Array.from({ length: count }, (_, index) => {
    const name = `${prefix}${index}`;
    return { name, prepare: marked(name, (transaction) => {
      transaction.put('books', name, JSON.stringify({ id: name }));
    }) };
  });
}

/** A journal with notes in it: marks of pauses, and of a compaction. */
async function createNotedJournal(): Promise<Journal> {
  const { store, files, clock } = await openOn(new Disk());
  for (const [round, count] of [3, 1, 1].entries()) {
    await runSteps(store, createPuts(`n${round}-`, count), 1, () => 0);
    await clock.advance(1000);
  }
  await store.compact();
  await runSteps(store, createPuts('last', 1), 1, () => 0);
  const disk = files.disk.crash({ kind: 'kept' });
  await store.close();
  const journals = disk.paths.filter((name) => /journal-\d+\.jsonl$/.test(name)).sort();
  const path = journals.at(-1) ?? '';
  return { disk, path, lines: disk.read(path).toString().split(/(?<=\n)/) };
}

const KINDS = ['"start"', '"snapshots"', '"mark"', '"next"', '"ops"'];

function kindOf(line: string): string {
  return KINDS.find((kind) => line.includes(`,${kind}:`)) ?? 'none';
}

test('a damaged note is damage where even one transaction follows: what came after it was synced',
  async () => {
    const journal = await createNotedJournal();
    assert.deepEqual(journal.lines.map(kindOf), ['"start"', '"snapshots"', '"ops"']);
    const { path } = journal;
    const older = `${DIRECTORY}/journal-000001.jsonl`;
    const lines = journal.disk.read(older).toString().split(/(?<=\n)/);
    assert.deepEqual(lines.map(kindOf), [
      '"start"', '"ops"', '"ops"', '"ops"', '"mark"', '"ops"', '"mark"', '"ops"', '"mark"',
      '"next"',
    ]);
    // As it stood when it was the last one, with exactly so many lines.
    const alone = (count: number): Journal => {
      const disk = journal.disk.clone();
      for (const name of disk.paths) {
        if (name.startsWith(`${DIRECTORY}/`) && name !== older) disk.replace(name, null);
      }
      return { disk, path: older, lines: lines.slice(0, count) };
    };
    const cases: readonly (readonly [string, Journal, number])[] = [
      ['a mark before one transaction', alone(6), 4],
      ['a mark before one transaction and its mark', alone(7), 4],
      ['a mark before one transaction, later', alone(8), 6],
      ['a mark before another note', alone(10), 8],
      ['snapshots before one transaction', { ...journal, path }, 1],
    ];
    for (const [what, { disk, path: file, lines: whole }, index] of cases) {
      for (const broken of breakLine(whole, index)) {
        const start = await startWith({ disk, path: file, lines: whole }, broken);
        assert.match(start.refusal ?? 'served', new RegExp(`line ${index + 1}, offset`), what);
      }
    }
    for (const index of [4, 6]) {
      const { disk, path: file, lines: whole } = alone(index + 1);
      const [broken = Buffer.alloc(0)] = breakLine(whole, index);
      const start = await startWith({ disk, path: file, lines: whole }, broken);
      assert.equal(start.refusal, null, 'a last note is a torn end');
    }
  });

/** The journal with a bit of a line flipped, with its line feed gone, and with zeros in it. */
function breakLine(lines: readonly string[], index: number): Buffer[] {
  const whole = Buffer.from(lines.join(''));
  const offset = Buffer.byteLength(lines.slice(0, index).join(''));
  const end = offset + Buffer.byteLength(lines[index] ?? '');
  const flipped = Buffer.from(whole);
  flipped.writeUInt8(whole.readUInt8(offset + 20) ^ 1, offset + 20);
  const joined = Buffer.from(whole);
  joined.writeUInt8(0x20, end - 1);
  return [flipped, joined, Buffer.from(whole).fill(0, offset, end - 1)];
}

test('a damaged transaction of the last batch is a torn end, one of an earlier batch is damage',
  async () => {
    const { store, files } = await openOn(new Disk());
    await runSteps(store, createPuts('x', 2), 1, () => 0);
    await runSteps(store, createPuts('y', 3), 3, () => 0);
    const disk = files.disk.crash({ kind: 'kept' });
    await store.close();
    const path = `${DIRECTORY}/journal-000001.jsonl`;
    const lines = disk.read(path).toString().split(/(?<=\n)/);
    const held: (number | null)[] = [];
    for (const index of lines.keys()) {
      const [broken = Buffer.alloc(0)] = breakLine(lines, index);
      const start = await startWith({ disk, path, lines }, broken);
      held.push(start.refusal === null ? start.held : null);
    }
    assert.deepEqual(held, [null, null, null, 2, 3, 4]);
  });

test('a whole line missing from the middle is damage', async () => {
  const journal = await createJournal();
  const without = journal.lines.filter((_, index) => index !== 3).join('');
  assert.ok((await startWith(journal, Buffer.from(without))).refusal !== null);
});
