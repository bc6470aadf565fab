// Puts the data that a module computes in place of the module: what it computes them from is not
// loaded then.
import { resolve } from 'node:path';
import { build } from 'esbuild';

const root = resolve(import.meta.dirname, '..');
// The options of commands: the parameters and schemas of routes, which they follow from, are a third
// of what a command would load. And names and labels of the console, whose page has no more of the program.
const COMPUTED = /\/(route-options|book-labels|book-choices)\.ts$/;

const texts = new Map();

/** The plugin for a build. */
export function computeData() {
  const setup = (builder) => {
    builder.onLoad({ filter: COMPUTED }, async ({ path }) => {
      if (!texts.has(path)) texts.set(path, computeText(path));
      return { contents: await texts.get(path) };
    });
  };
  return { name: 'compute-data', setup };
}

async function computeText(path) {
  const { outputFiles: [{ contents }] } = await build({
    absWorkingDir: root, entryPoints: [path], bundle: true, format: 'esm', platform: 'node',
    write: false,
  });
  const base64 = Buffer.from(contents).toString('base64');
  const values = Object.entries(await import(`data:text/javascript;base64,${base64}`));
  return values.map(([name, value]) => `export const ${name} = ${JSON.stringify(value)};`).join('\n');
}
