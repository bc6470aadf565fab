/**
 * Node's compile cache (Node 22.1 and later): V8's code of our modules, kept beside them from one
 * start to the next. `book:list` takes 121 ms of CPU time with it instead of 136 (Node 26,
 * bench `start`). Servers do without: they start seldom, and would hold 1 MB more in memory.
 */
import { lstatSync, mkdirSync } from 'node:fs';
import * as nodeModule from 'node:module';
import { basename, dirname, join } from 'node:path';

const BUNDLE_FOLDER = 'chunks';
const CACHE_FOLDER = 'cache';
const OWNER_ONLY = 0o700;
const WRITABLE_BY_OTHERS = 0o022;

/**
 * Enables the cache for the modules that are imported afterwards. `enable` is Node's function,
 * where there is one, and `folder` holds our bundles. Does nothing when the program belongs to
 * another user, as its folder is not ours to write in, and when others may write to the cache, as
 * its code is run unchecked. A user who may replace the program gains nothing by the cache.
 */
export function useCompileCache(
  folder: string | undefined = import.meta.dirname,
  enable: unknown = Reflect.get(nodeModule, 'enableCompileCache'),
): void {
  // A run from the sources has no bundles, and the single executable no folder.
  if (folder === undefined || basename(folder) !== BUNDLE_FOLDER) return;
  if (typeof enable !== 'function' || !isOurs(dirname(folder))) return;
  const cache = join(dirname(folder), CACHE_FOLDER);
  try {
    mkdirSync(cache, { mode: OWNER_ONLY });
  } catch {
    // The folder exists already, or the installation is read-only.
  }
  if (isOurs(cache, WRITABLE_BY_OTHERS)) enable(cache);
}

function isOurs(folder: string, refusedMode = 0): boolean {
  const status = lstatSync(folder, { throwIfNoEntry: false });
  return status?.isDirectory() === true && status.uid === process.geteuid?.()
    && (status.mode & refusedMode) === 0;
}
