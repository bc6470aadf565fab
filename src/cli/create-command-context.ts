/** Creates the context of a command: output, settings, and an API client once it asks for one. */
import { readdirSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { assert } from '../base/assert.ts';
import { systemClock } from '../base/clock.ts';
import { AppError, messageOf, systemCodeOf } from '../base/errors.ts';
import { lazyImport, loadLazyModules } from '../base/lazy-import.ts';
import type { LoadedSettings, Settings } from '../settings/load-settings.ts';
import { loadSettings } from '../settings/load-settings.ts';
import { readSettingsFile } from '../settings/settings-file.ts';
import { DATA_VARIABLE } from '../settings/settings-sources.ts';
import type { FlagValue, SettingsFile, SettingsSources } from '../settings/settings-sources.ts';
import { COPY_NOTE_NAME, isStoreName } from '../store/disk/inventory.ts';
import type { Arguments } from './arguments/parse-arguments.ts';
import type { CommandContext, CommandSpec } from './commands/command-context.ts';
import { findRemoteServer, readToken } from './remote-server.ts';
import type { RemoteServer } from './remote-server.ts';
import { Identity } from './process/identity.ts';
import {
  findOwner, findOwnerWithin, loadApp, openLocalApp, openTemporaryApp,
} from './api-client/local-app.ts';
import type { ModuleLoading } from './api-client/local-app.ts';
import { findServerClient, openApiClient } from './api-client/open-api-client.ts';
import { createApiClient } from './api-client/api-client.ts';
import type { ApiClient } from './api-client/api-client.ts';
import type { Io } from './terminal/process-io.ts';
import { Output } from './terminal/output.ts';

const DEFAULT_DIRECTORY = 'data';
const SETTINGS_FILE = 'settings.json';
// Names that may stand in a data directory before there is a journal.
const NAMES_BEFORE_JOURNAL = [SETTINGS_FILE, 'actions', 'command-runs', 'lock'];

/** Flags, and the settings whose values they give. */
const SETTING_FLAGS: Readonly<Record<string, string>> = {
  port: 'server.port', host: 'server.host', paused: 'server.paused',
};

const loadRemoteModules = lazyImport(() => import('./api-client/remote-target.ts'));

/**
 * Loads every module that an API client may need. Called before the process becomes another user,
 * who may not be allowed to read the program.
 */
export async function loadApiClientAhead(): Promise<void> {
  await loadApp();
  await loadLazyModules();
}

export type WrapApiClient = (apiClient: ApiClient) => ApiClient;

/** The caller calls `closeApiClient` at the end. A test may wrap the client. */
export function createCommandContext(
  spec: CommandSpec, commands: readonly CommandSpec[], args: Arguments, io: Io,
  wrapApiClient: WrapApiClient,
): CommandContext {
  const inEnvironment = io.environment[DATA_VARIABLE] || DEFAULT_DIRECTORY;
  const dataDirectory = resolve(args.find('data') ?? inEnvironment);
  const server = args.has('help') ? null : findRemoteServer(spec, args, io.environment);
  const identity = new Identity(server === null ? dataDirectory : null);
  let loadedSettings: LoadedSettings | null = null;
  let apiClient: Promise<ApiClient> | null = null;
  let modules: ModuleLoading = {
    selection: spec.needsActions === true ? 'all' : 'none', onLoad: (line) => output.note(line),
  };
  let configFile: SettingsFile | null | undefined;
  const readConfigOnce = (): SettingsFile | null => {
    // Read once, as the calling user: later we may be another, and a pipe is read only once.
    if (configFile === undefined) configFile = readConfigFile(args, identity);
    return configFile;
  };
  const output = new Output(io, args.has('json'));
  const context: CommandContext = {
    spec, commands, args, io, identity, output, serverUrl: server?.url ?? null,
    enterDataAsOwner() {
      assert(server === null, 'a command for a server elsewhere touches no data directory');
      identity.becomeOwner();
      return dataDirectory;
    },
    enterExistingDataAsOwner() {
      const directory = context.enterDataAsOwner();
      checkHoldsData(directory);
      return directory;
    },
    loadSettings() {
      loadedSettings ??= server === null ? loadDirectorySettings(context, readConfigOnce())
        : context.loadCallersSettings();
      return loadedSettings;
    },
    loadCallersSettings: () =>
      loadSettings({ ...listCallersSources(context), file: readConfigOnce() }),
    createContextOf: (otherSpec, otherArgs) =>
      createCommandContext(otherSpec, commands, otherArgs, io, wrapApiClient),
    selectModules(changes) {
      modules = { ...modules, ...changes };
    },
    openApiClient() {
      apiClient ??= (server === null ? openDirectoryApiClient(context, modules)
        : openRemoteApiClient(context, server)).then(wrapApiClient);
      return apiClient;
    },
    async openServerClient() {
      if (server !== null) return context.openApiClient();
      const data = context.enterExistingDataAsOwner();
      return findServerClient({
        clock: systemClock, findOwner: () => findOwnerWithin(data),
        onWait: (reason) => noteWait(context, reason),
      });
    },
    async closeApiClient() {
      // A failure to open has been thrown by `openApiClient` already.
      const openClient = await apiClient?.catch(() => null);
      apiClient = null;
      await openClient?.close();
    },
  };
  return context;
}

function loadDirectorySettings(
  context: CommandContext, configFile: SettingsFile | null,
): LoadedSettings {
  const dataDirectory = context.enterDataAsOwner();
  if (isNotDirectory(dataDirectory)) {
    throw new AppError('usage', `${dataDirectory} is not a directory; name one with --data`);
  }
  const file = configFile ?? readSettingsFile(join(dataDirectory, SETTINGS_FILE), false);
  return loadSettings({ ...listCallersSources(context), file });
}

function listCallersSources({ spec, args, io }: CommandContext): SettingsSources {
  const namedFlags = Object.entries(SETTING_FLAGS).filter(([flag]) => args.has(flag));
  const flags = namedFlags.map(([flag, name]): FlagValue => {
    const value = spec.options[flag]?.type === 'boolean' ? 'true' : args.get(flag);
    return { name, value, flag: `--${flag}` };
  });
  return { flags, environment: io.environment };
}

/** Null when `--config` is not given. */
function readConfigFile(args: Arguments, identity: Identity): SettingsFile | null {
  const path = args.find('config');
  if (path === undefined) return null;
  identity.prepareToRead(path);
  return readSettingsFile(path, true);
}

/**
 * Throws `not_found`: a command that only reads makes no directory where --data is wrong, and no
 * store among the files of somebody else.
 */
function checkHoldsData(directory: string): void {
  const names = listNames(directory);
  if (names?.length === 0 || names?.some(isDataName) === true) return;
  const problem = names === null
    ? `there is no data directory ${directory}`
    : `${directory} holds files, but no data of hookshelf`;
  throw new AppError('not_found', `${problem}: is --data right? `
    + `(${DATA_VARIABLE} names it too; serve and commands that add something make it)`);
}

/** Null when there is no such directory; no names where we may not look: opening says why. */
function listNames(directory: string): readonly string[] | null {
  try {
    return readdirSync(directory);
  } catch (thrown) {
    return systemCodeOf(thrown) === 'ENOENT' ? null : [];
  }
}

function isDataName(name: string): boolean {
  return isStoreName(name) || NAMES_BEFORE_JOURNAL.includes(name);
}

/** False where we may not look: opening says why. */
function isMissingOrEmpty(directory: string): boolean {
  try {
    return readdirSync(directory).length === 0;
  } catch (thrown) {
    return systemCodeOf(thrown) === 'ENOENT';
  }
}

function isNotDirectory(path: string): boolean {
  try {
    return !statSync(path).isDirectory();
  } catch (thrown) {
    // A file stands where a folder above it should be.
    return systemCodeOf(thrown) === 'ENOTDIR';
  }
}

/** Opens the client for a data directory: on the server that holds it, else on the app here. */
async function openDirectoryApiClient(
  context: CommandContext, modules: ModuleLoading,
): Promise<ApiClient> {
  const { spec, args, io } = context;
  let settings: Settings;
  try {
    ({ settings } = context.loadSettings());
  } catch (thrown) {
    return findServerDespite(context, thrown);
  }
  const { makesData = false } = spec;
  const isDryRun = makesData && args.has('dry-run');
  // A dry run works without a data directory, and makes none.
  const isTemporary = isDryRun && isMissingOrEmpty(context.enterDataAsOwner());
  const changesData = makesData && !isDryRun;
  const mayBeMissing = isTemporary || changesData;
  const data = mayBeMissing ? context.enterDataAsOwner() : context.enterExistingDataAsOwner();
  const options = {
    settings, io, modules,
    lowestLevel: spec.runsActions === true ? 'debug' : 'warning',
  } as const;
  return openApiClient({
    clock: systemClock,
    findOwner: () => findOwner(data),
    async openLocalApp() {
      if (isTemporary) return openTemporaryApp(options);
      const names = changesData ? listNames(data) : [];
      if (names?.includes(COPY_NOTE_NAME) === true) {
        context.output.note(`${data} was made by data:follow (${COPY_NOTE_NAME}), which refuses it `
          + 'once something is written there: write on the server instead');
      }
      const app = await openLocalApp({ ...options, data });
      if (names === null) context.output.note(`made a new data directory at ${data}`);
      return app;
    },
    onWait: (reason) => noteWait(context, reason),
  });
}

/**
 * The client of the server that runs: it has read its settings, and goes on where the file in the
 * directory is broken since. Throws `problem` where none runs, and where the flags, the environment
 * or the file of --config are wrong: these are of this command.
 */
async function findServerDespite(context: CommandContext, problem: unknown): Promise<ApiClient> {
  let client: ApiClient | null = null;
  try {
    context.loadCallersSettings();
    client = await context.openServerClient();
  } catch {
    // `problem` is what the user has to mend first.
  }
  if (client === null) throw problem;
  context.output.note(`${messageOf(problem)}; the server that runs has read its settings before, `
    + 'and does this: mend that before its next start');
  return client;
}

async function openRemoteApiClient(
  context: CommandContext, { url, tokenFile }: RemoteServer,
): Promise<ApiClient> {
  const { settings } = context.loadSettings();
  const warn = (text: string): void => context.output.note(text);
  const token = tokenFile === null ? null : readToken(tokenFile, warn);
  const { createRemoteTarget } = await loadRemoteModules();
  return createApiClient(createRemoteTarget({ url, token, settings, clock: systemClock }), {
    clock: systemClock, hasServer: true, isOverNetwork: true,
    onWait: (reason) => noteWait(context, reason),
  });
}

function noteWait({ io, output }: CommandContext, reason: string): void {
  const note = reason.replace(/: try again.*$/, '');
  if (io.stderr.isTTY === true) output.note(`${note}; waiting`);
}
