/**
 * Finds the server elsewhere that a command works on, and the file of its token. A local command
 * works only on a data directory of this machine; it rejects a server, as it would change another
 * catalog than the caller means. A flag takes precedence over the environment:
 *
 *   where the command may work        other commands   local commands
 *   --server                          that server      usage error
 *   --data                            this machine     this machine
 *   HOOKSHELF_SERVER, HOOKSHELF_DATA  that server      this machine
 *   HOOKSHELF_SERVER alone            that server      usage error
 *
 * A command works on this machine if nothing names a server. `--server` with `--data` is a
 * usage error, and so is `--token-file` for a command that works on this machine.
 */
import { AppError } from '../base/errors.ts';
import { explainFileError } from '../base/file-error.ts';
import { SECRET_FILE_BYTES_MAX, readBounded } from '../base/files/bounded-read.ts';
import { redactText } from '../base/log.ts';
import { quotePath } from '../base/text/shell-quote.ts';
import {
  DATA_VARIABLE, SERVER_VARIABLE, TOKEN_FILE_VARIABLE,
} from '../settings/settings-sources.ts';
import type { Arguments } from './arguments/parse-arguments.ts';
import type { CommandSpec } from './commands/command-context.ts';

export type RemoteServer = {
  readonly url: URL;
  readonly tokenFile: string | null;
};

const READABLE_BY_OTHERS = 0o044;

type Environment = Readonly<Record<string, string | undefined>>;

/** Null when the command works on this machine. Throws `usage`. */
export function findRemoteServer(
  spec: CommandSpec, args: Arguments, environment: Environment,
): RemoteServer | null {
  const serverFlag = args.find('server');
  const serverVariable = environment[SERVER_VARIABLE] || undefined;
  if (serverFlag !== undefined) {
    checkServerFlag(spec, args);
    return {
      url: parseServerUrl(serverFlag, '--server'),
      tokenFile: findTokenFile(
        args, environment, serverVariable === undefined || serverFlag === serverVariable),
    };
  }
  if (serverVariable === undefined || isForThisMachine(spec, args, environment)) {
    if (!args.has('token-file')) return null;
    throw new AppError('usage', '--token-file is for a server: name it with --server <url>');
  }
  if (spec.isLocal === true) {
    throw new AppError('usage', `${spec.name} works on a data directory of this machine, and `
      + `${SERVER_VARIABLE} names a server: name the directory with --data, or unset the variable`);
  }
  return {
    url: parseServerUrl(serverVariable, SERVER_VARIABLE),
    tokenFile: findTokenFile(args, environment, true),
  };
}

/** Whether a command works on this machine although the environment names a server. */
function isForThisMachine(
  spec: CommandSpec, args: Arguments, environment: Environment,
): boolean {
  if (spec.isWithoutData === true || args.has('data')) return true;
  return spec.isLocal === true && Boolean(environment[DATA_VARIABLE]);
}

/**
 * Reads the token from its file; calls `warn` when other users may read it. Throws `usage` when the
 * file holds no token, without showing its content.
 */
export function readToken(path: string, warn: (text: string) => void): string {
  const { bytes, status } = readFile(path);
  const token = bytes.toString('utf8').trim();
  if (!/^[\x21-\x7e]+$/.test(token)) {
    throw new AppError('usage', `${path} does not hold a token: one line, without spaces`);
  }
  if (status.isFile() && (status.mode & READABLE_BY_OTHERS) !== 0) {
    warn(`other users may read the token in ${path}: chmod 600 ${quotePath(path)}`);
  }
  return token;
}

function readFile(path: string): ReturnType<typeof readBounded> {
  try {
    return readBounded(path, { bytesMax: SECRET_FILE_BYTES_MAX });
  } catch (cause) {
    const problem = `cannot read the token's file: ${explainFileError(cause)}`;
    throw new AppError('usage', problem, {}, cause);
  }
}

function checkServerFlag(spec: CommandSpec, args: Arguments): void {
  const { name } = spec;
  if (spec.isWithoutData === true) {
    throw new AppError('usage', `${name} asks no server: leave out --server`);
  }
  if (spec.isLocal === true) {
    throw new AppError('usage', `${name} works only on a data directory of this machine: run it `
      + 'there, without --server');
  }
  if (!args.has('data')) return;
  throw new AppError('usage', '--server and --data contradict each other: a command works either '
    + 'on a server elsewhere or on a data directory of this machine');
}

/**
 * A token of the environment is for the server that the environment names: another server, which
 * a flag names, needs `--token-file`.
 */
function findTokenFile(
  args: Arguments, environment: Environment, mayUseEnvironment: boolean,
): string | null {
  const flagFile = args.find('token-file');
  if (flagFile !== undefined) return flagFile;
  const environmentFile = environment[TOKEN_FILE_VARIABLE] || null;
  if (environmentFile === null || mayUseEnvironment) return environmentFile;
  throw new AppError('usage', `${TOKEN_FILE_VARIABLE} is for the server that ${SERVER_VARIABLE} `
    + 'names: give the token for this one with --token-file');
}

function parseServerUrl(text: string, source: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !['http:', 'https:'].includes(url.protocol)) {
    throw new AppError('usage', `${source} must be a URL such as https://books.example.com, not `
      + redactText(JSON.stringify(text)));
  }
  if (url.username !== '' || url.password !== '') {
    throw new AppError('usage', `${source} must hold no credentials, which other users could see: `
      + 'name the file of a token with --token-file');
  }
  if (url.search === '' && url.hash === '') return url;
  throw new AppError('usage', `${source} must end with its path: it holds a query or a fragment`);
}
