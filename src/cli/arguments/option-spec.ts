/** The options and operands of a command, as data. */

export type OptionSpec = {
  readonly type: 'string' | 'boolean';
  readonly meaning: string;
  readonly short?: string;
  /** Stands for the value in help: `<n>`. */
  readonly placeholder?: string;
  readonly isRequired?: boolean;
  readonly isRepeatable?: boolean;
  /** The value may also stand alone, as the word after the command's name. */
  readonly isOperand?: boolean;
  /** The only values that it takes. */
  readonly values?: readonly string[];
  /** The kind of values that a shell offers for completion. */
  readonly completes?: 'file' | 'folder' | 'command' | ValueKind;
  /** Some of the allowed values, for completion. */
  readonly suggests?: readonly string[];
};

/** Kinds of values that the program itself can list: `list-values.ts` says where they are found. */
export type ValueKind = (typeof VALUE_KINDS)[number];

export const VALUE_KINDS = [
  'actions', 'action-configurations', 'books', 'deliveries', 'events',
  'incoming-webhooks', 'jobs',
  'outgoing-webhooks', 'presets', 'requests', 'tokens',
] as const;

export type OptionSpecs = Readonly<Record<string, OptionSpec>>;

/** The one word that may follow a command's name. */
type OperandSpec = Pick<OptionSpec, 'values' | 'suggests' | 'completes'> & {
  readonly name: string;
  readonly meaning: string;
  readonly isRequired: boolean;
  /** Any number of words may follow, empty ones too. */
  readonly isRepeatable?: boolean;
};

export type CommandLineSpec = {
  readonly name: string;
  readonly operand?: OperandSpec;
  readonly options: OptionSpecs;
  /** Exactly one of the options in each list must be given. */
  readonly oneOf?: readonly (readonly string[])[];
  /** Hints at how to do here what options of another program do, by the names of those options. */
  readonly foreignOptions?: ReadonlyMap<string, string>;
};

// Short names, as the command tables consist of little else.
export const text = (placeholder: string, meaning: string): OptionSpec =>
  ({ type: 'string', placeholder, meaning });
export const flag = (meaning: string): OptionSpec => ({ type: 'boolean', meaning });
export const required = (option: OptionSpec): OptionSpec => ({ ...option, isRequired: true });

/** How people name a record, beside its identifier: always by the whole name. */
const OWN_NAMES: Partial<Record<ValueKind, string>> = {
  'action-configurations': 'name, ', 'incoming-webhooks': 'name, path segment, ',
  'outgoing-webhooks': 'name, ',
};

/** The option that names the record which a command is for. */
export function recordOption(kind: ValueKind): { readonly identifier: OptionSpec } {
  const { [kind]: ownNames } = OWN_NAMES;
  const placeholder = ownNames === undefined ? '<id>' : '<id or name>';
  const names = `${ownNames ?? ''}identifier`;
  return {
    identifier: {
      ...required(text(placeholder, `${names}, or a beginning or end of it that no other has`)),
      isOperand: true, completes: kind,
    },
  };
}

/** The option `--unset`; `names` are the options whose members it can remove. */
export const unset = (names: readonly string[]): OptionSpec => ({
  type: 'string', placeholder: '<option>', values: names, isRepeatable: true,
  meaning: `take away what the option set: ${names.join(', ')}`,
});
