/** The single binary, built here and run where there is no Node, no flock and nothing else. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  closeSync, existsSync, mkdirSync, openSync, readFileSync, readSync, readdirSync, writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { VERSION } from '../../src/base/version.ts';
import type { Ended } from '../support/children.ts';
import { IS_LONG } from '../support/long.ts';
import { inFolder } from '../support/temporary-folder.ts';
import { ask } from './ask.ts';
import { hookshelf, startServer, type ProcessOptions } from './processes.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const HOST = `${process.platform}-${process.arch}`;
const BINARY = join(ROOT, 'dist/bin', `hookshelf-${HOST}`);
// Another system and another processor, mostly; each costs seconds.
const FOREIGN = ['darwin-arm64', 'linux-arm64'].filter((target) => target !== HOST)
  .slice(0, IS_LONG ? 1 : 0);
// What the builder says when the npm registry cannot be reached.
const EXIT_UNREACHABLE = 69;
const TIMED_RUNS = 3;

const ACTION = `
export default class Shout {
  static identifier() { return 'shout'; }
  static label() { return 'Shout'; }
  execute(payload, context, options, { ActionResult }) {
    return ActionResult.ok({ said: payload.word.toUpperCase() });
  }
}
`;

/** Nothing on the path, no home, no /tmp: only the file itself. */
const alone: ProcessOptions = { program: [BINARY], environment: { PATH: '/nonexistent' } };

test('the single binary', async (t) => {
  const build = spawnSync(process.execPath, ['.ci/build-binary.mjs', HOST, ...FOREIGN], {
    cwd: ROOT, encoding: 'utf8', env: buildEnvironment(),
  });
  if (build.status === EXIT_UNREACHABLE) {
    t.skip('the npm registry, which has the runtimes, cannot be reached');
    return;
  }
  assert.equal(build.status, 0, build.stderr);

  await t.test('tells its version, about as fast as its own Node does nothing', async (timed) => {
    const { code, stdout, stderr } = await run(['--version']);
    assert.deepEqual([code, stdout, stderr], [0, `${VERSION}\n`, '']);
    timed.diagnostic(startRatio());
  });

  await t.test('carries what speaks to PostgreSQL', () => inFolder(async (cwd) => {
    const { code, stderr } = await hookshelf(['serve', '--data', cwd], {
      ...alone, environment: { HOOKSHELF_STORE_URL: 'postgres://shelf@127.0.0.1:1/shelf' },
    });
    assert.equal(code, 1);
    assert.match(stderr, /^hookshelf: cannot reach PostgreSQL at 127\.0\.0\.1:1: [^\n]*REFUSED/);
  }));

  await t.test('carries help, completions, samples, manual, console and description', () =>
    inFolder(async (cwd) => {
      assert.match((await run(['help'], cwd)).stdout, /book:import/);
      for (const shell of ['bash', 'zsh', 'fish']) {
        assert.match((await run(['completion', shell], cwd)).stdout, /hookshelf/, shell);
      }
      const { stdout: chapter } = await run(['manual', 'security'], cwd);
      assert.equal(chapter, readFileSync(join(ROOT, 'src/manual/security.md'), 'utf8'));
      assert.deepEqual(readdirSync(cwd), []);
      const server = await startServer([], { ...alone, cwd });
      const { stdout, stderr } = await run(['book:import', '--sample'], cwd);
      assert.match(stdout, /^imported \d+, updated 0, unchanged 0, skipped 0\n$/, stderr);
      const books = await ask(`${server.url}/api/books?limit=1`);
      assert.ok(Number(books.headers['x-total-count']) > 10);
      assert.equal(JSON.parse((await ask(`${server.url}/openapi.json`)).text).openapi, '3.1.0');
      assert.match((await ask(`${server.url}/docs`)).text, /<\/html>/);
      assert.match((await ask(`${server.url}/docs/security`)).text, />Security<\/h1>/);
      for (const name of readdirSync(join(ROOT, 'dist/console'))) {
        const path = name === 'page.html' ? '/console' : `/console/${name}`;
        assert.equal((await ask(server.url + path)).text,
          readFileSync(join(ROOT, 'dist/console', name), 'utf8'));
      }
      assert.equal((await server.stop()).code, 0);
      assert.match((await run(['book:list', '--limit', '1'], cwd)).stdout, /\S/);
      assert.equal((await run(['data:verify'], cwd)).code, 0);
    }));

  await t.test('runs custom actions from the data directory', () => inFolder(async (cwd) => {
    mkdirSync(join(cwd, 'data/actions'), { recursive: true, mode: 0o700 });
    writeFileSync(join(cwd, 'data/actions/shout.mjs'), ACTION, { mode: 0o600 });
    const server = await startServer([], { ...alone, cwd });
    await succeed(['actionconfig:create', '--action', 'shout', '--options', '{}',
      '--identifier', 'shout'], cwd);
    await succeed(['incomingwebhook:create', '--path-segment', 'x', '--action-config', 'shout'],
      cwd);
    const url = `${server.url}/webhook/in/x`;
    const { status, text } = await ask(url, { method: 'POST', body: { word: 'hey' } });
    assert.deepEqual([status, JSON.parse(text).data], [200, { said: 'HEY' }]);
    await server.stop();
  }));

  await t.test('serves under a memory cap', () => inFolder(async (cwd) => {
    const server = await startServer(['--max-memory', '96'], { ...alone, cwd });
    const { text } = await ask(`${server.url}/metrics`);
    const limit = Number(/^nodejs_heap_size_limit_bytes (\d+)$/m.exec(text)?.[1]);
    assert.ok(limit <= 96 << 20, `${limit}`);
    assert.equal((await server.stop()).code, 0);
  }));

  for (const target of FOREIGN) {
    await t.test('is built for other machines from here', () => {
      assert.equal(machineOf(target), target);
    });
  }

  function run(words: readonly string[], cwd = ROOT): Promise<Ended> {
    return hookshelf(words, { ...alone, cwd });
  }

  async function succeed(words: readonly string[], cwd: string): Promise<void> {
    const { code, stderr } = await run(words, cwd);
    assert.equal(code, 0, stderr);
  }
});

