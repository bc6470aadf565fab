/**
 * Loads modules when they are first used. An idle server needs none of them, and each would take it
 * some 40 KB.
 */

/** Calls `use` with the module, at once when it is loaded: only the first use waits. */
export type LazyModule<Module> =
  <Result>(use: (module: Module) => Result | Promise<Result>) => Result | Promise<Result>;

const loaders = new Set<() => Promise<unknown>>();

/**
 * `load` imports the module. Call this at the top level of a module, so that `loadLazyModules`
 * knows it.
 */
export function lazyImport<Module>(load: () => Promise<Module>): LazyModule<Module> {
  let module: Module | null = null;
  let loading: Promise<Module> | null = null;
  const loadOnce = async (): Promise<Module> => {
    try {
      return module = await (loading ??= load());
    } finally {
      // A module that could not be read may be readable at the next use.
      loading = null;
    }
  };
  loaders.add(loadOnce);
  return (use) => module === null ? loadOnce().then(use) : use(module);
}

/**
 * Loads all lazy modules, and those that they import lazily, for a process that is about to become
 * a user who may not read the program.
 */
export async function loadLazyModules(): Promise<void> {
  for (const load of loaders) await load();
}
