// Makes the console: `console.html`, the page with its style and its first script in it, so that
// the server can name both by their hashes, and `console.js`, the second script, which the page
// fetches when a screen of it is opened (src/console/screens/second-script.ts). What both need is in
// the page alone, as `window.sharedModules`; the second script leaves its exports as
// `window.secondScript`.
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { build } from 'esbuild';
import { computeData } from './computed-data.mjs';

const root = resolve(import.meta.dirname, '..');
const NAME_LENGTH = 22;
const COMMON = {
  absWorkingDir: root,
  bundle: true,
  minify: true,
  target: 'es2023',
  charset: 'utf8',
  legalComments: 'none',
  write: false,
  logLevel: 'warning',
};

export async function buildConsole(folder) {
  const { parts, sharedNames } = await buildParts();
  const first = await joinParts(parts, 'esm', [
    "import * as sharedModules from './shared.js';",
    "import './first.js';",
    'window.sharedModules = sharedModules;',
  ]);
  const second = await joinParts(
    {
      ...parts,
      // Names, not members of an object: each call of them would be longer by some bytes.
      'shared.js': `export const { ${sharedNames.join(', ')} } = window.sharedModules;`,
    }, 'iife', ["export * from './second.js';"]);
  const page = readFileSync(join(root, 'src/console/page.html'), 'utf8')
    .replace('/*style*/', () => parts['style.css'].trim())
    .replace('/*second-script*/', `${hashOf(second)}.js`)
    .replace('/*script*/', () => first);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'console.html'), page);
  writeFileSync(join(folder, 'console.js'), second);
}

/**
 * The text of each part by its name: what both scripts need is in one of its own, which exports
 * `sharedNames`.
 */
async function buildParts() {
  const { outputFiles, metafile } = await build({
    ...COMMON,
    metafile: true,
    entryPoints: {
      first: 'src/console/main.ts',
      second: 'src/console/screens/second-script.ts',
      style: 'src/console/style.css',
    },
    outdir: root,
    format: 'esm',
    splitting: true,
    chunkNames: 'shared',
    plugins: [computeData()],
  });
  const [, { exports: sharedNames }] = Object.entries(metafile.outputs)
    .find(([path]) => basename(path) === 'shared.js');
  const parts = Object.fromEntries(outputFiles.map(({ path, text }) => [basename(path), text]));
  return { parts, sharedNames };
}

/** One script of the parts that `lines` import. */
async function joinParts(parts, format, lines) {
  const setup = (builder) => {
    builder.onResolve({ filter: /^\.\// }, ({ path }) => ({ path, namespace: 'parts' }));
    builder.onLoad({ filter: /^/, namespace: 'parts' }, ({ path }) =>
      ({ contents: parts[path.slice('./'.length)] }));
  };
  const { outputFiles } = await build({
    ...COMMON,
    stdin: { contents: lines.join('\n') },
    format,
    globalName: 'secondScript',
    plugins: [{ name: 'parts', setup }],
  });
  return outputFiles[0].text.trim();
}

function hashOf(text) {
  return createHash('sha256').update(text).digest('base64url').slice(0, NAME_LENGTH);
}
