/** What a command is, as data: run.ts parses, help and completion print by the same table. */
import type { LoadedSettings } from '../settings.ts';
import type { Arguments } from './arguments.ts';
import type { Output } from './output.ts';
import type { Session } from './session.ts';

export type OptionSpec = {
  readonly type: 'string' | 'boolean';
  readonly meaning: string;
  readonly short?: string;
  /** What stands for the value in help: `<n>`. */
  readonly placeholder?: string;
  readonly isRequired?: boolean;
  readonly isRepeatable?: boolean;
  /** The only values that it takes. */
  readonly values?: readonly string[];
  /** What a shell should complete the value with. */
  readonly completes?: 'file' | 'folder';
};

export type OptionSpecs = Readonly<Record<string, OptionSpec>>;

/** The one word that may follow a command's name. */
export type OperandSpec = {
  readonly name: string;
  readonly meaning: string;
  readonly isRequired: boolean;
  readonly values?: readonly string[];
};

export type CommandSpec = {
  readonly name: string;
  readonly summary: string;
  /** More to know, for `help`; lines as they are printed. */
  readonly details?: readonly string[];
  readonly operand?: OperandSpec;
  readonly options: OptionSpecs;
  /** Exactly one of the options in each list must be given. */
  readonly oneOf?: readonly (readonly string[])[];
  /** Custom action modules are loaded for it when it works without a server. */
  readonly needsActions?: boolean;
  readonly examples: readonly string[];
  /** Loads what the command needs, and nothing else loads it. */
  readonly load: () => Promise<CommandRun>;
};

/** Resolves with the exit code. */
export type CommandRun = (context: CommandContext) => Promise<number>;

export type CommandContext = {
  readonly spec: CommandSpec;
  readonly given: Arguments;
  readonly io: Io;
  readonly output: Output;
  /** Absolute. */
  readonly dataDirectory: string;
  /** Throws `usage`. Reads the settings file and the environment once. */
  loadSettings(): LoadedSettings;
  /** Opened at the first call; run.ts closes it. */
  openSession(): Promise<Session>;
};

export type OpenSession = (context: CommandContext) => Promise<Session>;

/** The process as parameters. */
export type Io = {
  readonly stdin: NodeJS.ReadableStream & { readonly isTTY?: boolean };
  readonly stdout: Terminal;
  readonly stderr: Terminal;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly now: () => number;
};

export type Terminal = NodeJS.WritableStream & {
  readonly isTTY?: boolean;
  readonly columns?: number;
};
