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

// 1.21 to 1.27 on Node 20 and 1.36 on Node 26 where it was measured; up to 1.38 on other machines.
const RATIO_MAX = 1.5;

// A page more or less in memory is chance; each of several runs above the limit is not.
const RUNS_MAX = 3;

test('an idle server is hardly larger than one that serves hello',
  { skip: process.platform !== 'linux' && 'reads /proc' },
  (t) => inFolder(async (data) => {
    const ratios: number[] = [];
    const told: string[] = [];
    while (ratios.length < RUNS_MAX && !ratios.some((ratio) => ratio < RATIO_MAX)) {
      const bare = await readMemory(start([], {
        program: [process.execPath, '--eval', BARE_HELLO],
      }));
      const ours = await readMemory(start(['serve', '--port', '0', '--data', data], {
        program: [process.execPath, PROGRAM],
      }));
      const ratio = ours.all / bare.all;
      ratios.push(ratio);
      told.push(`${ratio.toFixed(2)} times hello: ${JSON.stringify({ ours, bare })}`);
    }
    t.diagnostic(told.join('; '));
    assert.ok(Math.min(...ratios) < RATIO_MAX, told.join('; '));
  }));

interface ResidentMemory {
  all: number;
  /** What is the process's own. */
  anonymous: number;
  /** Pages of programs and libraries, which are shared with others. */
  file: number;
}

/** In KiB, of a server that tells where it listens; ends it. */
async function readMemory(child: ChildProcess): Promise<ResidentMemory> {
  const ended = endOf(child);
  try {
    assert.ok(child.stdout);
    const [told] = await once(child.stdout, 'data');
    const url = /http:\S+/.exec(String(told))?.[0] ?? '';
    assert.equal((await ask(`${url}/healthz`)).status, 200);
    const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
    const read = (name: string) => Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1]);
    return { all: read('VmRSS'), anonymous: read('RssAnon'), file: read('RssFile') };
  } finally {
    child.kill();
    await ended;
  }
}
