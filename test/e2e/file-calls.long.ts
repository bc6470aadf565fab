/** The real file calls of the real program, watched from outside. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, realpathSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { test } from 'node:test';
import { ask } from './ask.ts';
import { compile } from '../support/compile.ts';
import { checkDurable, checkLockLast, parseTrace, type FileCall } from '../support/file-calls.ts';
import { PROGRAM } from '../support/program.ts';
import { createTemporaryFolder, inFolder } from '../support/temporary-folder.ts';
import { hookshelf, startServer } from './processes.ts';

const WRITES = 12;
const CALLS = ['openat', 'pwrite64', 'pwritev', 'write', 'writev', 'fdatasync', 'fsync',
  'ftruncate', 'close', '/rename', '/unlink'].join();

const compiled = createTemporaryFolder();
const PRELOAD = compile(resolve(import.meta.dirname, '../support/interpose-files.ts'), compiled);

type Watched = {
  readonly program: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
};

/** The program with its calls written to a file: by the system, or by the process itself. */
const WATCHERS: Readonly<Record<string, (trace: string) => Watched>> = {
  // The tracer is no parent: signals reach the program. io_uring's calls are not seen.
  strace: (trace) => ({
    program: ['strace', '-D', '-f', '-y', '-qq', '-s', '400', '-o', trace, '-e',
      `trace=${CALLS}`, process.execPath, PROGRAM],
    environment: { UV_USE_IO_URING: '0' },
  }),
  'an interposed fs': (trace) => ({
    program: [process.execPath, '--import', PRELOAD, PROGRAM],
    environment: { TRACE: trace },
  }),
};

const canTrace = spawnSync('strace', ['-o', '/dev/null', 'true']).status === 0;

function syncsOf(calls: readonly FileCall[], wanted: string, call: string): number {
  return calls.filter(({ name, path, isOk }) => isOk && name === call && path === wanted).length;
}

/** The tracer may end a moment after the program. */
async function readTrace(path: string, last: RegExp): Promise<FileCall[]> {
  for (let attempt = 0; attempt < 500; attempt += 1) {
    const text = readFileSync(path, 'utf8');
    if (last.test(text)) return parseTrace(text);
    await new Promise((done) => {
      setTimeout(done, 10);
    });
  }
  assert.fail(`the trace has no ${last}:\n${readFileSync(path, 'utf8').slice(-2000)}`);
}

for (const [name, watch] of Object.entries(WATCHERS)) {
  const skip = name === 'strace' && !canTrace && 'strace cannot be used here';

  test(`each acknowledged write is answered after its own sync (${name})`, { skip }, () =>
    inFolder(async (folder) => {
      const data = join(realpathSync(folder), 'data');
      const trace = join(folder, 'trace');
      const server = await startServer(['--data', data], watch(trace));
      try {
        for (let count = 0; count < WRITES; count += 1) {
          if (count % 4 === 3) {
            assert.equal((await hookshelf(['data:compact', '--data', data])).code, 0);
          }
          const books = `${server.url}/api/books`;
          const { status } = await ask(books, { method: 'POST', body: { title: 'A' } });
          assert.equal(status, 201);
        }
      } finally {
        await server.stop();
      }
      const calls = await readTrace(trace, /close\(\d+<[^>]*\/lock>/);
      const { answers, renames, unlinks, syncThreads } = checkDurable(calls, data);
      assert.equal(answers, WRITES);
      assert.ok(renames > 0 && unlinks > 0, 'generations were written and removed');
      // On the loop, and in the thread pool: both ways were seen to sync.
      if (name === 'strace') assert.ok(syncThreads > 1);
      checkLockLast(calls, data);
      assert.ok(syncsOf(calls, dirname(data), 'fsync') > 0, 'the name of the new directory');
    }));

  test(`a start syncs what it has read before it listens (${name})`, { skip }, () =>
    inFolder(async (folder) => {
      const data = join(realpathSync(folder), 'data');
      assert.equal((await hookshelf(['book:add', '--input', '{"title":"A"}', '--data', data])).code,
        0);
      const trace = join(folder, 'trace');
      await (await startServer(['--data', data], watch(trace))).stop();
      const calls = await readTrace(trace, /close\(\d+<[^>]*\/lock>/);
      const listening = calls.findIndex(({ words }) => words.includes('hookshelf listening'));
      const before = name === 'strace' ? calls.slice(0, listening) : calls;
      assert.ok(before.length > 0);
      assert.ok(syncsOf(before, join(data, 'journal-000001.jsonl'), 'fdatasync') > 0);
      assert.ok(syncsOf(before, data, 'fsync') > 0, 'the names in the directory');
    }));

  test(`a backup is on disk before it has its name (${name})`, { skip }, () =>
    inFolder(async (folder) => {
      const root = realpathSync(folder);
      const [data, to] = [join(root, 'data'), join(root, 'to')];
      mkdirSync(to);
      await hookshelf(['book:add', '--input', '{"title":"A"}', '--data', data]);
      const trace = join(folder, 'trace');
      const words = ['data:backup', '--to', join(to, 'b.tar'), '--data', data];
      assert.equal((await hookshelf(words, watch(trace))).code, 0);
      const calls = await readTrace(trace, /rename\w*\(.*b\.tar"/);
      assert.equal(checkDurable(calls, to).renames, 1);
    }));
}
