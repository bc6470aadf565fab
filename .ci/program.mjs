// Makes of the built program a copy that starts with a third of the processor time (under Node 20 in
// 0.13 s for 0.33 s), for tests, which start it a thousand times: one script instead of hundreds of
// modules, and V8's code of what a start runs. All that it reads besides lies where it did.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { build } from 'esbuild';
import { COMMON, sources } from './bundle.mjs';

// Code that V8 has kept imports nothing: what is none of our files comes through a function.
const IMPORT = /\b(await|return) import\((?!'\.)/g;
const root = resolve(import.meta.dirname, '..');

const START = `
const { readFileSync, writeFileSync } = require('node:fs');
const { Script } = require('node:vm');
const file = __dirname + '/hookshelf.cjs';
let cachedData;
try {
  cachedData = readFileSync(file + '.code');
} catch {}
const begin = '(function (require, module, exports, importModule) {';
const script = new Script(begin + readFileSync(file, 'utf8') + '\\n})', {
  filename: file, cachedData, columnOffset: -begin.length,
});
script.runInThisContext()(require, module, exports, (name) => import(name));
if (cachedData === undefined) {
  process.once('exit', () => writeFileSync(file + '.code', script.createCachedData()));
}
`;

/** The path of what to start under node. */
export async function makeProgram(folder) {
  await build({
    ...COMMON,
    // Its own first line would not be the first line here.
    stdin: { contents: "import './dist/main.js';", resolveDir: root },
    outfile: join(folder, 'hookshelf.cjs'),
    // A script, not a module: V8 gives no code of modules away.
    format: 'cjs',
    minifyWhitespace: true,
    plugins: [sources((text) => text.replace(IMPORT, '$1 importModule('))],
  });
  const program = join(folder, 'main.cjs');
  writeFileSync(program, START);
  await runOnce(program);
  // Tests start it as another user.
  chmodSync(folder, 0o755);
  return program;
}

/** A server, which begins with what every command does. */
async function runOnce(program) {
  const data = mkdtempSync(join(tmpdir(), 'hookshelf-program-'));
  try {
    const server = spawn(process.execPath, [program, 'serve', '--port', '0', '--data', data],
      { stdio: ['ignore', 'pipe', 'ignore'] });
    server.stdout.once('data', () => server.kill());
    const [code] = await once(server, 'close');
    assert.equal(code, 0);
  } finally {
    rmSync(data, { recursive: true });
  }
}
