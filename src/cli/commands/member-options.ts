/**
 * The options of commands, as the rows of a route say them: those of its query's parameters and of
 * its body's members. A member `bodyFormat` has the option `--body-format`.
 */
import type { MemberOption, MemberSchema, MemberSchemas, Schema } from '../../base/schema.ts';
import type { ParameterSpec } from '../../server/http-route.ts';
import { flag, text, unset } from '../arguments/option-spec.ts';
import type { OptionSpec, OptionSpecs } from '../arguments/option-spec.ts';

/** The options of a command that creates a record. */
export function memberOptions(members: MemberSchemas): OptionSpecs {
  return Object.fromEntries(Object.entries(members).flatMap(([name, member]) =>
    listOptions(name, member).map((option) =>
      [option.name, toSpec(member, option, member.isRequired)])));
}

/** The options of a command that sets the parameters of a query. */
export function queryOptions(parameters: readonly ParameterSpec[]): OptionSpecs {
  const rows = parameters.map(({ name, ...row }) => [name, row] as const);
  return memberOptions(Object.fromEntries(rows));
}

/** The options of a command that changes a record: none is required. */
export function changeOptions(members: MemberSchemas): OptionSpecs {
  const rows = Object.entries(members);
  const options = rows.flatMap(([name, member]) => listOptions(name, member)
    .filter(({ isForNew }) => isForNew !== true)
    .map((option) => [option.name, toSpec(member, option)] as const));
  const names = rows.flatMap(([name, member]) => findUnsetName(name, member) ?? []);
  return { ...Object.fromEntries(options), unset: unset([...new Set(names)]) };
}

type NamedOption = MemberOption & { readonly name: string };

/** The options that set a member, with their names. */
export function listOptions(name: string, member: MemberSchema): readonly NamedOption[] {
  const { readOnly, option = {} } = member;
  if (readOnly !== undefined) return [];
  const options = isList(option) ? option : [option];
  const byDefault = isSecretText(member) ? describeSecretFile(name) : { name: toKebabCase(name) };
  return options.map((each) => ({ ...byDefault, ...each }));
}

/** `Array.isArray` does not know lists that are not to be changed. */
function isList(option: MemberOption | readonly MemberOption[]): option is readonly MemberOption[] {
  return Array.isArray(option);
}

/** A secret is read from a file: other users of the machine can read arguments. */
export function isSecretText({ isSecret, schema }: MemberSchema): boolean {
  return isSecret === true && schema.kind === 'string';
}

function describeSecretFile(name: string): NamedOption {
  const option = toKebabCase(name);
  return {
    name: `${option}-file`, placeholder: '<path | ->', completes: 'file',
    help: `file that holds the ${option.replaceAll('-', ' ')}, - for standard input`,
  };
}

/**
 * The name of the member for `--unset`; null: it is required, has a default or no option, or is
 * set by creating the record alone.
 */
export function findUnsetName(name: string, member: MemberSchema): string | null {
  const { isRequired, default: defaultValue, option = {} } = member;
  const [first] = listOptions(name, member);
  if (isRequired === true || defaultValue !== undefined || first === undefined) return null;
  if (first.isForNew === true) return null;
  return isList(option) || isSecretText(member) ? toKebabCase(name) : first.name;
}

function toSpec(
  { schema, description = '', default: defaultValue }: MemberSchema, option: MemberOption,
  isRequired = false,
): OptionSpec {
  const { help = firstSentence(description), completes } = option;
  const isNamedDefault = ['string', 'number'].includes(typeof defaultValue);
  const meaning = help + (isNamedDefault ? `; ${String(defaultValue)} by default` : '')
    + (option.isRepeatable === true ? '; repeatable' : '');
  const { values = schema.kind === 'string' ? schema.values : undefined, suggests } = option;
  if (option.isFlag === true || (schema.kind === 'boolean' && values === undefined)) {
    return flag(meaning);
  }
  const { placeholder = choosePlaceholder(schema, values) } = option;
  return {
    ...text(placeholder, meaning),
    ...isRequired ? { isRequired } : {},
    ...option.isRepeatable === true || isListOfTexts(schema) ? { isRepeatable: true } : {},
    ...values === undefined ? {} : { values },
    ...completes === undefined ? {} : { completes },
    ...suggests === undefined ? {} : { suggests },
  };
}

/** Without the marks of code, as it stands beside an option. */
function firstSentence(description: string): string {
  const [sentence = ''] = description.replaceAll('`', '').split(/\.(?= [A-Z{])/);
  return sentence.replace(/\.$/, '').replace(/^[A-Z](?=[a-z]* )/, (letter) => letter.toLowerCase());
}

function choosePlaceholder(schema: Schema, values: readonly string[] | undefined): string {
  if (values !== undefined) return `<${values.join(' | ')}>`;
  if (schema.kind === 'string') return '<text>';
  if (schema.kind === 'integer' || schema.kind === 'number') return '<n>';
  return isListOfTexts(schema) ? '<name,…>' : '<json | @file | ->';
}

export function isListOfTexts(schema: Schema): boolean {
  return schema.kind === 'array' && schema.items.kind === 'string';
}

/** `keyword.not`, a parameter, is `keyword-not`. */
function toKebabCase(name: string): string {
  return name.replace('.', '-').replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}
