/**
 * The files on disk are what the headers of the files that own their formats say: read here by a
 * parser that is made from the forms in those headers, and from nothing else.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { test } from 'node:test';
import { crc32 } from 'node:zlib';
import { parseLine, decodeTransaction } from '../../src/store/journal/journal-line.ts';
import { DIRECTORY, openOn } from '../support/open-store.ts';
import { Disk } from '../support/simulated-disk.ts';
import { createSteps, runSteps } from '../support/workload.ts';

const [ops = '', mark = '', snapshots = '', next = '', start = '', ...operations] =
  formsOf('journal/journal-line.ts');
const [header = '', record = '', lastRecord = '', trailer = ''] =
  formsOf('generations/snapshot.ts');

/** What the capital letters stand for. */
const VALUES: Readonly<Record<string, RegExp>> = {
  C: /[0-9a-f]{8}/y, N: /\d+/y, D: /\d+/y, G: /\d+/y, B: /\d+/y, S: /[a-z]+(?:-[a-z]+)*/y,
  K: /[A-Za-z0-9._~-]{1,128}/y,
};

/** Text is latin1, so that its characters are bytes. */
type Match = { readonly end: number; readonly values: ReadonlyMap<string, readonly string[]> };

/** The lines of a header that are forms, each without the remark behind it. */
function formsOf(file: string): string[] {
  const text = readFileSync(resolve(import.meta.dirname, '../../src/store', file), 'utf8');
  const forms: string[] = [];
  for (const line of text.slice(0, text.indexOf('*/')).split('\n')) {
    const [, indent = '', form = ''] = /^ \*( {3}| {5})(?! )(\S+)/.exec(line) ?? [];
    if (indent.length === 3) forms.push(form);
    if (indent.length === 5) forms.push(`${forms.pop()}${form}`);
  }
  return forms;
}

/** What stands at `from` in the form's place, or null when it is of another form. */
function match(form: string, text: string, from: number): Match | null {
  const values = new Map<string, string[]>();
  let at = from;
  const take = (piece: string): boolean => {
    const [open = '', letter = '', close = ''] = piece.split(/([A-Z])/);
    const bytes = letter === 'R' ? Number(values.get('B')?.at(-1)) : undefined;
    const end = text.startsWith(open, at) ? endOf(letter, text, at + open.length, bytes) : null;
    if (end === null || !text.startsWith(close, end)) return false;
    if (letter !== '') values.set(letter, [...values.get(letter) ?? [],
      text.slice(at + open.length, end)]);
    at = end + close.length;
    return true;
  };
  for (const part of form.split(/("?[A-Z]"?,…)|("[A-Z]")|(?<=[A-Z])|(?=[A-Z])/)) {
    if (part === undefined || part === '') continue;
    const item = part.replace(',…', '');
    if (!take(item)) return null;
    if (item !== part) while (text[at] === ',') if (!take(`,${item}`)) return null;
  }
  return { end: at, values };
}

function endOf(
  letter: string, text: string, at: number, recordBytes: number | undefined,
): number | null {
  if (letter === '') return at;
  if (letter === 'O') {
    const found = operations.map((form) => match(form, text, at)).filter((one) => one !== null);
    return found.length === 1 ? found[0]?.end ?? null : null;
  }
  if (recordBytes !== undefined) return at + recordBytes;
  const pattern = VALUES[letter];
  assert.ok(pattern !== undefined, `a value for ${letter}`);
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : null;
}

function numberOf(found: Match, letter: string): number {
  return Number(found.values.get(letter)?.[0]);
}

/** Some life: traffic, pauses, compactions, a restart. The files it leaves, by name. */
async function writeEverything(): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  const look = (disk: Disk): void => {
    for (const path of disk.paths.filter((name) => /\.jsonl?$/.test(name))) {
      found.set(path.slice(DIRECTORY.length + 1), disk.read(path).toString('latin1'));
    }
  };
  const first = await openOn(new Disk());
  for (const [round, together] of [1, 3, 5].entries()) {
    await runSteps(first.store, createSteps(300 + round, 12, `r${round}-`), together, () => 0);
    await first.clock.advance(1000);
    await first.store.transact((transaction) => {
      transaction.put('books', 'wide', JSON.stringify({ id: 'wide', text: 'é,"]}{漢\u2028' }));
      transaction.delete('books', 'wide');
      const identifier = `h${round}`;
      transaction.put('hooks', identifier, JSON.stringify({ identifier, slug: `夢${round}` }));
    });
    await first.store.compact();
    look(first.files.disk);
  }
  await first.store.close();
  const again = await openOn(first.files.disk.crash({ kind: 'dropped' }));
  await runSteps(again.store, createSteps(310, 4, 'late'), 2, () => 0);
  await again.store.close();
  look(again.files.disk);
  return found;
}

const files = await writeEverything();

