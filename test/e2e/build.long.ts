/** What `npm run build` makes: the program and the library, of bundles that they share. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  closeSync, existsSync, mkdirSync, openSync, readFileSync, readdirSync, statSync, writeFileSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { VERSION } from '../../src/base/version.ts';
import { PROGRAM } from '../support/program.ts';
import { inFolder } from '../support/temporary-folder.ts';
import { addRecord, ask } from './ask.ts';
import { hookshelf, startServer } from './processes.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const DIST = dirname(PROGRAM);
// What Node does with a file takes a quarter of a millisecond.
const VERSION_FILES_MAX = 3;
const VERSION_BYTES_MAX = 4000;
const SERVER_FILES_MAX = 20;
const STATIC_IMPORT = /\b(?:from|import)"(\.[^"]+)"/g;
const HELLO_ACTION = `export default class {
  static identifier() { return 'hello'; }
  static label() { return 'Hello'; }
  execute(payload, context, options, { ActionResult }) { return ActionResult.ok({}, 'hello'); }
}
`;
type Builder = {
  buildProgram(folder: string, edit?: (text: string, path: string) => string): Promise<void>;
};

test('--version loads next to nothing, and a server few files', () => {
  const forVersion = loadedWith(PROGRAM);
  assert.ok(forVersion.length <= VERSION_FILES_MAX, forVersion.join('\n'));
  const bytes = forVersion.map((path) => statSync(path).size).reduce((sum, size) => sum + size, 0);
  assert.ok(bytes <= VERSION_BYTES_MAX, `${bytes} bytes`);
  const forServer = loadedWith(chunkWith('hookshelf listening on'));
  assert.ok(forServer.length <= SERVER_FILES_MAX, forServer.join('\n'));
  assert.ok(!forServer.includes(chunkWith('Import books from a file')), 'no other command');
});

test('what the program and the library share is there once', () => {
  const sources = filesIn(DIST)
    .flatMap((path): string[] => JSON.parse(readFileSync(`${path}.map`, 'utf8')).sources)
    .map((source) => source.slice(source.lastIndexOf('src/')));
  assert.ok(sources.includes('src/base/errors.ts'));
  assert.equal(sources.length, new Set(sources).size, 'each source is in one bundle');
});

test('a stack trace names lines of the sources', () => inFolder(async (folder) => {
  const { buildProgram } = await loadBuilder();
  const file = 'src/cli/commands/version.ts';
  const line = readFileSync(join(ROOT, file), 'utf8').split('\n')
    .findIndex((text) => text.includes('output.result(')) + 1;
  await buildProgram(folder, (text, path) => path.endsWith(file)
    ? text.replace('output.result(', "Promise.reject(new Error('planted')); void (") : text);
  const { stderr } = await hookshelf(['version', '--debug'],
    { program: [process.execPath, join(folder, 'main.js')] });
  assert.match(stderr, new RegExp(`planted\n +at ${file}:${line}\n`));
  assert.doesNotMatch(stderr, /chunks\//);
}));

test('without its maps a stack trace names places in bundles', () => inFolder(async (folder) => {
  const dist = join(folder, 'dist');
  for (const path of filesIn(DIST)) {
    const copy = join(dist, path.slice(DIST.length));
    mkdirSync(dirname(copy), { recursive: true });
    writeFileSync(copy, readFileSync(path));
  }
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  const { stderr } = await hookshelf(['book:list', '--data', 'none', '--debug'],
    { cwd: folder, program: [process.execPath, join(dist, 'main.js')] });
  assert.match(stderr, / at .*\/dist\/chunks\/[\w-]+\.js:\d+:\d+\)/);
}));

test('action modules run in what is built, whatever its functions are called', () =>
  inFolder(async (data) => {
    mkdirSync(join(data, 'actions'), { mode: 0o700 });
    writeFileSync(join(data, 'actions/hello.mjs'), HELLO_ACTION, { mode: 0o600 });
    const server = await startServer(['--data', data], { program: [process.execPath, PROGRAM] });
    await addRecord(`${server.url}/api/action-configurations`,
      { identifier: 'action', actionType: 'hello' });
    await addRecord(`${server.url}/api/incoming-webhooks`,
      { pathSegment: 'open', actionConfiguration: 'action' });
    const { status, text } = await ask(`${server.url}/webhook/in/open`,
      { method: 'POST', body: {} });
    assert.deepEqual([status, JSON.parse(text).message], [200, 'hello']);
    await server.stop();
  }));

test('a build touches no file that stays the same: programs may be reading it', () =>
  inFolder(async (folder) => {
    const { buildProgram } = await loadBuilder();
    const listInodes = (): Map<string, number> =>
      new Map(filesIn(folder).map((path) => [path, statSync(path).ino]));
    await buildProgram(folder);
    const before = listInodes();
    const times = [...before.keys()].map((path) => statSync(path).mtimeMs);
    await buildProgram(folder);
    assert.deepEqual(listInodes(), before);
    assert.deepEqual([...before.keys()].map((path) => statSync(path).mtimeMs), times);
    const main = join(folder, 'main.js');
    writeFileSync(main, 'export {};');
    const old = openSync(main, 'r');
    await buildProgram(folder);
    assert.equal(readFileSync(old, 'utf8'), 'export {};', 'it is replaced, and not written over');
    closeSync(old);
    assert.notEqual(readFileSync(main, 'utf8'), 'export {};');
  }));

test('a build leaves nothing of the one before', () => inFolder(async (folder) => {
  const { buildProgram } = await loadBuilder();
  await buildProgram(folder);
  const before = readdirSync(join(folder, 'chunks'));
  mkdirSync(join(folder, 'cache'));
  await buildProgram(folder);
  assert.deepEqual(readdirSync(join(folder, 'chunks')), before);
  assert.ok(readdirSync(folder).includes('cache'), 'nothing has changed');
  await buildProgram(folder, (text, path) =>
    path.endsWith('/base/version.ts') ? text.replace(/'.+'/, "'99.0.0'") : text);
  const after = readdirSync(join(folder, 'chunks'));
  assert.notDeepEqual(after, before);
  assert.equal(after.length, before.length);
  assert.ok(!readdirSync(folder).includes('cache'), 'the code of chunks that are gone');
  const { stdout } = await hookshelf(['--version'],
    { program: [process.execPath, join(folder, 'main.js')] });
  assert.equal(stdout, '99.0.0\n');
}));

test('a build in a git checkout tells its commit, and --version the version alone', () =>
  inFolder(async (folder) => {
    const { buildProgram } = await loadBuilder();
    await buildProgram(folder);
    const { stdout: commit } = spawnSync('git',
      ['describe', '--always', '--dirty', '--abbrev=12', '--exclude=*'],
      { cwd: ROOT, encoding: 'utf8' });
    const isCheckout = existsSync(join(ROOT, '.git'));
    const program = { program: [process.execPath, join(folder, 'main.js')] };
    assert.equal((await hookshelf(['version'], program)).stdout,
      isCheckout ? `${VERSION}+${commit}` : `${VERSION}\n`);
    assert.equal((await hookshelf(['--version'], program)).stdout, `${VERSION}\n`);
    const { stdout } = await hookshelf(['version', '--json'], program);
    assert.deepEqual(JSON.parse(stdout),
      { version: VERSION, commit: isCheckout ? commit.trim() : null });
  }));

function loadBuilder(): Promise<Builder> {
  return import(pathToFileURL(join(ROOT, '.ci/build.mjs')).href);
}

/** The file, and what is loaded before it can run. */
function loadedWith(path: string, loaded: string[] = []): readonly string[] {
  if (loaded.includes(path)) return loaded;
  loaded.push(path);
  for (const [, specifier = ''] of readFileSync(path, 'utf8').matchAll(STATIC_IMPORT)) {
    loadedWith(resolve(dirname(path), specifier), loaded);
  }
  return loaded;
}

function chunkWith(text: string): string {
  const [found, ...others] = filesIn(DIST)
    .filter((path) => readFileSync(path, 'utf8').includes(text));
  assert.ok(found !== undefined && others.length === 0, `one chunk says: ${text}`);
  return found;
}

function filesIn(dist: string): readonly string[] {
  return [join(dist, 'main.js'), join(dist, 'index.js'),
    ...readdirSync(join(dist, 'chunks')).filter((name) => name.endsWith('.js'))
      .map((name) => join(dist, 'chunks', name))];
}
