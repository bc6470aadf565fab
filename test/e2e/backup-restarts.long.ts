/** A backup copies what it has open, though a server that was started meanwhile deletes it. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { endOf, type Ended } from '../support/children.ts';
import { inFolder } from '../support/temporary-folder.ts';
import { until } from '../support/until.ts';
import { PROGRAM } from '../support/program.ts';
import { hookshelf, start, startServer } from './processes.ts';

/** Stops its process as often as STOPS says, each time it makes the first copy of the books. */
const STOPPING = `
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
const { openSync } = fs;
const { STOPS, DATA } = process.env;
let stops = 0;
fs.openSync = (path, ...more) => {
  const isCopy = /\\/books-\\d+\\.json$/.test(path) && !String(path).startsWith(DATA);
  if (isCopy && stops < Number(STOPS)) {
    stops += 1;
    process.kill(process.pid, 'SIGSTOP');
  }
  return openSync(path, ...more);
};
syncBuiltinESMExports();
`;

const BOOKS = 3000;
const DESCRIPTION = 'x'.repeat(2000);

async function run(...words: readonly string[]): Promise<Ended> {
  const ended = await hookshelf(words);
  assert.equal(ended.code, 0, ended.stderr);
  return ended;
}

async function fill(folder: string, data: string): Promise<void> {
  const lines = Array.from({ length: BOOKS }, (_, index) =>
    JSON.stringify({ title: `Book ${index}`, description: DESCRIPTION }));
  const file = join(folder, 'books.jsonl');
  writeFileSync(file, lines.join('\n'));
  await run('book:import', '--file', file, '--data', data);
  await run('data:compact', '--data', data);
}

function isStopped(pid: number | undefined): boolean {
  return /\) T /.test(readFileSync(`/proc/${pid}/stat`, 'latin1'));
}

/** A server that knows nothing of the backup deletes what the backup has open. */
async function compactTwice(data: string): Promise<void> {
  const server = await startServer(['--data', data]);
  for (let count = 0; count < 2; count += 1) await run('data:compact', '--data', data);
  await server.stop();
}

/** Backs up to `target`, and has a server compact each of the `stops` times that it stops. */
async function backUp(folder: string, data: string, target: string, stops: number): Promise<Ended> {
  const preload = join(folder, 'stopping.mjs');
  writeFileSync(preload, STOPPING);
  const child = start(['data:backup', '--to', target, '--data', data], {
    program: [process.execPath, '--import', preload, PROGRAM],
    environment: { STOPS: String(stops), DATA: data },
  });
  const ended = endOf(child);
  for (let count = 0; count < stops; count += 1) {
    await until('the backup has opened its files', () => isStopped(child.pid));
    await compactTwice(data);
    child.kill('SIGCONT');
    await until('it goes on', () => child.exitCode !== null || !isStopped(child.pid));
  }
  return ended;
}

test('a backup goes on across restarts and compactions, and is whole', () =>
  inFolder(async (folder) => {
    const data = join(folder, 'data');
    await fill(folder, data);
    const target = join(folder, 'copy');
    const { code, stderr } = await backUp(folder, data, target, 1);
    assert.equal(code, 0, stderr);
    assert.equal(stderr, '');
    const fresh = join(folder, 'fresh');
    const restored = await run('data:restore', '--from', target, '--data', fresh);
    assert.match(restored.stdout, new RegExp(`\\b${BOOKS} books`));
  }));
