/**
 * Finds custom action modules, files in `<data>/actions/` and paths from the settings, and has them
 * loaded into the action worker. A module is code that runs with our rights, so one that others
 * could have changed is refused (ownership.ts): the file, and every folder from the data directory
 * down to it. For a path from the settings, the author of the settings vouches for the folders,
 * unless we are root.
 */
import { readdirSync, realpathSync } from 'node:fs';
import { basename, dirname, extname, join } from 'node:path';
import { systemClock, type Clock } from '../../../base/clock.ts';
import { AppError, systemCodeOf } from '../../../base/errors.ts';
import { explainFileError } from '../../../base/file-error.ts';
import { DOCUMENT_BYTES_MAX, readBounded } from '../../../base/files/bounded-read.ts';
import { checkOwnership, checkWayAsRoot } from '../../../base/files/ownership.ts';
import { walkPath, type PathStep } from '../../../base/files/path-owners.ts';
import { lazyImport } from '../../../base/lazy-import.ts';
import type { Logger } from '../../../base/log.ts';
import type { ActionSource } from '../action-registry.ts';
import type { ModuleFile } from './action-modules.ts';

export const ACTIONS_FOLDER = 'actions';

const EXTENSIONS = ['.mjs', '.js'];

export const BUILT_IN_ACTIONS = ['emit-event', 'http-forward', 'log', 'run-command'];

/** A command may need only the modules that may have one action. */
export type ModuleSelection = 'all' | 'none' | { readonly ofAction: string };

type LoadedActions = {
  readonly sources: readonly ActionSource[];
  readonly close: () => Promise<void>;
};

// Most servers have no modules, and start no worker.
const loadWorker = lazyImport(() => import('./action-modules.ts'));

/** Throws `usage` with the name of the first file that is not safe, or does not load. */
export async function loadActionModules(options: {
  /** `<data>/actions`; need not exist. */
  readonly folder: string;
  readonly paths: readonly string[];
  readonly selection?: ModuleSelection;
  readonly log: Logger;
  readonly clock?: Clock;
  readonly callTimeoutMs: number;
  readonly memoryMiBMax: number;
}): Promise<LoadedActions> {
  const files = findActionModules(options);
  if (files.length === 0) return { sources: [], close: async () => {} };
  return loadWorker(async ({ ActionModules }) => {
    const modules = new ActionModules(files, { clock: systemClock, ...options });
    try {
      return { sources: await modules.load(), close: () => modules.close() };
    } catch (thrown) {
      await modules.close();
      throw thrown;
    }
  });
}

/** The files of the folder come first, sorted by name. Throws `usage` for an unreadable folder. */
export function findActionModules(options: {
  /** `<data>/actions`; need not exist. */
  readonly folder: string;
  readonly paths: readonly string[];
  readonly selection?: ModuleSelection;
}): ModuleFile[] {
  const { folder, paths, selection = 'all' } = options;
  if (selection === 'none') return [];
  const files = [
    ...listModuleFiles(folder).map((origin) =>
      ({ origin, resolvePath: () => resolveTrustedPath(folder, origin) })),
    ...paths.map((origin) => ({ origin, resolvePath: () => resolveTrustedNamedPath(origin) })),
  ];
  return selection === 'all' ? files
    : files.filter(({ origin }) => mayBringAction(origin, selection.ofAction));
}

/**
 * Whether a module may have the action: its file has that name, or its text has the identifier in
 * quotes. A file that cannot be read may have any action: loading it says why.
 */
function mayBringAction(file: string, action: string): boolean {
  if (BUILT_IN_ACTIONS.includes(action)) return false;
  if (basename(file, extname(file)) === action) return true;
  try {
    const { bytes } = readBounded(file, { bytesMax: DOCUMENT_BYTES_MAX, isRegular: true });
    return ['"', "'", '`'].some((quote) => bytes.includes(`${quote}${action}${quote}`));
  } catch {
    return true;
  }
}

function listModuleFiles(folder: string): string[] {
  try {
    return readdirSync(folder).filter((name) => EXTENSIONS.includes(extname(name)))
      .sort().map((name) => join(folder, name));
  } catch (thrown) {
    if (systemCodeOf(thrown) === 'ENOENT') return [];
    throw new AppError('usage', `${folder}: ${explainFileError(thrown)}`, {}, thrown);
  }
}

/** Links are followed: the file that would run is the one to check. */
function resolveTrustedPath(folder: string, file: string): string {
  const data = realpathSync(dirname(folder));
  const { steps, nearest } = walkPath(join(data, basename(folder), basename(file)));
  const below = steps.slice(walkPath(data).steps.length - 1);
  for (const step of below) checkOwnership(step);
  return assertRegularFile(nearest);
}

function resolveTrustedNamedPath(path: string): string {
  const walk = walkPath(path);
  // The loader of modules has the better message.
  if (!walk.exists) return path;
  checkWayAsRoot(walk);
  checkOwnership(walk.nearest);
  return assertRegularFile(walk.nearest);
}

/** Throws `usage` for anything but a regular file: reading a pipe could wait for ever. */
function assertRegularFile({ path, isFile }: PathStep): string {
  if (isFile) return path;
  throw new AppError('usage', `${path}: is not a regular file, as a module must be`);
}
