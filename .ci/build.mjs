// `npm run build`: makes dist of src, with esbuild. dist/main.js is the program and dist/index.js the
// library; they share what lies in dist/chunks. dist/console is the console
// (build-console.mjs).
// Types are neither checked nor written here: `npm run types` writes dist/types.
import { readFileSync, rmSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { build } from 'esbuild';
import { buildConsole } from './build-console.mjs';
import { defineCommit } from './commit.mjs';
import { computeData } from './computed-data.mjs';
import { joinLateModules } from './late-modules.mjs';
import { withLinesOnly } from './line-maps.mjs';
import { removeOthers, replaceFiles } from './replace-files.mjs';

const root = resolve(import.meta.dirname, '..');

if (import.meta.filename === process.argv[1]) {
  await Promise.all([buildProgram(join(root, 'dist')), buildConsole(join(root, 'dist'))]);
}

/** Makes main.js, index.js and chunks in `folder`; `edit(text, path)` may change the sources. */
export async function buildProgram(folder, edit) {
  const options = {
    absWorkingDir: root,
    entryPoints: ['src/main.ts', 'src/index.ts'],
    outdir: folder,
    chunkNames: 'chunks/[name]-[hash]',
    bundle: true,
    splitting: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    external: ['postgres'],
    define: defineCommit(),
    minifyWhitespace: true,
    minifySyntax: true,
    // A server keeps its text in memory. Stack traces name the lines of the sources instead.
    minifyIdentifiers: true,
    // Node shows the line of an error that nobody has caught.
    lineLimit: 120,
    sourcemap: true,
    sourcesContent: false,
    legalComments: 'none',
    logLevel: 'warning',
  };
  const plugins = [computeData()];
  plugins.push(await joinLateModules(root, { ...options, plugins }));
  if (edit !== undefined) plugins.push(editSources(edit));
  const { outputFiles } = await build({ ...options, write: false, plugins });
  const files = outputFiles.map(({ path, text, contents }) =>
    [path, path.endsWith('.map') ? withLinesOnly(text) : contents]);
  const chunks = join(folder, 'chunks');
  const isChunk = ([path]) => dirname(path) === chunks;
  // A program that starts meanwhile finds the chunks of the main file that it reads.
  replaceFiles(files.filter(isChunk));
  replaceFiles(files.filter((file) => !isChunk(file)));
  // The chunks of the build before have other names.
  if (removeOthers(chunks, files)) {
    // Code that Node has kept of them (cli/process/compile-cache.ts).
    rmSync(join(folder, 'cache'), { recursive: true, force: true });
  }
}

function editSources(edit) {
  const setup = (builder) => {
    builder.onLoad({ filter: /\.ts$/, namespace: 'file' }, ({ path }) =>
      ({ contents: edit(readFileSync(path, 'utf8'), path), loader: 'ts' }));
  };
  return { name: 'edit-sources', setup };
}
