// Puts the data that a module computes in place of the module: what it computes them from is not
// loaded then.
import { resolve } from 'node:path';
import { build } from 'esbuild';

const root = resolve(import.meta.dirname, '..');
// The options of commands. The parameters and schemas of routes, which they follow from, are a third
// of what a command would load.
const COMPUTED = 'src/cli/commands/route-options.ts';

/** The plugin for a build. */
export async function computeData() {
  const { outputFiles: [{ contents }] } = await build({
    absWorkingDir: root, entryPoints: [COMPUTED], bundle: true, format: 'esm', platform: 'node',
    write: false,
  });
  const base64 = Buffer.from(contents).toString('base64');
  const values = Object.entries(await import(`data:text/javascript;base64,${base64}`));
  const data = values.map(([name, value]) => `export const ${name} = ${JSON.stringify(value)};`);
  const setup = (builder) => {
    builder.onLoad({ filter: /\/route-options\.ts$/ }, () => ({ contents: data.join('\n') }));
  };
  return { name: 'compute-data', setup };
}
