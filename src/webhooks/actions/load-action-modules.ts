/**
 * Loads custom action modules: files in `<data>/actions/` and paths from the settings. A module is
 * code that runs with our rights, so one that others could have changed is refused (ownership.ts):
 * the file, and every folder from the data directory down to it. For a path from the settings, the
 * author of the settings vouches for the folders, unless we are root.
 */
import { readdirSync, realpathSync } from 'node:fs';
import { basename, dirname, extname, join } from 'node:path';
import { isSea } from 'node:sea';
import { pathToFileURL } from 'node:url';
import { constants, runInThisContext } from 'node:vm';
import { AppError, isError, messageOf, systemCodeOf } from '../../base/errors.ts';
import { checkOwnership } from '../../base/files/ownership.ts';
import { findUntrustedStep, walkPath } from '../../base/files/path-owners.ts';
import type { PathStep } from '../../base/files/path-owners.ts';
import type { ActionSource } from './action-registry.ts';

/** The name of the folder in the data directory. */
export const ACTIONS_FOLDER = 'actions';

const EXTENSIONS = ['.mjs', '.js'];

/**
 * The default export of each module, those of the folder first, sorted by name. Throws `usage` with
 * the name of the first file that is not safe or does not load.
 */
export async function loadActionModules(options: {
  /** `<data>/actions`; need not exist. */
  readonly folder: string;
  readonly paths: readonly string[];
}): Promise<ActionSource[]> {
  const sources: ActionSource[] = [];
  for (const file of listModuleFiles(options.folder)) {
    sources.push(await loadModule(file, () => resolveTrustedPath(options.folder, file)));
  }
  for (const path of options.paths) {
    sources.push(await loadModule(path, () => resolveTrustedNamedPath(path)));
  }
  return sources;
}

function listModuleFiles(folder: string): string[] {
  try {
    return readdirSync(folder).filter((name) => EXTENSIONS.includes(extname(name)))
      .sort().map((name) => join(folder, name));
  } catch (thrown) {
    if (systemCodeOf(thrown) === 'ENOENT') return [];
    throw new AppError('usage', `${folder}: ${messageOf(thrown)}`, {}, thrown);
  }
}

/** The path to load. Links are followed, as the file that would run is the one to check. */
function resolveTrustedPath(folder: string, file: string): string {
  const data = realpathSync(dirname(folder));
  const { steps, nearest } = walkPath(join(data, basename(folder), basename(file)));
  const below = steps.slice(walkPath(data).steps.length - 1);
  for (const step of below) checkOwnership(step);
  return assertRegularFile(nearest);
}

function resolveTrustedNamedPath(path: string): string {
  const { steps, nearest, exists } = walkPath(path);
  // The loader has the better message.
  if (!exists) return path;
  const untrustedStep = process.geteuid?.() === 0 ? findUntrustedStep(steps, 0) : undefined;
  checkOwnership(untrustedStep ?? nearest);
  return assertRegularFile(nearest);
}

/** Throws `usage` unless it is a regular file: reading a pipe could wait for ever. */
function assertRegularFile({ path, isFile }: PathStep): string {
  if (isFile) return path;
  throw new AppError('usage', `${path}: is not a regular file, as a module must be`);
}

async function loadModule(path: string, resolvePath: () => string): Promise<ActionSource> {
  try {
    const module = await importFile(pathToFileURL(resolvePath()).href);
    const actionClass = typeof module === 'object' && module !== null && 'default' in module
      ? module.default : undefined;
    return { actionClass, origin: path };
  } catch (thrown) {
    if (thrown instanceof AppError) throw thrown;
    const hint = isError(thrown) && thrown.name === 'SyntaxError' && extname(path) === '.js'
      ? ' (an ES module whose folder has no package.json of "type": "module" must end in .mjs)'
      : '';
    throw new AppError('usage', `${path}: ${messageOf(thrown)}${hint}`, {}, thrown);
  }
}

// In the single binary `import()` finds built-in modules alone. A script that uses the default
// loader finds files as well.
function importFile(url: string): Promise<unknown> {
  if (!isSea()) return import(url);
  const load: unknown = runInThisContext('(url) => import(url)', {
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  });
  return typeof load === 'function' ? load(url) : Promise.reject(new Error('no module loader'));
}
