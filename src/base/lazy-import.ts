/**
 * Modules that are loaded when they are first needed. An idle server needs none of them, and each
 * would take it some 40 KB.
 */

/** Calls `use` with the module: at once when it is loaded, so that only the first use waits. */
type LazyModule<Module> =
  <Result>(use: (module: Module) => Result | Promise<Result>) => Result | Promise<Result>;

const loaders = new Set<() => Promise<unknown>>();

/** `load` imports the module. For the top level of a module: what is late is known for good. */
export function lazyImport<Module>(load: () => Promise<Module>): LazyModule<Module> {
  let loaded: Module | null = null;
  let loading: Promise<Module> | null = null;
  const loadOnce = async (): Promise<Module> => {
    try {
      return loaded = await (loading ??= load());
    } finally {
      // What could not be read may be readable at the next use.
      loading = null;
    }
  };
  loaders.add(loadOnce);
  return (use) => loaded === null ? loadOnce().then(use) : use(loaded);
}

/**
 * Loads them all, for a process that is about to become a user who may not read the program. What
 * a late module itself has left for later is among them.
 */
export async function loadLazyModules(): Promise<void> {
  for (const load of loaders) await load();
}
