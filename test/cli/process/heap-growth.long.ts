import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { compile } from '../../support/compile.ts';
import { createTemporaryFolder } from '../../support/temporary-folder.ts';

// What a V8 of Node 26 does by itself, whatever it is told: 6 to 8 for 512 MB.
const FEW = 12;
const MODULE = resolve(import.meta.dirname, '../../../src/cli/process/heap-growth.ts');

const compiled = createTemporaryFolder();

/** Beside a heap of some 20 MB it keeps 512 MB in buffers, a piece at a time, none ever touched. */
const PROGRAM = `
  const { letHeapGrow } = await import('${pathToFileURL(compile(MODULE, compiled)).href}');
  if (process.env.GROWS === 'yes') letHeapGrow();
  const alive = Array.from({ length: 200_000 }, (_, index) => ({ index, list: [index] }));
  const kept = [];
  for (let piece = 0; piece < 512; piece += 1) {
    kept.push(Buffer.allocUnsafeSlow(1 << 20));
    for (let at = 0; at < 1000; at += 1) new Array(100).fill(at);
    await new Promise((resolve) => setImmediate(resolve));
  }
  process.exitCode = alive.length === 0 ? 1 : 0;
`;

function collections(grows: 'yes' | 'no', flags: readonly string[] = []): number {
  const { stdout, status } = spawnSync(process.execPath, [
    ...flags, '--trace-gc', '--input-type=module', '--eval', PROGRAM,
  ], { encoding: 'utf8', env: { ...process.env, GROWS: grows } });
  assert.equal(status, 0);
  return stdout.match(/Mark-Compact/g)?.length ?? 0;
}

test('lets buffers grow with few collections of the whole heap, where V8 makes many', () => {
  const usual = collections('no');
  const fewer = collections('yes');
  assert.ok(fewer < Math.max(FEW, usual / 2), `${fewer} of ${usual}`);
});

test('leaves the growth as it is where it was given', () => {
  const given = ['--heap-growing-percent=20'];
  const [asGiven, unchanged] = [collections('no', given), collections('yes', given)];
  // A heap that may grow further is collected a third as often by Node 20.
  assert.ok(unchanged > asGiven / 2, `${unchanged}, not ${asGiven}`);
});
