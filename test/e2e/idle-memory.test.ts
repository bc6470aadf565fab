/** What a server without a book takes after its first answer; nothing is given back by then. */
import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { BARE_HELLO } from '../support/bare-hello.ts';
import { endOf } from '../support/children.ts';
import { PROGRAM } from '../support/program.ts';
import { inFolder } from '../support/temporary-folder.ts';
import { ask } from './ask.ts';
import { start } from './processes.ts';

// 1.21 to 1.26 on Node 20 and 1.36 on Node 26, measured; the more the busier the machine.
const RATIO_MAX = process.version.startsWith('v20.') ? 1.3 : 1.4;

// A page more or less in memory is chance; each of several runs above the limit is not.
const RUNS_MAX = 3;

test('an idle server is hardly larger than one that serves hello',
  { skip: process.platform !== 'linux' && 'reads /proc' },
  (t) => inFolder(async (data) => {
    const ratios: number[] = [];
    while (ratios.length < RUNS_MAX && !ratios.some((ratio) => ratio < RATIO_MAX)) {
      const bare = await residentBytes(start([], {
        program: [process.execPath, '--eval', BARE_HELLO],
      }));
      const ours = await residentBytes(start(['serve', '--port', '0', '--data', data], {
        program: [process.execPath, PROGRAM],
      }));
      ratios.push(ours / bare);
    }
    t.diagnostic(ratios.map((ratio) => ratio.toFixed(2)).join(', '));
    assert.ok(Math.min(...ratios) < RATIO_MAX, `${ratios.join(', ')} times hello`);
  }));

/** Of a server that tells where it listens; ends it. */
async function residentBytes(child: ChildProcess): Promise<number> {
  const ended = endOf(child);
  try {
    assert.ok(child.stdout);
    const [told] = await once(child.stdout, 'data');
    const url = /http:\S+/.exec(String(told))?.[0] ?? '';
    assert.equal((await ask(`${url}/healthz`)).status, 200);
    const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
    return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) * 1024;
  } finally {
    child.kill();
    await ended;
  }
}
