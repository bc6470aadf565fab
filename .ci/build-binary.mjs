// `npm run build:binary [-- <platform>-<arch> …]`: dist/bin/hookshelf-<platform>-<arch>, one file
// that holds a current Node, the program as one bundle, the console, the sample catalog and the
// manual. The runtimes come from the npm registry as ordinary packages, so that other platforms are
// built from here too.
import { spawnSync } from 'node:child_process';
import {
  copyFileSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { build } from 'esbuild';
import { defineCommit } from './commit.mjs';
import { computeData } from './computed-data.mjs';
import { withLinesOnly } from './line-maps.mjs';
import { postgresFolder } from './postgres.mjs';
import { TARGETS, runtimeFor } from './runtime.mjs';

const root = resolve(import.meta.dirname, '..');
const work = join(root, 'dist/binary');
const host = `${process.platform}-${process.arch}`;
// What base/files/package-file.ts reads.
const ASSETS = ['data/samples/books.json',
  ...readdirSync(join(root, 'dist/console')).map((name) => `dist/console/${name}`),
  ...readdirSync(join(root, 'src/manual')).filter((name) => name.endsWith('.md'))
    .map((name) => `src/manual/${name}`)];
const targets = process.argv.length > 2 ? process.argv.slice(2) : [host];

for (const target of [host, ...targets]) {
  if (!TARGETS.includes(target)) fail(`no runtime for ${target}; one of ${TARGETS.join(', ')}`);
}
mkdirSync(join(root, 'dist/bin'), { recursive: true });
const bundle = join(work, 'hookshelf.cjs');
await build({
  entryPoints: [join(root, 'src/main.ts')],
  outfile: bundle,
  bundle: true,
  plugins: [computeData()],
  platform: 'node',
  // A script, not a module: a module's imports of node: are all loaded at its start.
  format: 'cjs',
  target: 'node20',
  // What others install at need is in it.
  alias: { postgres: postgresFolder() },
  minifyWhitespace: true,
  // Node shows the line of an error that nobody has caught.
  lineLimit: 120,
  sourcemap: 'external',
  sourcesContent: false,
  legalComments: 'none',
  // As it stands in stack traces. What needs the place of a module otherwise is not reached.
  define: { 'import.meta.url': JSON.stringify(bundle), ...defineCommit() },
  logOverride: { 'empty-import-meta': 'silent' },
  logLevel: 'warning',
});
writeFileSync(`${bundle}.map`, withLinesOnly(readFileSync(`${bundle}.map`, 'utf8')));
for (const target of targets) buildFor(target);

function buildFor(target) {
  const output = join(root, 'dist/bin', `hookshelf-${target}`);
  const made = join(work, `hookshelf-${target}`);
  const configuration = join(work, `${target}.json`);
  writeFileSync(configuration, JSON.stringify({
    main: bundle,
    // Made by the builder for its own kind of machine only.
    useCodeCache: target === host,
    executable: runtimeFor(target),
    output: made,
    disableExperimentalSEAWarning: true,
    // The loader of custom actions uses an API that Node 26 still marks as experimental.
    execArgv: ['--disable-warning=ExperimentalWarning'],
    execArgvExtension: 'env',
    assets: {
      ...Object.fromEntries(ASSETS.map((path) => [path, join(root, path)])),
      'hookshelf.cjs.map': `${bundle}.map`,
    },
  }));
  rmSync(output, { force: true });
  run(runtimeFor(host), ['--build-sea', configuration]);
  // Node writes it in one piece, which Linux caches in pages of 2 MB: as long as they stay in the
  // cache, each one that is touched counts as resident as a whole, 27 MB for an idle server.
  copyFileSync(made, output);
  rmSync(made);
  const megabytes = (statSync(output).size / 1e6).toFixed(0);
  process.stdout.write(`${output.slice(root.length + 1)}: ${megabytes} MB\n`);
}

function run(program, parameters) {
  const result = spawnSync(program, parameters, { stdio: ['ignore', 'ignore', 'inherit'] });
  if (result.status !== 0) fail(`${program} ended with ${result.status ?? result.signal}`);
}

function fail(message) {
  process.stderr.write(`hookshelf: ${message}\n`);
  process.exit(1);
}
