// Makes a copy of the program that starts with two thirds of the work (`book:list` under Node 20 with
// 102 ms of processor time for 141), for tests, which start it a thousand times: one script instead
// of some twenty, and V8's code of what a start runs. All that it reads besides lies where it did.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Script } from 'node:vm';
import { build } from 'esbuild';
import { computeData } from './computed-data.mjs';
import { COMMON, sources } from './bundle.mjs';

// Code that V8 has kept imports nothing: what is none of our files comes through a function.
const IMPORT = /\b(await|return) import\((?!\s*'\.)/g;
const root = resolve(import.meta.dirname, '..');

const BEGIN = '(function (require, module, exports, importModule) {';
const END = '\n})';
const START = `
const { readFileSync, writeFileSync } = require('node:fs');
const { Script } = require('node:vm');
const file = __dirname + '/hookshelf.cjs';
let cachedData;
try {
  cachedData = readFileSync(file + '.code');
} catch {}
const script = new Script('${BEGIN}' + readFileSync(file, 'utf8') + ${JSON.stringify(END)}, {
  filename: file, cachedData, columnOffset: -${BEGIN.length},
});
script.runInThisContext()(require, module, exports, (name) => import(name));
if (cachedData === undefined) {
  process.once('exit', () => {
    // V8 takes code only under the flags that it was made under; a server sets this one.
    require('node:v8').setFlagsFromString('--heap-growing-percent=0');
    writeFileSync(file + '.code', script.createCachedData());
  });
}
`;

/** The path of what to start under node, made of the sources as `edit(text, path)` gives them. */
export async function makeProgram(folder, edit = (text) => text) {
  const script = join(folder, 'hookshelf.cjs');
  await build({
    ...COMMON,
    // Its own first line would not be the first line here.
    stdin: { contents: "import './src/main.ts';", resolveDir: root },
    outfile: script,
    // A script, not a module: V8 gives no code of modules away.
    format: 'cjs',
    minifyWhitespace: true,
    plugins: [computeData(), sources((text, path) =>
      edit(text, path).replace(IMPORT, '$1 importModule('))],
  });
  const program = join(folder, 'main.cjs');
  writeFileSync(program, START);
  await runOnce(program);
  const { cachedDataRejected } = new Script(`${BEGIN}${readFileSync(script, 'utf8')}${END}`,
    { cachedData: readFileSync(`${script}.code`) });
  assert.equal(cachedDataRejected, false, 'V8 takes the code that it has kept');
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
