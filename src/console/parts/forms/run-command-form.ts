/** The form of the options of the action run-command, in words for people. */
import { h } from '../../base/dom.ts';
import type { ModelSchema } from '../../base/model-schema.ts';
import { choiceField } from './choice-field.ts';
import { inputField } from './input-field.ts';
import type { Field, FieldCustomization, FieldOptions, FieldTexts } from './input-field.ts';
import { modelField } from './model-field.ts';
import { createPairsField } from './pairs-field.ts';
import type { ActionDescription } from '../../../app/api-types.ts';

export type OptionDescription = ActionDescription['options'][number];

/** The options of an action as a model, and how the form shows them. */
export type OptionsForm = FieldCustomization & {
  readonly schema: ModelSchema;
  /** Options that few users need: their fields are folded at the end. */
  readonly rare: readonly string[];
};

export const RUN_COMMAND = 'run-command';

/** In the order of the form. An empty argument is an argument, too, so an item has a default. */
const MEMBERS: Readonly<Record<string, ModelSchema>> = {
  command: { type: 'string' },
  arguments: { type: 'array', items: { type: 'string', default: '' } },
  environment: { type: 'object' },
  stdin: { type: 'string' },
  output: { type: 'string' },
  timeout: { type: 'number' },
  maxCommands: { type: 'integer', minimum: 1 },
  coalesce: { type: 'boolean' },
  files: { type: 'object' },
  workingDirectory: { type: 'string' },
  successCodes: { type: 'array', items: { type: 'integer', minimum: 0, maximum: 255 } },
};
const RARE = ['files', 'workingDirectory', 'successCodes'];

const TEXTS: FieldTexts = {
  command: ['Command', 'The program or script that is run: an executable file of the folder that '
    + 'the setting `actions.commandDirectory` names'],
  arguments: ['Arguments', 'Each is passed whole: it is never split, and no shell sees it. '
    + '`{{ payload.ref }}` puts in a value of what came; `headers`, `query` and `event` are there '
    + 'too', 'Argument'],
  environment: ['Environment', 'Variables for the command, which the setting '
    + '`actions.environment` allows. Values may hold `{{ payload.ref }}` and '
    + 'the like'],
  stdin: ['Standard input', 'What the command can read'],
  output: ['Its output', 'Whoever calls the webhook may be anybody'],
  timeout: ['Time limit', 'Seconds from its start; then it and what it has started are ended. '
    + 'Empty: as the setting `incoming.actionTimeout` says'],
  maxCommands: ['Runs at once', 'The others wait in order. 1: one after the other. Empty: as many '
    + 'as the setting `actions.maxCommands` allows for all'],
  coalesce: ['Of those that wait, only the newest runs', 'For a deploy, say: it stands for those '
    + 'before it, whose status is then `coalesced`'],
  files: ['Files', 'Each is written before the run and deleted after it. The variable, which the '
    + 'setting `actions.environment` allows, holds its path'],
  workingDirectory: ['Working directory', 'A path below the folder of commands, or one that the '
    + 'setting `actions.workingDirectories` names. Empty: an empty folder, deleted after the run'],
  successCodes: ['Exit codes of success', 'None: 0 alone', 'Exit code'],
};

const FACTORIES: Readonly<Record<string, (options: FieldOptions) => Field>> = {
  environment: createPairsField({ nameLabel: 'Variable', valueLabel: 'Value' }),
  stdin: choiceField('body', [
    ['', 'The body as it came'], ['payload', 'The payload as JSON'], ['none', 'Nothing'],
  ]),
  output: choiceField('none', [
    ['', 'Is not told to the caller'], ['result', 'Is told to the caller, as data.output'],
    ['text', 'Is told to the caller, as text also where it is JSON'],
  ]),
  files: createPairsField({
    nameLabel: 'Variable', valueLabel: 'Content', isLong: true,
    kinds: [['', 'Text'], ['base64', 'Decoded from Base64']],
  }),
};

/** The form of those options that the action describes. */
export function createRunCommandForm(descriptions: readonly OptionDescription[]): OptionsForm {
  const names = descriptions.map(({ name }) => name);
  const properties = Object.entries(MEMBERS).filter(([name]) => names.includes(name));
  const choices = descriptions.find(({ name }) => name === 'command')?.choices;
  return {
    schema: { properties: Object.fromEntries(properties), required: ['command'] },
    rare: RARE, texts: TEXTS,
    factories: { ...FACTORIES, command: (options) => createCommandField(options, choices) },
  };
}

/** A list of the files that are there; a stored name that is not among them stays. */
function createCommandField(
  options: FieldOptions, choices: readonly string[] | undefined,
): Field {
  if (choices === undefined) return modelField(options);
  const stored = typeof options.value === 'string' ? options.value : null;
  const isMissing = stored !== null && !choices.includes(stored);
  const select = h('select',
    stored === null ? h('option', { value: '' }, 'Choose one') : null,
    isMissing ? h('option', { value: stored }, `${stored} (is not there)`) : null,
    ...choices.map((choice) => h('option', { value: choice }, choice)));
  select.value = stored ?? '';
  const none = choices.length > 0 ? null : h('p.problem', 'There is no executable file in that '
    + 'folder yet: put one there, and let it be executed (chmod +x).');
  return inputField(options, select, () => select.value === '' ? undefined : select.value, none);
}
