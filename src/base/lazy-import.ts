/**
 * Loads modules when they are first needed, and keeps them: a second `import()` would look at the
 * file again, and by then we may be a user who may not read the program. Lazy are the modules that
 * an idle server does not need and that take much memory. In KB of its heap: imports, and engines
 * with several nodes, 500; the HTTP client 340; the list of books with its indexes 240; a format of
 * books 15 to 220; custom actions 130; hook commands 120; the matching of imports 110; the
 * configuration 110; diagnoses 100; documents 50. For smaller modules the lines cost more than the
 * memory.
 */
import { statSync } from 'node:fs';
import { AppError, systemCodeOf } from './errors.ts';
import type { MaybePromise } from './when-done.ts';

export type LazyModule<Module> = {
  (): Promise<Module>;
  /** Calls `use` with the module, at once when it is loaded: only the first use waits. */
  <Result>(use: (module: Module) => MaybePromise<Result>): MaybePromise<Result>;
};

const REPLACED = 'the program was replaced while it ran (by npm install or a build): restart it';
// Node's loader looks for a file before it reads it.
const MISSING_CODES = ['ERR_MODULE_NOT_FOUND', 'ENOENT'];

/** A module cannot be loaded, as its file is gone: only a restart helps. */
export class ProgramReplacedError extends AppError {
  constructor(cause: unknown) {
    super('unavailable', REPLACED, {}, cause);
  }
}

/**
 * The message of a `ProgramReplacedError`, where one would be thrown; else null. A build gives its
 * files new names when anything has changed, so that one file stands for all that it imports.
 * `file` is undefined in the single binary, of which the running process keeps the whole.
 */
export function findReplacement(file: string | undefined): string | null {
  try {
    return file === undefined || statSync(file, { throwIfNoEntry: false }) ? null : REPLACED;
  } catch {
    // We may be a user who may not look there, and has loaded everything ahead.
    return null;
  }
}

const loaders = new Set<() => Promise<unknown>>();

/**
 * `load` imports the module; a use rejects with `ProgramReplacedError` where its file is gone. Call
 * this at the top level of a module, so that `loadLazyModules` knows it.
 */
export function lazyImport<Module>(load: () => Promise<Module>): LazyModule<Module> {
  let module: Module | null = null;
  let loading: Promise<Module> | null = null;
  const loadOnce = async (): Promise<Module> => {
    try {
      return module = await (loading ??= load());
    } catch (thrown) {
      if (!MISSING_CODES.includes(systemCodeOf(thrown) ?? '')) throw thrown;
      throw new ProgramReplacedError(thrown);
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
