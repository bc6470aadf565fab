/** A disk without room, as the limit on the size of files plays it. */
import assert from 'node:assert/strict';
import { appendFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { PROGRAM } from '../support/program.ts';
import { inFolder } from '../support/temporary-folder.ts';
import { ask } from './ask.ts';
import { hookshelf, startServer } from './processes.ts';

/** No file may grow past 64 KiB, or half of that: the shells differ. */
const LIMITED = ['/bin/sh', '-c', 'ulimit -f 64; exec "$@"', 'sh', process.execPath, PROGRAM];
const NO_ROOM = ['/bin/sh', '-c', 'ulimit -f 0; exec "$@"', 'sh', process.execPath, PROGRAM];
const FULL = /^hookshelf: a new generation could [^\n]*\(EFBIG: [^\n]*\); free some room [^\n]*\n$/;
const BOOKS = 30;
const book = { title: 'A', description: 'x'.repeat(10_000) };

test('without room data:compact and writes say what to do, with exit code 1 and 507', () =>
  inFolder(async (data) => {
    const input = `${JSON.stringify(book)}\n`.repeat(BOOKS);
    const words = ['book:import', '--file', '-', '--format', 'jsonl', '--data', data];
    assert.equal((await hookshelf(words, { input })).code, 0);
    const compact = ['data:compact', '--data', data];
    assert.equal((await hookshelf(compact)).code, 0);
    const refused = await hookshelf(compact, { program: LIMITED });
    assert.match(refused.stderr, FULL);
    assert.equal(refused.code, 1);
    const server = await startServer(['--data', data], { program: LIMITED });
    try {
      const { code, stderr } = await hookshelf(compact);
      assert.match(stderr, FULL);
      assert.equal(code, 1);
      const statuses: number[] = [];
      for (let count = 0; count < BOOKS && statuses.at(-1) !== 507; count += 1) {
        const { status, text } = await ask(`${server.url}/api/books`, {
          method: 'POST', body: book,
        });
        statuses.push(status);
        if (status === 507) assert.match(JSON.parse(text).detail, /; free some room /);
      }
      assert.deepEqual([statuses[0], statuses.at(-1)], [201, 507]);
    } finally {
      await server.stop();
    }
    assert.equal((await hookshelf(compact)).code, 0);
  }));

test('without any room commands that read work, and others name the file and the way out', () =>
  inFolder(async (data) => {
    const add = ['book:add', '--input', '{"title":"Emma"}', '--data', data];
    assert.equal((await hookshelf(add)).code, 0);
    appendFileSync(join(data, 'journal-000001.jsonl'), '{"crc":"torn');
    const before = readdirSync(data);
    const list = ['book:list', '--json', '--data', data];
    const listed = await hookshelf(list, { program: NO_ROOM });
    assert.equal(JSON.parse(listed.stdout).length, 1, listed.stderr);
    for (const words of [add, ['serve', '--port', '0', '--data', data]]) {
      const { code, stderr } = await hookshelf(words, { program: NO_ROOM });
      assert.equal(code, 1);
      assert.match(stderr, /^hookshelf: cannot write in [^\n]*, write '[^\n]*\/lock'\); free some/);
    }
    assert.deepEqual(readdirSync(data), before);
    assert.equal(JSON.parse((await hookshelf(list)).stdout).length, 1);
  }));

test('without room an import ends with one line, which says why and what is stored', () =>
  inFolder(async (data) => {
    const words = ['book:import', '--file', '-', '--format', 'jsonl', '--data', data];
    const input = `${JSON.stringify(book)}\n`.repeat(1000);
    const { code, stdout, stderr } = await hookshelf(words, { input, program: LIMITED });
    assert.deepEqual([code, stdout], [1, '']);
    const [, stopLine = '', ...others] = stderr.split('\n');
    assert.deepEqual(others, [''], stderr);
    const stop = /^hookshelf: the import stopped: .* \(EFBIG: .*\(until then imported (\d+), /;
    const [, count] = stop.exec(stopLine) ?? [];
    const listed = await hookshelf(['book:list', '--json', '--data', data]);
    assert.equal(JSON.parse(listed.stdout).length, Number(count));
  }));
