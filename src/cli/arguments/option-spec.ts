/** What may follow a command on its line, as data. */

export type OptionSpec = {
  readonly type: 'string' | 'boolean';
  readonly meaning: string;
  readonly short?: string;
  /** What stands for the value in help: `<n>`. */
  readonly placeholder?: string;
  readonly isRequired?: boolean;
  readonly isRepeatable?: boolean;
  /** Its value may also stand by itself, as the word after the command's name. */
  readonly isOperand?: boolean;
  /** The only values that it takes. */
  readonly values?: readonly string[];
  /** What a shell should complete the value with. */
  readonly completes?: 'file' | 'folder' | ValueKind;
  /** Some of the values that it takes, for completion. */
  readonly suggests?: readonly string[];
};

/** Kinds of values that the program itself can list: see the command completion:values. */
export type ValueKind = (typeof VALUE_KINDS)[number];

export const VALUE_KINDS = [
  'actions', 'action-configurations', 'books', 'deliveries', 'incoming-webhooks', 'jobs',
  'outgoing-webhooks', 'presets', 'requests', 'tokens',
] as const;

export type OptionSpecs = Readonly<Record<string, OptionSpec>>;

/** The one word that may follow a command's name. */
type OperandSpec = {
  readonly name: string;
  readonly meaning: string;
  readonly isRequired: boolean;
  /** The only values that it takes. */
  readonly values?: readonly string[];
  /** Some of what it takes, to be offered. */
  readonly suggests?: readonly string[];
};

export type CommandLineSpec = {
  readonly name: string;
  readonly operand?: OperandSpec;
  readonly options: OptionSpecs;
  /** Exactly one of the options in each list must be given. */
  readonly oneOf?: readonly (readonly string[])[];
};

// Short forms for the rows of the command tables.
export const text = (placeholder: string, meaning: string): OptionSpec =>
  ({ type: 'string', placeholder, meaning });
export const flag = (meaning: string): OptionSpec => ({ type: 'boolean', meaning });
export const required = (option: OptionSpec): OptionSpec => ({ ...option, isRequired: true });
