/** A command as data, and the context that it runs with. Loads nothing. */
import type { LoadedSettings } from '../../settings/load-settings.ts';
import type { Arguments } from '../arguments/parse-arguments.ts';
import type { Identity } from '../process/identity.ts';
import type { Io } from '../terminal/process-io.ts';
import type { Output } from '../terminal/output.ts';
import type { ApiClient } from '../api-client/api-client.ts';
import type { ModuleLoading } from '../api-client/local-app.ts';
import type { CommandLineSpec } from '../arguments/option-spec.ts';

export type CommandSpec = CommandLineSpec & {
  readonly summary: string;
  /** More text for `help`: lines that are printed as they are. */
  readonly details?: readonly string[];
  /** Custom action modules are loaded when the command runs without a server, by default all. */
  readonly needsActions?: boolean;
  /** An action may run then, and what it logs belongs to the result. */
  readonly runsActions?: boolean;
  /** The command adds records, and creates a missing data directory, except in a dry run. */
  readonly makesData?: boolean;
  /** The command works only on a data directory of this machine, never on a server elsewhere. */
  readonly isLocal?: boolean;
  /** The command uses neither a data directory nor a server. */
  readonly isWithoutData?: boolean;
  readonly examples: readonly string[];
  /** Loads the modules of this command, so that no other command loads them. */
  readonly load: () => Promise<CommandRun>;
};

/** Resolves with the exit code, or with nothing for 0. */
export type CommandRun = (context: CommandContext) => Promise<number | void>;

export type CommandContext = {
  readonly spec: CommandSpec;
  /** All commands, for help and completion; only `serve` itself when that is run. */
  readonly commands: readonly CommandSpec[];
  readonly args: Arguments;
  readonly io: Io;
  readonly output: Output;
  /** The user that the command runs as. Open files elsewhere before you call `enterDataAsOwner`. */
  readonly identity: Identity;
  /** The server elsewhere that the command works on; null: it works on a data directory here. */
  readonly serverUrl: URL | null;
  /**
   * Makes the process the user that owns the data directory, for good, where root runs the command;
   * returns the absolute path. Throws `conflict`.
   */
  enterDataAsOwner(): string;
  /** The same where the directory must exist: throws `not_found` as well. */
  enterExistingDataAsOwner(): string;
  /**
   * Reads the settings file and the environment once. The file lies in the data directory: this
   * calls `enterDataAsOwner`, where no server elsewhere is meant. Throws `usage`, `conflict`.
   */
  loadSettings(): LoadedSettings;
  /**
   * The settings from flags, environment and `--config` alone, without the settings file in the
   * data directory. Throws `usage`.
   */
  loadCallersSettings(): LoadedSettings;
  /** The context that another command would have; the caller calls its `closeApiClient`. */
  createContextOf(spec: CommandSpec, args: Arguments): CommandContext;
  /** Changes which action modules are loaded without a server, and who is told of it. */
  selectModules(changes: Partial<ModuleLoading>): void;
  /** Opens a client at the first call, also after `closeApiClient`; run.ts closes it. */
  openApiClient(): Promise<ApiClient>;
  /**
   * The client of the server that is meant, or that holds the data directory; null: none does, or
   * its socket lies elsewhere: a lock file of somebody else could name any. Reads no settings file
   * there, and opens no store. Throws `usage`, `conflict`, `not_found`.
   */
  openServerClient(): Promise<ApiClient | null>;
  /** Idempotent. */
  closeApiClient(): Promise<void>;
};
