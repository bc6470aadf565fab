/** What `npm pack` makes, installed without the network and used as its users would. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { VERSION } from '../../src/base/version.ts';
import { CHAPTERS } from '../../src/manual/chapters.ts';
import { inFolder } from '../support/temporary-folder.ts';
import { makeTypes } from '../support/types.ts';

const ROOT = resolve(import.meta.dirname, '../..');

const MANUAL = join(ROOT, 'src/manual');

test('the package', async (t) => inFolder(async (folder) => {
  makeTypes();
  // Scripts are not run: dist is built already, and packing it must not depend on who packs.
  const packed = npm(['pack', '--ignore-scripts', '--json', '--pack-destination', folder], ROOT);
  const file = join(folder, `hookshelf-${VERSION}.tgz`);

  await t.test('holds the program, its types, README, manual and samples, and nothing else', () => {
    const listing = spawnSync('tar', ['-tzf', file], { encoding: 'utf8' });
    assert.equal(listing.status, 0, packed);
    const names = listing.stdout.trim().split('\n').map((name) => name.replace(/^package\//, ''));
    const unexpected = names.filter((name) =>
      !/^(package\.json|README\.md|LICENSE)$/.test(name)
      && !/^dist\/((main|index|(chunks|console)\/[\w-]+)\.js|types\/.+\.d\.ts)$/.test(name)
      && name !== 'dist/console/page.html'
      && !/^data\/samples\/[^/]+$/.test(name)
      && !/^src\/manual\/[a-z-]+\.md$/.test(name));
    assert.deepEqual(unexpected, []);
    const missing = ['package.json', 'README.md', 'dist/main.js', 'dist/index.js',
      'dist/types/index.d.ts', 'data/samples/books.json',
      ...readdirSync(join(ROOT, 'dist/console')).map((one) => `dist/console/${one}`),
      ...CHAPTERS.map(({ name }) => `src/manual/${name}.md`),
    ].filter((name) => !names.includes(name));
    assert.deepEqual(missing, []);
  });

  await t.test('is as large as the manual says', () => {
    const page = readFileSync(join(MANUAL, 'installing.md'), 'utf8');
    const [, packedMegabytes] = /hookshelf-\S+\.tgz: built, ([\d.]+) MB/.exec(page) ?? [];
    const [, megabytes] = /^\| disk \| ([\d.]+) MB/m.exec(page) ?? [];
    const [{ size, unpackedSize }] = JSON.parse(packed);
    assert.equal((size / 1e6).toFixed(1), packedMegabytes);
    assert.equal((unpackedSize / 1e6).toFixed(1), megabytes);
  });

  await t.test('runs for once, not installed', () => {
    const words = ['--offline', '--yes', '--package', file, 'hookshelf', '--version'];
    assert.equal(run('npx', words, folder), `${VERSION}\n`);
  });

  await t.test('installs without the network and runs without a build', () => {
    const place = emptyProject(folder);
    npm(['install', file, '--offline', '--no-audit', '--no-fund', '--ignore-scripts'], place);
    const program = join(place, 'node_modules/.bin/hookshelf');
    assert.equal(run(program, ['--version'], place), `${VERSION}\n`);
    assert.match(run(program, ['book:import', '--sample'], place),
      /^imported \d+, updated 0, unchanged 0, skipped 0\n$/);
    assert.match(run(program, ['book:list', '--limit', '1'], place), /\S/);
    assert.match(run(program, ['manual', 'deliveries'], place), /^# Events and deliveries\n/);
    const lock = JSON.parse(readFileSync(join(place, 'package-lock.json'), 'utf8'));
    assert.deepEqual(Object.keys(lock.packages), ['', 'node_modules/hookshelf']);
  });

  await t.test('is embedded as the manual does it, in a folder of npm init and tsc --init', () => {
    const place = join(folder, 'embedding');
    mkdirSync(place);
    npm(['init', '-y'], place);
    npm(['install', file, '--offline', '--no-audit', '--no-fund', '--ignore-scripts'], place);
    // What the manual takes from the registry is here already.
    for (const name of ['typescript', '@types', 'undici-types']) {
      symlinkSync(join(ROOT, 'node_modules', name), join(place, 'node_modules', name));
    }
    const compiler = join(ROOT, 'node_modules/typescript/bin/tsc');
    run(process.execPath, [compiler, '--init', '--types', 'node'], place);
    const [, program = ''] = /```ts\n(\/\/ stock\.mts\n.*?)```/s
      .exec(readFileSync(join(MANUAL, 'embedding.md'), 'utf8')) ?? [];
    writeFileSync(join(place, 'stock.mts'), program);
    run(process.execPath, [compiler], place);
    assert.equal(run(process.execPath, ['stock.mjs'], place), 'true []\n');
  });
}));

function emptyProject(folder: string): string {
  const place = join(folder, 'project');
  mkdirSync(place);
  writeFileSync(join(place, 'package.json'), '{ "name": "somebody", "type": "module" }\n');
  return place;
}

function npm(words: readonly string[], cwd: string): string {
  return run('npm', ['--loglevel=error', ...words], cwd);
}

function run(program: string, words: readonly string[], cwd: string): string {
  const { NODE_OPTIONS: _, ...env } = process.env;
  const { status, stdout, stderr } = spawnSync(program, words, { cwd, env, encoding: 'utf8' });
  assert.equal(status, 0, `${program} ${words.join(' ')}: ${stderr}${stdout}`);
  return stdout;
}
