import assert from 'node:assert/strict';
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import type { Store } from '../../src/store/store-port.ts';
import { owned } from '../support/children.ts';
import { compile } from '../support/compile.ts';
import { openInDirectory } from '../support/open-directory.ts';
import { below, createRandom } from '../support/random.ts';
import { createTemporaryFolder } from '../support/temporary-folder.ts';

const ROUNDS = 6;

const root = createTemporaryFolder();
const CHILD = compile(join(import.meta.dirname, '../support/store-child.ts'), root);

type Running = {
  readonly child: ChildProcess;
  /** Resolves when it has said its first line, or has ended. */
  readonly opened: Promise<unknown>;
  readonly ended: Promise<Ended>;
};
type Ended = { readonly code: number | null; readonly lines: string[]; readonly errors: string };

/** Runs the child until it has said `linesMax` lines, or ends; then kills it. */
function startChild(directory: string, prefix: string, mode: string, linesMax: number): Running {
  const child = owned(spawn(process.execPath, [CHILD, directory, prefix, mode], {
    // One that says nothing any more is ended, so that the test tells how far it came.
    stdio: ['ignore', 'pipe', 'pipe'], timeout: 120_000, killSignal: 'SIGKILL',
  }));
  const exited = exitOf(child);
  const lines: string[] = [];
  let errors = '';
  child.stderr.on('data', (chunk: Buffer) => {
    errors += chunk.toString();
  });
  createInterface({ input: child.stdout }).on('line', (line) => {
    lines.push(line);
    if (lines.length === linesMax) child.kill('SIGKILL');
  });
  const said = new Promise((resolve) => {
    child.stdout.once('data', resolve);
  });
  return {
    child, opened: Promise.race([said, exited]),
    ended: exited.then((code) => ({ code, lines, errors })),
  };
}

function exitOf(child: ChildProcess): Promise<number | null> {
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
}

/** Asserts that every acknowledged pair is there, and no record without its other one. */
function checkPairs(store: Store, acknowledged: ReadonlySet<string>): void {
  const [books, marks] = [store.collection('books'), store.collection('marks')];
  for (const id of acknowledged) {
    const mark = marks.find(id)?.bytes.toString();
    assert.ok(mark !== undefined, `${id} was acknowledged and is lost`);
    const { count }: { count: number } = JSON.parse(mark);
    const book = books.find(id)?.bytes.toString();
    assert.equal(book, JSON.stringify({ id, text: 'x'.repeat(count % 300) }));
  }
  assert.equal(books.size, marks.size);
}

test(`kill -9 under 32 concurrent writers, ${ROUNDS} times on one directory, loses nothing`,
  async (context) => {
    const directory = join(root, 'killed');
    // Another one each time, as no two runs are the same anyway.
    const seed = Date.now();
    context.diagnostic(`seed ${seed}`);
    const random = createRandom(seed);
    const acknowledged = new Set<string>();
    for (let round = 0; round < ROUNDS; round++) {
      const mode = round % 2 === 0 ? 'write' : 'compact';
      const linesMax = 2 + below(random, 2000);
      const { lines, errors } = await startChild(directory, `r${round}`, mode, linesMax).ended;
      const told = `round ${round}: ${errors}`;
      assert.equal(lines[0], 'open', told);
      assert.ok(lines.length >= linesMax, `${lines.length} of ${linesMax} lines, ${told}`);
      for (const id of lines.slice(1)) acknowledged.add(id);
    }
    const { store, close } = await openInDirectory(directory);
    checkPairs(store, acknowledged);
    await close();
  });

test('of two starts at once on one directory exactly one wins, the other names its process',
  async () => {
    const directory = join(root, 'raced');
    for (let round = 0; round < 2; round++) {
      const runs = ['a', 'b'].map((prefix) =>
        startChild(directory, `${prefix}${round}`, 'write', 50_000));
      const loser = await Promise.race(runs.map(({ ended }) => ended));
      await Promise.all(runs.map(({ opened }) => opened));
      for (const { child } of runs) child.kill('SIGKILL');
      const results = await Promise.all(runs.map(({ ended }) => ended));
      const winner = runs[results.findIndex((result) => result !== loser)];
      assert.deepEqual(loser.lines, []);
      assert.equal(loser.code, 1);
      assert.match(loser.errors, new RegExp(`\\b${winner?.child.pid}\\b`));
      assert.deepEqual(results.map(({ lines }) => lines[0] === 'open').sort(), [false, true]);
    }
  });

test('a file system that is really full refuses writers, loses nothing, and is served again',
  async (context) => {
    const directory = join(root, 'full');
    rmSync(directory, { recursive: true, force: true });
    const mounted = mountSmall(directory);
    if (!mounted) return context.skip('a tmpfs cannot be mounted here');
    try {
      await fillAndCheck(directory);
    } finally {
      spawnSync('umount', [directory]);
    }
  });

async function fillAndCheck(directory: string): Promise<void> {
  const { store, close } = await openInDirectory(join(directory, 'data'));
  const acknowledged = new Set<string>();
  let refusals = 0;
  for (let count = 0; refusals < 3; count++) {
    const id = `f-${count}`;
    await store.transact((transaction) => {
      transaction.put('books', id, JSON.stringify({ id, text: 'x'.repeat(count % 300) }));
      transaction.put('marks', id, JSON.stringify({ id, count }));
    }).then(() => acknowledged.add(id), (error: unknown) => {
      assert.ok(error instanceof Error && 'code' in error && error.code === 'storage_full');
      refusals++;
    });
  }
  assert.ok(acknowledged.size > 100);
  checkPairs(store, acknowledged);
  await close();
  const again = await openInDirectory(join(directory, 'data'));
  checkPairs(again.store, acknowledged);
  await again.close();
}

function mountSmall(directory: string): boolean {
  spawnSync('mkdir', ['-p', directory]);
  const options = ['-t', 'tmpfs', '-o', 'size=512k,mode=700', 'hookshelf-test', directory];
  return spawnSync('mount', options).status === 0;
}