function checkJournal(name: string, text: string): string[] {
  assert.ok(text.endsWith('\n'));
  let sequence = -1;
  let durable = -1;
  return text.split('\n').slice(0, -1).map((line, index, lines) => {
    const forms = [ops, mark, snapshots, next, start].filter((form) =>
      match(form, line, 0)?.end === line.length);
    assert.equal(forms.length, 1, `${name}, line ${index + 1}: ${line.slice(0, 120)}`);
    const [form = ''] = forms;
    const found = match(form, line, 0);
    assert.ok(found !== null);
    assert.equal(found.values.get('C')?.[0], crcOf(Buffer.from(line.slice(16), 'latin1')));
    const here = found.values.get('N')?.map(Number) ?? [];
    assert.equal(form === start, index === 0);
    if (form === start) assert.match(name, new RegExp(`-0*${numberOf(found, 'G')}\\.`));
    else assert.equal(here[0], form === ops ? sequence + 1 : sequence);
    if (form === next) assert.equal(index, lines.length - 1);
    const durableHere = form === ops ? numberOf(found, 'D') : here[1] ?? -1;
    assert.ok(durableHere >= durable && (form === ops ? durableHere < (here[0] ?? 0)
      : durableHere === here[0]), line.slice(0, 80));
    [sequence = -1] = here;
    durable = durableHere;
    return form;
  });
}

function crcOf(bytes: Buffer): string {
  return crc32(bytes).toString(16).padStart(8, '0');
}

test('each line of a journal is of one form of its header, and each form is written', () => {
  const seen = new Set<string>();
  for (const [name, text] of files) {
    if (name.endsWith('.jsonl')) for (const form of checkJournal(name, text)) seen.add(form);
  }
  assert.deepEqual([...seen].sort(), [ops, mark, snapshots, next, start].sort());
});

test('the operations of every line are of the three forms, their records as long as said', () => {
  const seen = new Set<string>();
  for (const [name, text] of files) {
    for (const line of name.endsWith('.jsonl') ? text.split('\n') : []) {
      for (const operation of match(ops, line, 0)?.values.get('O') ?? []) {
        const form = operations.find((one) => match(one, operation, 0)?.end === operation.length);
        const bytes = Buffer.from(match(form ?? '', operation, 0)?.values.get('R')?.[0] ?? '{}',
          'latin1');
        assert.equal(typeof JSON.parse(bytes.toString()), 'object');
        seen.add(form ?? 'none');
      }
    }
  }
  assert.deepEqual([...seen].sort(), [...operations].sort());
});

const EXAMPLES: Readonly<Record<string, string>> = {
  N: '7', D: '5', G: '42', B: '10', S: 'books', K: 'a', R: '{"id":"a"}',
};

function example(form: string): string {
  const filled = form.replaceAll(/("?)([A-Z])("?),…/g, '$1$2$3,$1$2$3,$1$2$3')
    .replaceAll(/[A-Z]/g, (letter) => EXAMPLES[letter] ?? letter);
  let nth = 0;
  return filled.replaceAll(/O/g, () => {
    nth += 1;
    return example(operations[nth % operations.length] ?? '');
  });
}

const KINDS: Readonly<Record<string, string>> = {
  [ops]: 'ops', [mark]: 'mark', [snapshots]: 'snapshots', [next]: 'next', [start]: 'start',
};

test('a line made from a form of the header is read as what it is', () => {
  for (const [form, kind] of Object.entries(KINDS)) {
    const rest = example(form).slice('{"crc":"C'.length);
    const line = Buffer.from(`{"crc":"${crcOf(Buffer.from(rest))}${rest}`);
    const parsed = parseLine(line, 0, line.length);
    assert.equal(parsed?.kind, kind, line.toString());
    assert.equal(parsed?.sequence, 7);
    if (kind !== 'ops') continue;
    assert.ok(parsed !== null);
    assert.deepEqual(decodeTransaction(line, parsed, line.length, new Map()).operations
      .map(({ collection, id, bytes }) => `${collection} ${bytes?.toString() ?? id}`),
    ['books {"id":"a"}', 'books a', 'books {"id":"a"}']);
  }
});

test('each snapshot is of the form of its header, and some are empty', () => {
  const counts: number[] = [];
  for (const [name, text] of files) {
    if (!name.endsWith('.json')) continue;
    const lines = text.split('\n');
    assert.equal(lines.pop(), '');
    const head = match(header, lines.shift() ?? '', 0);
    const end = match(trailer, lines.at(-1) ?? '', 0);
    assert.ok(head !== null && end !== null && end.end === lines.pop()?.length, name);
    assert.equal(end.values.get('C')?.[0], crcOf(Buffer.from(text.slice(0, -11), 'latin1')));
    const [own, ...all] = head.values.get('S') ?? [];
    assert.ok(own !== undefined && all.includes(own));
    assert.match(name, new RegExp(`^${own}-0*${numberOf(head, 'G')}\\.json$`));
    for (const other of all) assert.ok(files.has(name.replace(own, other)), other);
    const keys = lines.map((line, index) => {
      const form = index === lines.length - 1 ? lastRecord : record;
      const after = form.slice(1);
      assert.ok(line.endsWith(`}${after}`), line);
      const [key] = Object.values(JSON.parse(line.slice(0, line.length - after.length)));
      return String(key);
    });
    assert.deepEqual(keys, [...keys].sort());
    assert.equal(keys.length, numberOf(end, 'B'));
    counts.push(keys.length);
  }
  assert.ok(counts.length >= 6 && counts.some((count) => count > 3), counts.join());
});
