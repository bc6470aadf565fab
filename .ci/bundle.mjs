// Makes of files of tests what node runs as it is. A process that takes its TypeScript from tsx
// spends 1.4 s of processor time to load the whole program under Node 20, one with a bundle 0.2 s.
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const root = resolve(import.meta.dirname, '..');
const cache = join(root, 'node_modules/.cache/hookshelf');
const PLACES = ['url', 'filename', 'dirname'];
const constantOf = (name) => `import_meta_${name}`;

/** What every bundle of ours has in common. */
export const COMMON = {
  bundle: true,
  platform: 'node',
  target: 'node20',
  packages: 'external',
  logLevel: 'warning',
  define: Object.fromEntries(PLACES.map((name) => [`import.meta.${name}`, constantOf(name)])),
};

/**
 * Modules as `edit(text, path)` makes them, which know where their source lies, not where the bundle
 * does.
 */
export function sources(edit = (text) => text) {
  const setup = (bundler) => {
    bundler.onLoad({ filter: /\.m?[jt]s$/, namespace: 'file' }, ({ path }) => {
      const text = edit(readFileSync(path, 'utf8'), path);
      const values = { url: pathToFileURL(path).href, filename: path, dirname: dirname(path) };
      const constants = PLACES.filter((name) => text.includes(`import.meta.${name}`))
        .map((name) => `const ${constantOf(name)}=${JSON.stringify(values[name])};`);
      // On the first line, so that all lines keep their numbers.
      return { contents: constants.join('') + text, loader: path.endsWith('ts') ? 'ts' : 'js' };
    });
  };
  return { name: 'sources', setup };
}

/** Calls `use` with a folder for bundles, and removes it. */
export async function withFolder(use) {
  mkdirSync(cache, { recursive: true });
  // Below our node_modules, so that packages are found; source-places.mjs knows its name.
  const folder = mkdtempSync(join(cache, 'tests-'));
  try {
    return await use(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/**
 * Makes a bundle for each list of files, in that order also by name: their paths. What several of
 * them import is in files that they share. `edit` is that of `sources`.
 */
export async function bundleTests(lists, folder, edit) {
  const names = lists.map(nameOf);
  await build({
    ...COMMON,
    entryPoints: names.map((name) => ({ in: `files:${name}`, out: name })),
    outdir: folder,
    outExtension: { '.js': '.mjs' },
    format: 'esm',
    splitting: true,
    sourcemap: 'external',
    sourcesContent: false,
    plugins: [entries(new Map(names.map((name, index) => [name, lists[index]]))), sources(edit)],
  });
  return names.map((name) => join(folder, `${name}.mjs`));
}

/** Begins with its place in the order, and says what is in it, for a run that fails as a whole. */
function nameOf([first, ...others], index) {
  const number = String(index).padStart(4, '0');
  const path = relative(root, resolve(first)).replace(/\.[mt]s$/, '').replace(/[^\w.]+/g, '-');
  return `${number}-${path}${others.length > 0 ? `-and-${others.length}-others` : ''}`;
}

/** An entry imports its files, one after the other. */
function entries(filesOf) {
  const setup = (bundler) => {
    bundler.onResolve({ filter: /^files:/ }, ({ path }) =>
      ({ path: path.slice('files:'.length), namespace: 'files' }));
    bundler.onLoad({ filter: /^/, namespace: 'files' }, ({ path }) => ({
      contents: filesOf.get(path)
        .map((file) => `import ${JSON.stringify(resolve(file))};`).join(''),
      resolveDir: root,
    }));
  };
  return { name: 'entries', setup };
}
