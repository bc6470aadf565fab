/** `npm run bench` as a process: what it leaves behind, which is nothing. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { endOf } from '../support/children.ts';
import { inFolder } from '../support/temporary-folder.ts';
import { until } from '../support/until.ts';
import { start } from './processes.ts';

const ROOT = resolve(import.meta.dirname, '../..');

function startBench(folder: string, ...scenarios: readonly string[]): ReturnType<typeof start> {
  return start([join(ROOT, 'test/bench/run.ts'), ...scenarios], {
    cwd: ROOT, program: [process.execPath, '--import', 'tsx'], environment: { TMPDIR: folder },
  });
}

/** What tsx keeps for the next run is not ours. */
function leftIn(folder: string): readonly string[] {
  return readdirSync(folder).filter((name) => !name.startsWith('tsx-'));
}

/** Processes that were started with that folder as their temporary one, or with one in it. */
function processesIn(folder: string): readonly string[] {
  return readdirSync('/proc').filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/environ`, 'latin1').includes(`\0TMPDIR=${folder}`);
    } catch {
      return false;
    }
  });
}

test('a benchmark that is interrupted leaves no file and no process', { timeout: 120_000 },
  () => inFolder(async (folder) => {
    const bench = startBench(folder, 'durable-post-busy');
    const ended = once(bench, 'exit');
    bench.stdout?.resume();
    // The supervisor, the scenarios, four processes that never pause, and a contestant.
    await until('the scenario runs', () => processesIn(folder).length >= 6, { msMax: 100_000 });
    assert.equal(leftIn(folder).length, 1);
    bench.kill('SIGINT');
    assert.deepEqual(await ended, [130, null]);
    assert.deepEqual([leftIn(folder), processesIn(folder)], [[], []]);
  }));

test('a benchmark that cannot begin leaves nothing, and says why', () =>
  inFolder(async (folder) => {
    const { code, stderr } = await endOf(startBench(folder, 'nothing'));
    assert.deepEqual([code, leftIn(folder)], [2, []]);
    assert.match(stderr, /^no scenario nothing: start, /);
  }));
