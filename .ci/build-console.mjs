// Makes dist/console: `page.html`, the page with its style and its first script in it, so that the
// server can name both by their hashes, and the scripts that the page fetches when a screen of them
// is opened. Each src/console/screens/<name>-script.ts is one of these, `<name>-<hash>.js`; what
// more than one of them needs, and the page does not, is in `common-<hash>.js`, which the page runs
// before them (src/console/screens/script-loader.ts).
//
// esbuild splits them into parts: one for each script, and one for each set of scripts that share
// modules. A part is in one file, which leaves the part's exports in `window.parts`, by the name of
// the part, where the other files find them.
import { createHash } from 'node:crypto';
import { readFileSync, readdirSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { build } from 'esbuild';
import { computeData } from './computed-data.mjs';
import { removeOthers, replaceFiles } from './replace-files.mjs';

const root = resolve(import.meta.dirname, '..');
const SCREENS = 'src/console/screens';
const SCRIPT_FILE = /^([a-z]+)-script\.ts$/;
const HASH_LENGTH = 16;
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
  const scriptNames = readdirSync(join(root, SCREENS))
    .flatMap((file) => SCRIPT_FILE.exec(file)?.[1] ?? []);
  const parts = await buildParts(scriptNames);
  const pageParts = importedParts(parts, 'page');
  const commonParts = [...parts.keys()].filter((name) =>
    name !== 'style' && !pageParts.includes(name) && !scriptNames.includes(name));
  // A part without code, by which the page knows that the script has run.
  parts.set('common', { text: '', exports: [], imports: [] });
  const files = new Map();
  for (const [name, ...others] of [
    ['common', ...commonParts], ...scriptNames.map((scriptName) => [scriptName]),
  ]) {
    const text = await joinParts(parts, [name, ...others], 'iife');
    files.set(`${name}-${hashOf(text)}.js`, text);
  }
  const script = await joinParts(parts, pageParts, 'esm');
  files.set('page.html', readFileSync(join(root, 'src/console/page.html'), 'utf8')
    .replace('/*style*/', () => parts.get('style').text.trim())
    .replace('/*scripts*/', [...files.keys()].join(' '))
    .replace('/*script*/', () => script));
  writeFiles(join(folder, 'console'), files);
}

/** Each part by its name: its text, its exports, and the names of the parts that it imports. */
async function buildParts(scriptNames) {
  const { outputFiles, metafile } = await build({
    ...COMMON,
    metafile: true,
    entryPoints: {
      page: 'src/console/main.ts',
      ...Object.fromEntries(scriptNames.map((name) => [name, `${SCREENS}/${name}-script.ts`])),
      style: 'src/console/style.css',
    },
    outdir: root,
    format: 'esm',
    splitting: true,
    chunkNames: '[hash]',
    plugins: [computeData()],
  });
  return new Map(outputFiles.map(({ path, text }) => {
    const { exports, imports } = metafile.outputs[basename(path)];
    return [partName(path), { text, exports, imports: imports.map((one) => partName(one.path)) }];
  }));
}

function partName(path) {
  return basename(path).replace(/\.\w+$/, '');
}

/** The part and all that it needs. */
function importedParts(parts, name) {
  const names = new Set([name]);
  for (const reached of names) parts.get(reached).imports.forEach((one) => names.add(one));
  return [...names];
}

/** One script of the parts of these names; the other parts have run before it. */
async function joinParts(parts, names, format) {
  const setup = (builder) => {
    builder.onResolve({ filter: /^\.\// }, ({ path }) =>
      ({ path: partName(path), namespace: 'parts' }));
    builder.onLoad({ filter: /^/, namespace: 'parts' }, ({ path: name }) => {
      const { text, exports } = parts.get(name);
      if (names.includes(name)) return { contents: text };
      // Names, not members of an object: each call of them would be longer by some bytes.
      return { contents: `export const { ${exports.join(', ')} } = window.parts['${name}'];` };
    });
  };
  const { outputFiles } = await build({
    ...COMMON,
    stdin: {
      contents: [
        ...names.map((name, index) => `import * as part${index} from './${name}.js';`),
        `window.parts = { ...window.parts, ${
          names.map((name, index) => `'${name}': part${index}`).join(', ')} };`,
      ].join('\n'),
    },
    format,
    plugins: [{ name: 'parts', setup }],
  });
  return outputFiles[0].text.trim();
}

function hashOf(text) {
  return createHash('sha256').update(text).digest('hex').slice(0, HASH_LENGTH);
}

/** Scripts of the build before go: they have other names. The page is written last. */
function writeFiles(folder, texts) {
  const files = [...texts].map(([name, text]) => [join(folder, name), text]);
  replaceFiles(files);
  removeOthers(folder, files);
}
