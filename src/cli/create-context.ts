/** Builds what a command may use: output, settings, and a session once it asks for one. */
import { readdirSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { assert } from '../base/assert.ts';
import { systemClock } from '../base/clock.ts';
import { AppError, messageOf, systemCodeOf } from '../base/errors.ts';
import { loadLazyModules } from '../base/lazy-import.ts';
import type { LoadedSettings } from '../settings/load.ts';
import { loadSettings } from '../settings/load.ts';
import { readSettingsFile } from '../settings/file.ts';
import { DATA_VARIABLE } from '../settings/sources.ts';
import type { FlagValue, SettingsFile, SettingsSources } from '../settings/sources.ts';
import { isStoreName } from '../store/disk/inventory.ts';
import type { Arguments } from './arguments/parse.ts';
import type { CommandContext, CommandSpec } from './commands/context.ts';
import { findServer, readToken } from './given-server.ts';
import type { GivenServer } from './given-server.ts';
import { Identity } from './process/identity.ts';
import { lazy } from './process/lazy.ts';
import { findOwner, loadApp, openLocal } from './session/local.ts';
import { openSession } from './session/open.ts';
import { createSession } from './session/session.ts';
import type { Session } from './session/session.ts';
import type { Io } from './terminal/io.ts';
import { Output } from './terminal/output.ts';

const DEFAULT_DIRECTORY = 'data';
const SETTINGS_FILE = 'settings.json';
// What may stand in a data directory before there is a journal.
const PLACED_BEFORE = [SETTINGS_FILE, 'actions', 'lock'];

/** Flags, and the settings whose values they give. */
const SETTING_FLAGS: Readonly<Record<string, string>> = {
  port: 'server.port', host: 'server.host',
};

const loadRemote = lazy(() => import('./session/remote.ts'));

/**
 * Loads every module that a session may need. Called before the process becomes another user, who
 * may not be allowed to read the program.
 */
export async function loadSessionAhead(): Promise<void> {
  await loadApp();
  await loadLazyModules();
}

export type WrapSession = (session: Session) => Session;

/** The caller calls `closeSession` of the context at the end. A test may wrap its session. */
export function createContext(
  spec: CommandSpec, commands: readonly CommandSpec[], given: Arguments, io: Io,
  wrapSession: WrapSession,
): CommandContext {
  const inEnvironment = io.environment[DATA_VARIABLE] || DEFAULT_DIRECTORY;
  const dataDirectory = resolve(given.find('data') ?? inEnvironment);
  const server = given.has('help') ? null : findServer(spec, given, io.environment);
  const identity = new Identity(server === null ? dataDirectory : null);
  let loaded: LoadedSettings | null = null;
  let session: Promise<Session> | null = null;
  let named: SettingsFile | null | undefined;
  const readNamed = (): SettingsFile | null => {
    // Once, as the calling user: later we may be another one, and a pipe can be read only once.
    if (named === undefined) named = readNamedFile(given, identity);
    return named;
  };
  const context: CommandContext = {
    spec, commands, given, io, identity,
    output: new Output(io, given.has('json')),
    enterData() {
      assert(server === null, 'a command for a server elsewhere touches no data directory');
      identity.becomeOwner();
      return dataDirectory;
    },
    enterExistingData() {
      const directory = context.enterData();
      checkExists(directory);
      return directory;
    },
    isDataMissing() {
      if (server !== null || context.loadSettings().settings.store.url !== null) return false;
      return isMissingOrEmpty(context.enterData());
    },
    loadSettings() {
      loaded ??= server === null ? loadFor(context, readNamed()) : context.loadCallersSettings();
      return loaded;
    },
    loadCallersSettings: () => loadSettings({
      ...callersSources(context), file: readNamed(),
    }),
    openSession() {
      session ??= (server === null ? openFor(context) : openRemote(context, server))
        .then(wrapSession);
      return session;
    },
    async closeSession() {
      // `openSession` has thrown already what kept it from being opened.
      const opened = await session?.catch(() => null);
      session = null;
      await opened?.close();
    },
  };
  return context;
}

function loadFor(context: CommandContext, named: SettingsFile | null): LoadedSettings {
  const dataDirectory = context.enterData();
  if (isNoDirectory(dataDirectory)) {
    throw new AppError('usage', `${dataDirectory} is not a directory; name one with --data`);
  }
  const file = named ?? readOwnSettings(join(dataDirectory, SETTINGS_FILE));
  return loadSettings({ ...callersSources(context), file });
}

function callersSources({ given, io }: CommandContext): SettingsSources {
  const flags = Object.entries(SETTING_FLAGS).flatMap(([flag, name]): FlagValue[] => {
    const value = given.find(flag);
    return value === undefined ? [] : [{ name, value, flag: `--${flag}` }];
  });
  return { flags, environment: io.environment };
}

/** Null when `--config` is not given. */
function readNamedFile(given: Arguments, identity: Identity): SettingsFile | null {
  const path = given.find('config');
  if (path === undefined) return null;
  identity.prepareToRead(path);
  return readSettingsFile(path, true);
}

function readOwnSettings(path: string): SettingsFile | null {
  try {
    return readSettingsFile(path, false);
  } catch (thrown) {
    const isClosed = thrown instanceof AppError && systemCodeOf(thrown.cause) === 'EACCES';
    if (!isClosed) throw thrown;
    const problem = `cannot look into the data directory ${dirname(path)}`;
    const mend = 'run as its owner, or name another one with --data';
    throw new AppError('conflict', `${problem} (${messageOf(thrown.cause)}): ${mend}`, {}, thrown);
  }
}

/**
 * Throws `not_found`: a command that only reads makes no directory where --data is wrong, and no
 * store among the files of somebody else.
 */
function checkExists(directory: string): void {
  const names = namesIn(directory);
  if (names?.length === 0 || names?.some(isOurs) === true) return;
  const problem = names === null
    ? `there is no data directory ${directory}`
    : `${directory} holds files, but no data of hookshelf`;
  throw new AppError('not_found', `${problem}: is --data right? `
    + `(${DATA_VARIABLE} names it too; serve and commands that add something make it)`);
}

/** Null when there is no such directory; no names where we may not look: opening says why. */
function namesIn(directory: string): readonly string[] | null {
  try {
    return readdirSync(directory);
  } catch (thrown) {
    return systemCodeOf(thrown) === 'ENOENT' ? null : [];
  }
}

function isOurs(name: string): boolean {
  return isStoreName(name) || PLACED_BEFORE.includes(name);
}

/** False where we may not look: opening says why. */
function isMissingOrEmpty(directory: string): boolean {
  try {
    return readdirSync(directory).length === 0;
  } catch (thrown) {
    return systemCodeOf(thrown) === 'ENOENT';
  }
}

function isNoDirectory(path: string): boolean {
  try {
    return !statSync(path).isDirectory();
  } catch (thrown) {
    // A file stands where a folder above it should be.
    return systemCodeOf(thrown) === 'ENOTDIR';
  }
}

async function openFor(context: CommandContext): Promise<Session> {
  const { spec, given, io } = context;
  // Wrong settings are refused even where a server answers, which has read its own.
  const { settings } = context.loadSettings();
  const makesData = spec.makesData === true && !given.has('dry-run');
  const data = makesData ? context.enterData() : context.enterExistingData();
  return openSession({
    clock: systemClock,
    findOwner: () => findOwner(data),
    openLocal: () => openLocal({ data, settings, io, needsActions: spec.needsActions === true }),
    onWait: (reason) => noteWait(context, reason),
  });
}

async function openRemote(
  context: CommandContext, { url, tokenFile }: GivenServer,
): Promise<Session> {
  const { settings } = context.loadSettings();
  const warn = (text: string): void => context.output.note(text);
  const token = tokenFile === null ? null : readToken(tokenFile, warn);
  const { remoteTarget } = await loadRemote();
  return createSession(remoteTarget({ url, token, settings, clock: systemClock }), {
    clock: systemClock, isRemote: true, isOverNetwork: true,
    onWait: (reason) => noteWait(context, reason),
  });
}

function noteWait({ io, output }: CommandContext, reason: string): void {
  const shown = reason.replace(/: try again.*$/, '');
  if (io.stderr.isTTY === true) output.note(`${shown}; waiting`);
}
