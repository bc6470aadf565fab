/** Import and export by real processes: what comes back, what is refused, what a crash leaves. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { endOf, owned } from '../support/children.ts';
import { inFolder } from '../support/temporary-folder.ts';
import { until } from '../support/until.ts';
import { QUICK_PROGRAM } from '../support/program.ts';
import { ask } from './ask.ts';
import { hookshelf, start, startServer } from './processes.ts';

test('an export says what it leaves out, and for a spreadsheet that it guards formulas', () =>
  inFolder(async (folder) => {
    const at = (name: string) => join(folder, name);
    const data = ['--data', at('data')];
    writeFileSync(at('books.jsonl'), [
      { title: '=1+1', authors: [{ name: '@x' }], metadata: { shelf: 'A1' } },
      { title: "'=2", subtitle: '-3', metadata: { shelf: 'A2' } },
      { title: 'plain', isbn: '0-8044-2957-X' },
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
    assert.deepEqual([rows.codePointAt(0), plain.stdout.startsWith('id,')], [0xfeff, true]);
    for (const cell of [",'=1+1,", ",''=2,", ",'-3,", ",'@x,", ',978-0804429573,']) {
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