/** npm is told nothing of the test runner's own options. */
function buildEnvironment(): NodeJS.ProcessEnv {
  const { NODE_OPTIONS: _, ...environment } = process.env;
  return environment;
}

/** Printed and never decisive: a busy machine tells nothing about a program. */
function startRatio(): string {
  const runtime = spawnSync(process.execPath, ['.ci/runtime.mjs'], { cwd: ROOT, encoding: 'utf8' });
  const node = runtime.stdout.trim();
  const bareMs: number[] = [];
  const oursMs: number[] = [];
  for (let round = 0; round < TIMED_RUNS; round += 1) {
    bareMs.push(timed(node, ['-e', '0']));
    oursMs.push(timed(BINARY, ['--version']));
  }
  const [bare, ours] = [Math.min(...bareMs), Math.min(...oursMs)];
  return `--version takes ${ours.toFixed(0)} ms, ${(ours / bare).toFixed(2)} × node -e 0 `
    + `(${bare.toFixed(0)} ms)`;
}

function timed(program: string, words: readonly string[]): number {
  const startedAt = performance.now();
  assert.equal(spawnSync(program, words).status, 0);
  return performance.now() - startedAt;
}

/** The machine that an executable file says it is for, in Node's words. */
function machineOf(target: string): string {
  const path = join(ROOT, 'dist/bin', `hookshelf-${target}`);
  assert.ok(existsSync(path), path);
  const head = Buffer.alloc(20);
  const descriptor = openSync(path, 'r');
  readSync(descriptor, head, 0, head.length, 0);
  closeSync(descriptor);
  // ELF: e_machine at 18, 183 is AArch64. Mach-O, 64 bits: cputype at 4, 0x0100000c is ARM64.
  if (head.readUInt32BE(0) === 0x7f454c46 && head.readUInt16LE(18) === 183) return 'linux-arm64';
  const isMachO = head.readUInt32LE(0) === 0xfeedfacf;
  return isMachO && head.readUInt32LE(4) === 0x0100000c ? 'darwin-arm64' : 'unknown';
}
