// Says to esbuild what is loaded together, so that it makes few chunks. It makes one for every set of
// entries that share modules, each module that is imported late is an entry, and of 100 chunks that a
// server would load at its start each takes Node a quarter of a millisecond. But when a late module
// is imported, the part of the program that it belongs to is loaded already, and of the commands,
// those that need much may well load each other: 12 chunks are left. So that esbuild sees it, each
// late module is imported through one that imports those others as well.
import { relative, resolve } from 'node:path';
import { build } from 'esbuild';

const APP = 'src/app.ts';
const COMMAND_LINE = 'src/cli/run.ts';
const OF_COMMAND_LINE = /^src\/(cli\/|main\.ts$)/;
// The server is no command among others: it stays in memory.
const OF_SERVER = /^src\/cli\/(commands\/serve|process)\//;
// A command that needs less than this below the command line loads only such commands.
const SMALL_BYTES_MAX = 150_000;

/** The plugin for a build with these options. */
export async function joinLateModules(root, options) {
  const { metafile } = await build({ ...options, write: false, metafile: true });
  const companions = companionsOf(metafile.inputs);
  const setup = (builder) => {
    builder.onResolve({ filter: /^\.\.?\// }, ({ path, kind, resolveDir }) =>
      kind === 'dynamic-import' ? { path: resolve(resolveDir, path), namespace: 'late' } : undefined);
    builder.onLoad({ filter: /^/, namespace: 'late' }, ({ path }) => ({
      contents: [
        ...companions.get(relative(root, path)).map((other) => `import './${other}';`),
        `export * from ${JSON.stringify(path)};`,
      ].join('\n'),
      resolveDir: root,
    }));
  };
  return { name: 'join-late-modules', setup };
}

/** For each late module those that are loaded with it, if they are not loaded before. */
function companionsOf(inputs) {
  const importers = new Map();
  for (const [importer, { imports }] of Object.entries(inputs)) {
    for (const { path, kind, external } of imports) {
      if (kind !== 'dynamic-import' || external) continue;
      importers.set(path, [...importers.get(path) ?? [], importer]);
    }
  }
  const late = [...importers.keys()];
  const isOfApp = (path) => !importers.get(path).some((one) => OF_COMMAND_LINE.test(one));
  const commands = late.filter((path) => !isOfApp(path) && !OF_SERVER.test(path)
    && path !== COMMAND_LINE && path !== APP);
  const joined = commands.filter((path) => !reachedFrom(path, inputs).has(APP));
  const small = joined.filter((path) => isSmall(path, inputs));
  return new Map(late.map((path) => {
    if (isOfApp(path)) return [path, [APP]];
    if (!commands.includes(path)) return [path, [COMMAND_LINE]];
    return [path, [COMMAND_LINE, ...small.includes(path) ? small : joined]];
  }));
}

function isSmall(path, inputs) {
  const below = [...reachedFrom(path, inputs)].filter((one) => !OF_COMMAND_LINE.test(one));
  return below.reduce((sum, one) => sum + inputs[one].bytes, 0) <= SMALL_BYTES_MAX;
}

/** The modules that a module loads before it can run, itself among them. */
function reachedFrom(path, inputs, reached = new Set()) {
  if (reached.has(path)) return reached;
  reached.add(path);
  for (const { path: next, kind, external } of inputs[path].imports) {
    if (kind === 'import-statement' && !external) reachedFrom(next, inputs, reached);
  }
  return reached;
}
