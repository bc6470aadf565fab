/**
 * Custom action modules: files in `<data>/actions/` and paths from the settings. A module is code
 * that runs as us, so one that others could have changed is refused: it, and every folder from the
 * data directory down to it, must be ours or root's.
 */
import { readdirSync, realpathSync } from 'node:fs';
import { basename, dirname, extname, join } from 'node:path';
import { isSea } from 'node:sea';
import { pathToFileURL } from 'node:url';
import { constants, runInThisContext } from 'node:vm';
import { AppError, isError, messageOf, systemCodeOf } from '../../base/errors.ts';
import { findForeignStep, walkPath } from '../../base/files/path-owners.ts';
import type { PathStep } from '../../base/files/path-owners.ts';
import type { ActionSource } from './registry.ts';

/** In the data directory. */
export const ACTIONS_FOLDER = 'actions';

const EXTENSIONS = ['.mjs', '.js'];
const WRITABLE_BY_OTHERS = 0o022;
const STICKY = 0o1000;

/**
 * The default exports of every module, folder first, in order of name. Throws `usage` with the name
 * of the first file that is not safe or does not load.
 */
export async function loadActionModules(options: {
  /** `<data>/actions`; need not exist. */
  readonly folder: string;
  readonly paths: readonly string[];
}): Promise<ActionSource[]> {
  const sources: ActionSource[] = [];
  for (const file of filesIn(options.folder)) {
    sources.push(await loadModule(file, () => trustedPath(options.folder, file)));
  }
  for (const path of options.paths) {
    sources.push(await loadModule(path, () => trustedNamedPath(path)));
  }
  return sources;
}

function filesIn(folder: string): string[] {
  try {
    return readdirSync(folder).filter((name) => EXTENSIONS.includes(extname(name)))
      .sort().map((name) => join(folder, name));
  } catch (thrown) {
    if (systemCodeOf(thrown) === 'ENOENT') return [];
    throw new AppError('usage', `${folder}: ${messageOf(thrown)}`, {}, thrown);
  }
}

/** What is to be loaded: links are followed, since what counts is the file that would run. */
function trustedPath(folder: string, file: string): string {
  const data = realpathSync(dirname(folder));
  const { steps, nearest } = walkPath(join(data, basename(folder), basename(file)));
  const below = steps.slice(walkPath(data).steps.length - 1);
  for (const step of below) refuseUnlessTrusted(step);
  return nearest.path;
}

// Whoever wrote the settings vouches for the way there, but not with the rights of root.
function trustedNamedPath(path: string): string {
  const { steps, nearest, isThere } = walkPath(path);
  // The loader says it best.
  if (!isThere) return path;
  const us = process.geteuid?.() ?? 0;
  const foreign = findForeignStep(us === 0 ? steps : steps.slice(-1), us);
  if (foreign !== undefined) refuse(foreign);
  return nearest.path;
}

function refuseUnlessTrusted(step: PathStep): void {
  const { uid, mode, isDirectory, isLink } = step;
  const us = process.geteuid?.() ?? 0;
  const isWritable = !isLink && (mode & WRITABLE_BY_OTHERS) !== 0;
  const isShared = isWritable && !(isDirectory && (mode & STICKY) !== 0);
  if ((uid !== 0 && uid !== us) || isShared) refuse(step);
}

function refuse({ path, uid }: PathStep): never {
  const us = process.geteuid?.() ?? 0;
  throw new AppError('usage', uid === 0 || uid === us
    ? `${path}: is writable by group or others; run: chmod go-w '${path}'`
    : `${path}: is user ${uid}'s, neither ours nor root's; run: chown ${us} '${path}'`);
}

async function loadModule(path: string, trusted: () => string): Promise<ActionSource> {
  try {
    const module = await importFile(pathToFileURL(trusted()).href);
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

// In the single binary `import()` knows the built-in modules alone; a script that is told to use
// the default loader finds files as well.
function importFile(url: string): Promise<unknown> {
  if (!isSea()) return import(url);
  const load: unknown = runInThisContext('(url) => import(url)', {
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  });
  return typeof load === 'function' ? load(url) : Promise.reject(new Error('no module loader'));
}
