/** What every user of the machine sees of the processes on it: their command lines. */
import { readFileSync, readdirSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import assert from 'node:assert/strict';

export function processTitles(): string {
  if (process.platform !== 'linux') {
    const { status, stdout, stderr } = spawnSync('ps', ['-eo', 'args'], { encoding: 'utf8' });
    assert.equal(status, 0, stderr);
    return stdout;
  }
  return readdirSync('/proc').filter((name) => /^\d+$/.test(name)).map(titleOf).join('\n');
}

function titleOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
  } catch (thrown) {
    const code = thrown instanceof Error && 'code' in thrown ? thrown.code : '';
    // It has ended since.
    if (code === 'ENOENT' || code === 'ESRCH') return '';
    throw thrown;
  }
}
