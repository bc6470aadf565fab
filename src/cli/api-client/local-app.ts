/** Finds the process that holds a data directory, and opens the app here when there is none. */
import { lstatSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { AppError } from '../../base/errors.ts';
import { findOwnerProblem, formatChown } from '../../base/files/ownership.ts';
import type { LogLevel } from '../../base/log.ts';
import type { Settings } from '../../settings/load-settings.ts';
import {
  ACTIONS_FOLDER, findActionModules,
} from '../../webhooks/actions/modules/load-action-modules.ts';
import type { ModuleSelection } from '../../webhooks/actions/modules/load-action-modules.ts';
import { readLockOwner } from '../../store/lock/directory-lock.ts';
import type { Io } from '../terminal/process-io.ts';
import { createProcessLogger } from '../terminal/process-logger.ts';

/** The process that holds a data directory; `socketPath` is null while it serves none. */
export type DirectoryOwner = { readonly pid: number; readonly socketPath: string | null };

/** The app opened in this process; the listener serves its routes. */
export interface LocalApp {
  readonly requestListener: RequestListener;
  close(): Promise<void>;
}

/** The custom action modules that are loaded here. */
export type ModuleLoading = {
  readonly selection: ModuleSelection;
  /** Gets a line that names them before they are loaded: their code runs with our rights. */
  readonly onLoad: (line: string) => void;
};

type LocalAppOptions = {
  /** The data directory, absolute. */
  readonly data: string;
  readonly settings: Settings;
  readonly io: Io;
  readonly modules: ModuleLoading;
  /** Lines below it are no news at a prompt, whatever `log.level` says. */
  readonly lowestLevel: LogLevel;
};

let loadingApp: Promise<typeof import('../../app.ts')> | null = null;

/**
 * The app is large: it is not loaded where a server answers, nor ahead by `loadLazyModules` in a
 * process that follows one. It is kept, as we may soon be a user who may not read the program.
 */
export function loadApp(): Promise<typeof import('../../app.ts')> {
  return loadingApp ??= import('../../app.ts');
}

/**
 * Throws `usage` where another user owns the lock or the socket that it names: our requests would
 * go to a program of theirs.
 */
export function findOwner(data: string): DirectoryOwner | null {
  const owner = readLockOwner(data);
  if (owner === null) return null;
  const paths = [data, join(data, 'lock'), ...owner.socketPath === null ? [] : [owner.socketPath]];
  for (const path of paths) rejectUntrustedOwner(path);
  return owner;
}

/** The same, but null where the socket does not lie in the directory itself: no file holds one. */
export function findOwnerWithin(data: string): DirectoryOwner | null {
  const owner = findOwner(data);
  if (owner === null || owner.socketPath === null) return null;
  const isSocket = lstatSync(owner.socketPath, { throwIfNoEntry: false })?.isSocket() === true;
  return isSocket && realpathSync(dirname(owner.socketPath)) === realpathSync(data) ? owner : null;
}

function rejectUntrustedOwner(path: string): void {
  const status = lstatSync(path, { throwIfNoEntry: false });
  const problem = status === undefined ? null : findOwnerProblem(status.uid);
  if (problem === null) return;
  throw new AppError('usage', `${path} ${problem}: name another directory with --data, or run this `
    + `as its user, or: ${formatChown(path)}`);
}

/** Throws `conflict` when another process holds the directory. */
export async function openLocalApp(
  { data, settings, io, modules: { selection, onLoad }, lowestLevel }: LocalAppOptions,
): Promise<LocalApp> {
  const modules = findActionModules({
    folder: join(data, ACTIONS_FOLDER), paths: settings.actions.modules, selection,
  });
  if (modules.length > 0) {
    const paths = modules.map(({ origin }) => origin).join(', ');
    const noun = modules.length === 1 ? 'module' : 'modules';
    onLoad(`no server runs, so this loads the action ${noun} ${paths}`);
  }
  const logger = createProcessLogger(settings, io, lowestLevel);
  const { openApp } = await loadApp();
  const app = await openApp({
    data, logger, role: 'command', moduleSelection: selection,
    // No browser reaches a command, so CORS is off: with `*` and no token the app would not open,
    // and the command could not make one. Its own requests are no news either, however slow.
    settings: {
      ...settings,
      server: { ...settings.server, corsOrigins: [] }, log: { ...settings.log, access: 'off' },
    },
  });
  return {
    requestListener: app.dispatcher.listeners('process').request,
    close: () => app.close(),
  };
}

/** The same in a folder of its own, which is removed when the app is closed. */
export async function openTemporaryApp(options: Omit<LocalAppOptions, 'data'>): Promise<LocalApp> {
  const data = mkdtempSync(join(tmpdir(), 'hookshelf-plan-'));
  const remove = (): void => rmSync(data, { recursive: true, force: true });
  try {
    const { requestListener, close } = await openLocalApp({ ...options, data });
    return { requestListener, close: () => close().finally(remove) };
  } catch (thrown) {
    remove();
    throw thrown;
  }
}
