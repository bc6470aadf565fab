/**
 * Custom action modules: files in `<data>/actions/` and paths from the settings. A module is code
 * that runs as us, so one that others could have changed is refused.
 */
import { readdirSync, realpathSync, statSync } from 'node:fs';
import { extname, join } from 'node:path';
import { isSea } from 'node:sea';
import { pathToFileURL } from 'node:url';
import { constants, runInThisContext } from 'node:vm';
import { AppError, isError, messageOf, systemCodeOf } from '../../base/errors.ts';
import type { ActionSource } from './registry.ts';

const EXTENSIONS = ['.mjs', '.js'];
const WRITABLE_BY_OTHERS = 0o022;

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
    refuseWritable(options.folder);
    refuseWritable(file);
    sources.push(await loadModule(file));
  }
  for (const path of options.paths) sources.push(await loadModule(path));
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

// stat follows links: what counts is the file that would run.
function refuseWritable(path: string): void {
  if ((statSync(path).mode & WRITABLE_BY_OTHERS) === 0) return;
  throw new AppError('usage',
    `${path}: is writable by group or others; run: chmod go-w '${path}'`);
}

async function loadModule(path: string): Promise<ActionSource> {
  try {
    const module = await importFile(pathToFileURL(realpathSync(path)).href);
    const actionClass = typeof module === 'object' && module !== null && 'default' in module
      ? module.default : undefined;
    return { actionClass, origin: path };
  } catch (thrown) {
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
