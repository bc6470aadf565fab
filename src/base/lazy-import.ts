/**
 * Loads modules when they are first needed, and keeps them: a second `import()` would look at the
 * file again, and by then we may be a user who may not read the program. Lazy are the modules that
 * an idle server does not need and that take much memory. In KB of its heap: imports, and engines
 * with several nodes, 500; the HTTP client 340; the list of books with its indexes 240; a format of
 * books 15 to 220; custom actions 130; hook commands 120; the matching of imports 110; the
 * configuration 110; diagnoses 100; documents 50. For smaller modules the lines cost more than the
 * memory.
 */
import type { MaybePromise } from './when-done.ts';

export type LazyModule<Module> = {
  (): Promise<Module>;
  /** Calls `use` with the module, at once when it is loaded: only the first use waits. */
  <Result>(use: (module: Module) => MaybePromise<Result>): MaybePromise<Result>;
};

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
  return <Result>(use?: (module: Module) => MaybePromise<Result>) => {
    if (use === undefined) return Promise.resolve(module ?? loadOnce());
    return module === null ? loadOnce().then(use) : use(module);
  };
}

/**
 * Loads all lazy modules, and those that they import lazily, for a process that is about to become
 * a user who may not read the program.
 */
export async function loadLazyModules(): Promise<void> {
  for (const load of loaders) await load();
}
