/** What a command is, as data, and all that it may use. Loads nothing. */
import type { LoadedSettings } from '../../settings/load.ts';
import type { Arguments } from '../arguments/parse-arguments.ts';
import type { Identity } from '../process/identity.ts';
import type { Io } from '../terminal/process-io.ts';
import type { Output } from '../terminal/output.ts';
import type { ApiClient } from '../api-client/api-client.ts';
import type { CommandLineSpec } from '../arguments/option-spec.ts';

export type CommandSpec = CommandLineSpec & {
  readonly summary: string;
  /** More about it, for `help`: lines, printed as they are. */
  readonly details?: readonly string[];
  /** Custom action modules are loaded for it when it works without a server. */
  readonly needsActions?: boolean;
  /** It adds something, and a missing data directory is made for it, unless it is a dry run. */
  readonly makesData?: boolean;
  /** It works on a data directory of this machine alone, never on a server elsewhere. */
  readonly isLocal?: boolean;
  /** It never reads a data directory. */
  readonly isWithoutData?: boolean;
  readonly examples: readonly string[];
  /** Loads the modules of this command, which no other command should have to load. */
  readonly load: () => Promise<CommandRun>;
};

/** Resolves with the exit code. */
export type CommandRun = (context: CommandContext) => Promise<number>;

export type CommandContext = {
  readonly spec: CommandSpec;
  /** All commands, for help and completion; `serve` knows itself alone. */
  readonly commands: readonly CommandSpec[];
  readonly args: Arguments;
  readonly io: Io;
  readonly output: Output;
  /** The user that it runs as. Files elsewhere are opened before `enterData` is called. */
  readonly identity: Identity;
  /** Becomes the owner of the data directory; its absolute path. Throws `conflict`. */
  enterData(): string;
  /** The same where the directory must exist. Throws `not_found`, too. */
  enterExistingData(): string;
  /**
   * Whether the records would be in a data directory that is missing or empty: a dry run makes
   * none. False where a server elsewhere, or an engine, has the records.
   */
  isDataMissing(): boolean;
  /** Throws `usage`. Reads the settings file and the environment once. */
  loadSettings(): LoadedSettings;
  /**
   * Of flags, environment and `--config` alone: what the caller has named, and not the settings
   * in the data directory. Throws `usage`.
   */
  loadCallersSettings(): LoadedSettings;
  /** Opened at the first call, and at the first after `closeSession`; run.ts closes it. */
  openApiClient(): Promise<ApiClient>;
  /** Idempotent. */
  closeApiClient(): Promise<void>;
};
