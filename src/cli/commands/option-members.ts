/**
 * Reads options into the members of a record, or into the parameters of a query. `readMembers` goes
 * by the rows of the members; `readTextMembers` and `setQueryOptions` by the names of the options,
 * where `--body-format` sets `bodyFormat`. An option that is not given sets nothing.
 */
import { systemClock } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';
import type {
  JsonObject, JsonValue, MemberOption, MemberSchema, ObjectSchema,
} from '../../base/schema.ts';
import type { OptionSpecs } from '../arguments/option-spec.ts';
import type { CommandContext } from './command-context.ts';
import { findUnsetName, isListOfTexts, isSecretText, listOptions } from './member-options.ts';
import {
  readJsonOption, readObjectOption, readSecretOption, type JsonOptionRules,
} from './option-input.ts';

/** Options whose value is a date, a time, or a span before now such as `1h`. */
const MOMENT_OPTIONS = ['since', 'until'];
const SPAN_UNITS_MS: Readonly<Record<string, number>> = {
  m: 60_000, h: 3_600_000, d: 86_400_000,
};

/** The members that options set to their text, or to the time that it means. */
export function readTextMembers(
  { args }: CommandContext, options: readonly string[],
): JsonObject {
  return pickDefined(Object.fromEntries(
    options.map((option) => [toMemberName(option), toMoment(option, args.find(option))])));
}

/**
 * The time that `--since` and `--until` mean by a date, which is its first moment in UTC, or by a
 * span before now. A text that begins with a date is sent as it is: the service checks it. Throws
 * `usage` on any other.
 */
function toMoment<Text extends string | undefined>(
  option: string, text: Text,
): Text | string {
  if (text === undefined || !MOMENT_OPTIONS.includes(option)) return text;
  const [, count, unit = ''] = /^(\d{1,5})([mhd])$/.exec(text) ?? [];
  const unitMs = SPAN_UNITS_MS[unit];
  if (unitMs !== undefined) {
    return new Date(systemClock.now() - Number(count) * unitMs).toISOString();
  }
  const [date] = /^\d{4}-\d{2}-\d{2}/.exec(text) ?? [];
  if (date === text) return `${date}T00:00:00Z`;
  if (date !== undefined) return text;
  throw new AppError('usage', `--${option} must be a date (2026-01-31), a time `
    + `(2026-01-31T12:00:00Z) or a span before now (30m, 1h, 7d), not "${text}"`);
}

/**
 * Sets the parameters of the query whose options are given, as `readTextMembers` does: as often as
 * an option stands. A flag is `true`.
 */
export function setQueryOptions(
  query: URLSearchParams, { args }: CommandContext, options: OptionSpecs,
): void {
  for (const [option, { type }] of Object.entries(options)) {
    for (const value of args.all(option)) {
      query.append(toMemberName(option), type === 'boolean' ? 'true' : toMoment(option, value));
    }
  }
}

/** The members that are not undefined. */
export function pickDefined(
  members: Readonly<Record<string, JsonValue | undefined>>,
): JsonObject {
  const body: Record<string, JsonValue> = {};
  for (const [name, value] of Object.entries(members)) {
    if (value !== undefined) body[name] = value;
  }
  return body;
}

/** Functions by the name of the member, called where an option of it is given. */
export type OptionReaders = Readonly<Record<string,
  (context: CommandContext) => JsonValue | undefined | Promise<JsonValue>>>;

/**
 * The members of a record that options set. A function of `readers` takes the place of reading a
 * member by the kind of its schema. Throws `usage`. The service validates the members.
 */
export async function readMembers(
  context: CommandContext, { members }: ObjectSchema, readers: OptionReaders = {},
): Promise<JsonObject> {
  const body: Record<string, JsonValue | undefined> = {};
  for (const [name, member] of Object.entries(members)) {
    const option = listOptions(name, member).find((each) => context.args.has(each.name));
    if (option === undefined) continue;
    const read = readers[name];
    body[name] = read === undefined ? await readByKind(context, member, option)
      : await read(context);
  }
  return pickDefined(body);
}

async function readByKind(
  context: CommandContext, row: MemberSchema,
  { name, isPublic, values }: MemberOption & { name: string },
): Promise<JsonValue> {
  const { args } = context;
  const { schema } = row;
  if (schema.kind === 'boolean') return values === undefined || args.get(name) === 'true';
  if (isSecretText(row)) return readSecretOption(context, name);
  if (schema.kind === 'string') return args.get(name);
  if (schema.kind === 'number') return args.number(name) ?? null;
  if (schema.kind === 'integer') return args.integer(name, schema.minimum, schema.maximum) ?? null;
  if (schema.kind === 'array' && schema.items.kind === 'number') return args.numbers(name) ?? null;
  if (isListOfTexts(schema)) return parseNames(args.all(name));
  const rules: JsonOptionRules =
    { inlineSecrets: isPublic === true ? 'accepted' : 'rejected', row };
  if (schema.kind !== 'array') return readObjectOption(context, name, rules);
  const { value } = await readJsonOption(context, name, rules);
  if (Array.isArray(value)) return value;
  throw new AppError('usage', `--${name} is not a JSON array`);
}

/** The names of an option that takes several, and may stand several times. */
export function parseNames(texts: readonly string[]): string[] {
  return texts.flatMap((text) => text.split(',')).map((name) => name.trim())
    .filter((name) => name !== '');
}

/**
 * The members that `--unset` removes, as null. Throws `usage` when another option sets the same
 * member.
 */
export function readUnsetMembers(
  { args }: CommandContext, { members }: ObjectSchema,
): JsonObject {
  const nulls: Record<string, null> = {};
  for (const [name, member] of Object.entries(members)) {
    const unsetName = findUnsetName(name, member);
    if (unsetName === null || !args.all('unset').includes(unsetName)) continue;
    if (listOptions(name, member).some((option) => args.has(option.name))) {
      throw new AppError('usage',
        `--unset ${unsetName} contradicts what another option sets it to`);
    }
    nulls[name] = null;
  }
  return nulls;
}

/** Throws `usage` for an update without anything to change. */
export function requireChange(context: CommandContext, body: JsonObject): void {
  if (Object.keys(body).length > 0) return;
  const names = Object.keys(context.spec.options).filter((name) => name !== 'identifier');
  const all = names.map((name) => `--${name}`).join(', ');
  throw new AppError('usage', `${context.spec.name} needs something to change: ${all}`);
}

/** The member or query parameter that an option sets; `in-language` sets `inLanguage`. */
function toMemberName(option: string): string {
  if (option === 'keyword-not') return 'keyword.not';
  return option.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
