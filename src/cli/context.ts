/** What a command gets besides its options: output, settings, and a session when it asks. */
import { statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { AppError, messageOf, systemCodeOf } from '../base/errors.ts';
import type { LoadedSettings } from '../settings.ts';
import { loadSettings } from '../settings.ts';
import { readSettingsFile } from '../settings/sources.ts';
import type { FlagValue, SettingsFile } from '../settings/sources.ts';
import type { Arguments } from './arguments.ts';
import type { CommandContext, CommandSpec, OpenSession } from './command.ts';
import type { Io } from './io.ts';
import { Output } from './output.ts';
import type { Session } from './session.ts';

const STANDARD_DIRECTORY = 'data';
const SETTINGS_FILE = 'settings.json';

/** Flags that stand for a setting. */
const SETTING_FLAGS: Readonly<Record<string, string>> = {
  port: 'server.port', host: 'server.host',
};

/** `close` ends the session, if one was opened. */
export function createContext(
  spec: CommandSpec, commands: readonly CommandSpec[], given: Arguments, io: Io,
  openSession: OpenSession | null,
): { readonly context: CommandContext; close(): Promise<void> } {
  const dataDirectory = resolve(given.find('data') ?? STANDARD_DIRECTORY);
  let loaded: LoadedSettings | null = null;
  let session: Promise<Session> | null = null;
  const context: CommandContext = {
    spec, commands, given, io, dataDirectory,
    output: new Output(io, given.has('json')),
    loadSettings() {
      loaded ??= loadFor(dataDirectory, given, io);
      return loaded;
    },
    openSession() {
      session ??= openFor(context, openSession);
      return session;
    },
  };
  return {
    context,
    async close() {
      // Whoever opened it has been told when that failed.
      const opened = await session?.catch(() => null);
      await opened?.close();
    },
  };
}

function loadFor(dataDirectory: string, given: Arguments, io: Io): LoadedSettings {
  if (isNoDirectory(dataDirectory)) {
    throw new AppError('usage', `${dataDirectory} is not a directory; name one with --data`);
  }
  const config = given.find('config');
  const path = config ?? join(dataDirectory, SETTINGS_FILE);
  const flags = Object.entries(SETTING_FLAGS).flatMap(([flag, name]): FlagValue[] => {
    const value = given.find(flag);
    return value === undefined ? [] : [{ name, value, flag: `--${flag}` }];
  });
  const file = readSettings(path, config !== undefined);
  return loadSettings({ flags, environment: io.environment, file });
}

function readSettings(path: string, isNamed: boolean): SettingsFile | null {
  try {
    return readSettingsFile(path, isNamed);
  } catch (thrown) {
    const isClosed = thrown instanceof AppError && systemCodeOf(thrown.cause) === 'EACCES';
    if (isNamed || !isClosed) throw thrown;
    const problem = `cannot look into the data directory ${dirname(path)}`;
    const mend = 'run as its owner, or name another one with --data';
    throw new AppError('conflict', `${problem} (${messageOf(thrown.cause)}): ${mend}`, {}, thrown);
  }
}

function isNoDirectory(path: string): boolean {
  try {
    return !statSync(path).isDirectory();
  } catch (thrown) {
    // A file stands where a folder above it should.
    return systemCodeOf(thrown) === 'ENOTDIR';
  }
}

async function openFor(
  context: CommandContext, openSession: OpenSession | null,
): Promise<Session> {
  // Wrong settings are wrong whether or not a server has read others at its start.
  context.loadSettings();
  if (openSession !== null) return openSession(context);
  const { openCommandSession } = await import('./local-app.ts');
  return openCommandSession(context);
}
