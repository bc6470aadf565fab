/** What a command is, as data, and all that it may use. Loads nothing. */
import type { LoadedSettings } from '../../settings/load.ts';
import type { Arguments } from '../arguments/parse.ts';
import type { Identity } from '../process/identity.ts';
import type { Io } from '../terminal/io.ts';
import type { Output } from '../terminal/output.ts';
import type { Session } from '../session/session.ts';
import type { LineSpec } from '../arguments/spec.ts';

export type CommandSpec = LineSpec & {
  readonly summary: string;
  /** More to know, for `help`; lines as they are printed. */
  readonly details?: readonly string[];
  /** Custom action modules are loaded for it when it works without a server. */
  readonly needsActions?: boolean;
  /** The data directory is made for it when it is missing: it adds the first of something. */
  readonly makesData?: boolean;
  /** It never looks into a data directory. */
  readonly isWithoutData?: boolean;
  readonly examples: readonly string[];
  /** Loads what the command needs, and nothing else loads it. */
  readonly load: () => Promise<CommandRun>;
};

/** Resolves with the exit code. */
export type CommandRun = (context: CommandContext) => Promise<number>;

export type CommandContext = {
  readonly spec: CommandSpec;
  /** The whole table, for who prints it. */
  readonly commands: readonly CommandSpec[];
  readonly given: Arguments;
  readonly io: Io;
  readonly output: Output;
  /** Whom it runs as. Files elsewhere are opened before the data directory is entered. */
  readonly identity: Identity;
  /**
   * The absolute path of the data directory, once we are who may open what is in there. Throws
   * `conflict`.
   */
  enterData(): string;
  /** The same where it must be there. Throws `not_found`. */
  enterExistingData(): string;
  /** Throws `usage`. Reads the settings file and the environment once. */
  loadSettings(): LoadedSettings;
  /** Of flags, environment and `--config` alone, which whoever called has named. Throws `usage`. */
  loadCallersSettings(): LoadedSettings;
  /** Opened at the first call; run.ts closes it. */
  openSession(): Promise<Session>;
  /** Idempotent. */
  closeSession(): Promise<void>;
};
