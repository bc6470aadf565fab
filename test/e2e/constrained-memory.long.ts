/** `serve --max-memory`: a process that replaces itself, a child, and the single binary. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { test } from 'node:test';
import { PROGRAM } from '../support/program.ts';
import { inFolder } from '../support/temporary-folder.ts';
import { ask } from './ask.ts';
import { hookshelf, startServer } from './processes.ts';

const MEGABYTES = 64;
const BOOKS = 10_000;
const ROOT = resolve(import.meta.dirname, '../..');

/** A Node that can replace its process, when one is at hand. */
function currentNode(): string | null {
  const { status, stdout } =
    spawnSync(process.execPath, ['.ci/runtime.mjs'], { cwd: ROOT, encoding: 'utf8' });
  return status === 0 ? stdout.trim() : null;
}

const nodes: Readonly<Record<string, string | null>> = {
  'this Node': process.execPath, 'a current Node': currentNode(),
};

for (const [name, node] of Object.entries(nodes)) {
  test(`${name} serves more than its caches hold under --max-memory`,
    { skip: node === null && 'the npm registry cannot be reached' },
    (t) => inFolder(async (data) => {
      const program = [node ?? '', PROGRAM];
      const flags = ['--data', data, '--max-memory', String(MEGABYTES)];
      // Node's own options are no way around it.
      const environment = { NODE_OPTIONS: '--max-old-space-size=2000' };
      const server = await startServer(flags, { program, environment });
      const imported = await hookshelf(['book:import', '--file', '-', '--format', 'jsonl',
        '--data', data], { input: books() });
      assert.equal(imported.stdout, `imported ${BOOKS}, updated 0, unchanged 0, skipped 0\n`,
        imported.stderr);
      const all: readonly { readonly id: string }[] =
        JSON.parse((await ask(`${server.url}/api/books`)).text);
      assert.equal(all.length, BOOKS);
      for (const { id } of all.slice(0, 500)) {
        assert.equal((await ask(`${server.url}/api/books/${id}`)).status, 200);
      }
      const figures = (await ask(`${server.url}/metrics`)).text;
      assert.ok(figureOf(figures, 'nodejs_heap_size_limit_bytes') <= MEGABYTES << 20);
      t.diagnostic(`${Math.round(figureOf(figures, 'process_resident_memory_bytes') / 1e6)
        } MB resident`);

      const second = await hookshelf(['serve', '--port', '0', ...flags], { program });
      assert.equal(second.code, 1);
      assert.match(second.stderr, /^hookshelf: [^\n]*\bprocess\b[^\n]*\n$/);
      assert.equal((await server.stop()).code, 0);
    }));
}

function books(): string {
  return Array.from({ length: BOOKS }, (_, index) =>
    JSON.stringify({ title: `Book ${index}`, description: 'x'.repeat(500) })).join('\n');
}

function figureOf(figures: string, name: string): number {
  return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(figures)?.[1]);
}
