/**
 * Modules that are loaded when they are first needed. An idle server needs none of them, and each
 * would take it some 40 KB.
 */

/** Calls `use` with the module, at once when it is loaded: only the first use waits. */
type LazyModule<Module> =
  <Result>(use: (module: Module) => Result | Promise<Result>) => Result | Promise<Result>;

const loaders = new Set<() => Promise<unknown>>();

/** `load` imports the module. Call it at the top level of a module, so that all are known. */
export function lazyImport<Module>(load: () => Promise<Module>): LazyModule<Module> {
  let loaded: Module | null = null;
  let loading: Promise<Module> | null = null;
  const loadOnce = async (): Promise<Module> => {
    try {
      return loaded = await (loading ??= load());
    } finally {
      // A module that could not be read may be readable at the next use.
      loading = null;
    }
  };
  loaders.add(loadOnce);
  return (use) => loaded === null ? loadOnce().then(use) : use(loaded);
}

/**
 * Loads all of them, and those that they import lazily, for a process that is about to become a
 * user who may not read the program.
 */
export async function loadLazyModules(): Promise<void> {
  for (const load of loaders) await load();
}
