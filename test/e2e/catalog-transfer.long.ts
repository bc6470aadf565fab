/** Import and export by real processes: what comes back, what is refused, what a crash leaves. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { endOf, owned } from '../support/children.ts';
import { inFolder } from '../support/temporary-folder.ts';
import { until } from '../support/until.ts';
import { QUICK_PROGRAM } from '../support/program.ts';
import { ask } from './ask.ts';
import { hookshelf, start, startServer } from './processes.ts';

const SAMPLES = resolve(import.meta.dirname, '../../data/samples/books.json');

// What tries the three formats: their quotes, separators, line ends and look-alikes.
const STRANGE: readonly object[] = [
  {
    id: '01a1f92b-17e0-702b-979d-2a3c3908d79d', createdAt: '2020-01-01T00:00:00.000Z',
    updatedAt: '2021-01-01T00:00:00.001Z', title: '=1+1, "q"\nnew line; x',
    authors: [{ name: 'A; B' }, { name: 'C' }], keywords: ['a;b', 'c,d', ' x '],
  },
  { title: '  lead', subtitle: '', authors: [{ name: 'Plain' }, { name: 'Two' }] },
  { title: '["json"]', authors: [{ name: '[x]' }], description: '\r\n tail \r' },
  { title: '12', authors: [{ name: '{y' }], publisher: 'null', bookEdition: 'true', keywords: [] },
  { title: '"quoted"', subtitle: '\ufeffbom', metadata: {}, keywords: ['[1]'] },
  { title: 'one', authors: [{ name: 'a; b' }], metadata: { n: 1.5e-7, e: '', u: '\0\u2028' } },
  { title: 'x', authors: [{ name: 'y', address: { streetAddress: '1, "Main"\nst' } }] },
];

test('a catalog comes back byte for byte from each format, ids and dates included', () =>
  inFolder(async (folder) => {
    const at = (name: string) => join(folder, name);
    const run = async (...words: string[]) => {
      const ended = await hookshelf(words);
      assert.equal(ended.code, 0, ended.stderr);
      return ended;
    };
    const lines = STRANGE.map((book) => JSON.stringify(book)).join('\n');
    writeFileSync(at('strange.jsonl'), lines.replace('"n":', '"__proto__":{"x":1},"n":'));
    await run('book:import', '--data', at('first'), '--file', at('strange.jsonl'));
    await run('book:import', '--data', at('first'), '--file', SAMPLES);
    await run('book:export', '--data', at('first'), '--file', at('first.jsonl'));
    for (const format of ['json', 'jsonl', 'csv']) {
      const [once_, again] = [at(`once.${format}`), at(`again.${format}`)];
      await run('book:export', '--data', at('first'), '--file', once_);
      await run('book:import', '--data', at(format), '--file', once_);
      await run('book:export', '--data', at(format), '--file', again);
      assert.ok(readFileSync(once_).equals(readFileSync(again)), format);
      const { stdout } = await run('book:export', '--data', at(format), '--format', 'jsonl');
      assert.equal(stdout, readFileSync(at('first.jsonl'), 'utf8'), format);
    }
    assert.match(readFileSync(at('first.jsonl'), 'utf8'), /"__proto__":\{"x":1\}/);
  }));

test('an export as BibTeX leaves the keys of imported books to them', () =>
  inFolder(async (folder) => {
    const data = ['--data', join(folder, 'data')];
    writeFileSync(join(folder, 'own.json'),
      '[{"title":"Emma","authors":[{"name":"Jane Austen"}]}]');
    writeFileSync(join(folder, 'theirs.bib'), '@book{Austen, title = {Persuasion}}\n');
    for (const file of ['own.json', 'theirs.bib']) {
      await hookshelf(['book:import', ...data, '--file', join(folder, file)]);
    }
    const { stdout } = await hookshelf(['book:export', ...data, '--format', 'bibtex']);
    assert.deepEqual([...stdout.matchAll(/^@book\{(.*),$/gm)].map(([, key]) => key),
      ['Austena', 'Austen']);
  }));

test('an export says what it leaves out, and for a spreadsheet that it guards formulas', () =>
  inFolder(async (folder) => {
    const at = (name: string) => join(folder, name);
    const data = ['--data', at('data')];
    writeFileSync(at('books.jsonl'), [
      { title: '=1+1', authors: [{ name: '@x' }], metadata: { shelf: 'A1' } },
      { title: "'=2", subtitle: '-3', metadata: { shelf: 'A2' } }, { title: 'plain' },
    ].map((book) => JSON.stringify(book)).join('\n'));
    await hookshelf(['book:import', ...data, '--file', at('books.jsonl')]);
    const graph = await hookshelf(['book:export', ...data, '--file', at('books.jsonld')]);
    assert.match(graph.stderr, /left out: metadata in 2 books/);
    const { '@graph': nodes } = JSON.parse(readFileSync(at('books.jsonld'), 'utf8'));
    assert.deepEqual(nodes.map(({ name }: { name: string }) => name), ['=1+1', "'=2", 'plain']);
    const plain = await hookshelf(['book:export', ...data, '--format', 'csv']);
    assert.equal(plain.stderr, '');
    assert.match(plain.stdout, /,=1\+1,/);
    const sheet =
      await hookshelf(['book:export', ...data, '--file', at('books.csv'), '--spreadsheet']);
    assert.match(sheet.stderr, /a ' stands before each text/);
    const rows = readFileSync(at('books.csv'), 'utf8');
    for (const cell of [",'=1+1,", ",''=2,", ",'-3,", ",'@x,"]) {
      assert.ok(rows.includes(cell), cell);
    }
    await hookshelf(['book:import', '--data', at('again'), '--file', at('books.csv')]);
    const [first, again] = await Promise.all(['data', 'again'].map((name) =>
      hookshelf(['book:export', '--data', at(name), '--format', 'jsonl'])));
    assert.equal(again?.stdout, first?.stdout);
    const wrong = await hookshelf(['book:export', ...data, '--format', 'jsonl', '--spreadsheet']);
    assert.deepEqual([wrong.code, wrong.stdout], [2, '']);
    assert.match(wrong.stderr, /--spreadsheet is for csv/);
  }));

const BAD: readonly [string, string, string, readonly RegExp[]][] = [
  ['jsonl', '{"title":"ok"}\n{bad\n\n{"title":""}\n[]\n{"title":"ok","id":"nope"}\n{"title":"ok"}',
    'imported 2, updated 0, unchanged 0, skipped 4',
    [/^line 2: not valid JSON at column 2/, /^line 4: \/title/, /^line 5: must be a JSON object/,
      /^line 6: \/id/]],
  ['json', '[\n{"title":"ok"},\n{"title":5},\n{"title":"ok",\n"isbn":"1"}\n,{"title":"ok"}]',
    'imported 2, updated 0, unchanged 0, skipped 2', [/^line 3: \/title/, /^line 4: \/isbn/]],
  ['json', '[{"title":"ok"},{"title":', 'imported 1, updated 0, unchanged 0, skipped 1',
    [/^line 1: the file ends/]],
  ['csv', 'title,isbn\r\n"two\nlines",\r\nBad,123\r\n"open,',
    'imported 1, updated 0, unchanged 0, skipped 2',
    [/^line 4: \/isbn/, /^line 5: a quoted cell is not closed/]],
];

test('bad records are told with their lines, the rest is imported, and the exit code is 1', () =>
  inFolder(async (folder) => {
    for (const [index, [format, input, count, problems]] of BAD.entries()) {
      const words = ['book:import', '--file', '-', '--format', format];
      const data = ['--data', join(folder, String(index))];
      mkdirSync(join(folder, String(index)));
      const checked = await hookshelf([...words, ...data, '--dry-run'], { input });
      const imported = await hookshelf([...words, ...data], { input });
      for (const { code, stderr } of [checked, imported]) {
        const [first = '', ...told] = stderr.trim().split('\n')
          .map((line) => line.replace(/^hookshelf: /, ''));
        assert.match(first, /^reading /);
        assert.equal(code, 1, stderr);
        assert.equal(told.length, problems.length, stderr);
        for (const [line, problem] of problems.entries()) assert.match(told[line] ?? '', problem);
      }
      assert.equal(imported.stdout.trim(), count);
      assert.match(checked.stdout, new RegExp(`^would have ${count} `));
    }
  }));

test('what exists is skipped, --replace replaces it, --dry-run changes nothing', () =>
  inFolder(async (folder) => {
    const words = ['book:import', '--data', join(folder, 'data'), '--file', '-',
      '--format', 'jsonl'];
    mkdirSync(join(folder, 'data'));
    const id = '01a1f92b-17e0-702b-979d-2a3c3908d79d';
    const run = async (title: string, ...more: string[]) => {
      const { code, stdout } = await hookshelf([...words, ...more],
        { input: JSON.stringify({ id, title }) });
      const list = await hookshelf(['book:export', '--data', join(folder, 'data')]);
      const [book] = JSON.parse(list.stdout) as { title: string }[];
      return [code, stdout.trim(), book?.title];
    };
    assert.deepEqual((await run('none', '--dry-run')).toSpliced(1, 1), [0, undefined]);
    assert.deepEqual(await run('one'), [0, 'imported 1, updated 0, unchanged 0, skipped 0', 'one']);
    assert.deepEqual(await run('two'), [1, 'imported 0, updated 0, unchanged 0, skipped 1', 'one']);
    assert.deepEqual((await run('two', '--dry-run')).toSpliced(1, 1), [1, 'one']);
    assert.deepEqual((await run('two', '--replace', '--dry-run')).toSpliced(1, 1), [0, 'one']);
    const [code, , title] = await run('three', '--replace');
    assert.deepEqual([code, title], [0, 'three']);
  }));

test('kill -9 in the middle of an import loses nothing that its answer had told of', () =>
  inFolder(async (data) => {
    const server = await startServer(['--data', data]);
    const told = await importUntilKilled(server.url, () => server.child.kill('SIGKILL'));
    await server.stop();
    assert.ok(told.length > 100, `${told.length} were told of`);
    const again = await startServer(['--data', data]);
    try {
      const { text } = await ask(`${again.url}/api/books`);
      const stored = new Set((JSON.parse(text) as { id: string }[]).map(({ id }) => id));
      assert.deepEqual(told.filter((id) => !stored.has(id)), []);
      assert.ok(stored.size < 30_000, 'it was in the middle');
    } finally {
      await again.stop();
    }
  }));

test('an import whose server goes away ends, though its producer has more to give', () =>
  inFolder(async (data) => {
    const server = await startServer(['--data', data]);
    const words = ['book:import', '--file', '-', '--format', 'jsonl', '--data', data];
    const child = owned(spawn(process.execPath, [QUICK_PROGRAM, ...words]));
    const ended = endOf(child);
    child.stdin.on('error', () => {});
    child.stdin.write('{"title":"Emma"}\n'.repeat(2_000));
    let stored = '0';
    for (let turn = 0; stored === '0' && turn < 2_000; turn += 1) {
      stored = String((await ask(`${server.url}/api/books?limit=1`)).headers['x-total-count']);
    }
    assert.notEqual(stored, '0');
    await server.stop('SIGKILL');
    const { code, stdout, stderr } = await ended;
    assert.deepEqual([code, stdout], [1, '']);
    assert.match(stderr, /^hookshelf: the connection to the server broke[^\n]*may or may not/m);
  }));

/** Ids that the answer told of before the connection broke. */
async function importUntilKilled(url: string, kill: () => void): Promise<readonly string[]> {
  const line = `${JSON.stringify({ title: 'Middle', description: 'd'.repeat(200) })}\n`;
  const sent = request(`${url}/api/books/import`, {
    method: 'POST', headers: { 'content-type': 'application/jsonl' },
  });
  sent.on('error', () => {});
  sent.end(line.repeat(30_000));
  const [response] = await once(sent, 'response') as [IncomingMessage];
  let text = '';
  response.on('data', (chunk: Buffer) => {
    text += chunk.toString();
    if (text.length > 100_000) kill();
  });
  await new Promise((done) => {
    response.on('error', done).on('end', done);
  });
  return text.split('\n').slice(0, -1).flatMap((result) => {
    const { status, id } = JSON.parse(result) as { status: string; id: string };
    return status === 'imported' ? [id] : [];
  });
}

test('an export that a signal ends leaves nothing behind', () => inFolder(async (folder) => {
  const server = await startServer(['--data', join(folder, 'data')]);
  const target = join(folder, 'out');
  mkdirSync(target);
  // A server that is stopped keeps the export waiting, and its temporary file there.
  server.child.kill('SIGSTOP');
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    const file = join(target, 'books.json');
    const child = start(['book:export', '--data', join(folder, 'data'), '--file', file]);
    const ended = endOf(child);
    await until('the export has begun', () => readdirSync(target).length > 0);
    child.kill(signal);
    assert.equal((await ended).signal, signal);
    assert.deepEqual(readdirSync(target), [], signal);
  }
  server.child.kill('SIGCONT');
  await server.stop();
}));
