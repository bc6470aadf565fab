/**
 * Reads options into the members of a record, or into the parameters of a query. An option sets the
 * one of its name, in camel case: `--body-format` sets `bodyFormat`. Absent options set none.
 */
import { systemClock } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';
import type { JsonObject, JsonValue } from '../../base/schema.ts';
import type { CommandContext } from './command-context.ts';

/** Options that set a member of another name, or either of two. */
const SPECIAL_MEMBERS: Readonly<Record<string, readonly string[]>> = {
  'action-config': ['actionConfiguration'],
  'trigger-event': ['triggerEvent', 'triggerEvents'],
  'keyword-not': ['keyword.not'],
};

/** Options whose value is a date, a time, or a span before now such as `1h`. */
const MOMENT_OPTIONS = ['since', 'until'];
const SPAN_UNITS_MS: Readonly<Record<string, number>> = {
  m: 60_000, h: 3_600_000, d: 86_400_000,
};

// From the name in `--unset` to the options that set it: `secret` is set by `--secret-file` or
// `--generate-secret`, `headers` also by `--header`, and `verification` also by `--preset`.
const SETTERS: readonly ((name: string) => string)[] = [
  (name) => name, (name) => `${name}-file`, (name) => `generate-${name}`,
  (name) => name.replace(/s$/, ''), (name) => name === 'verification' ? 'preset' : name,
];

/** The members that options set to their text, or to the time that it means. */
export function readTextMembers(
  { args }: CommandContext, options: readonly string[],
): JsonObject {
  return pickDefined(Object.fromEntries(
    options.map((option) => [toMemberName(option), toMoment(option, args.find(option))])));
}

/**
 * The time that `--since` and `--until` mean by a date, which is its first moment in UTC, or by a
 * span before now. The service judges a text that may be a time. Throws `usage` on any other.
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
 * an option stands.
 */
export function setQueryOptions(
  query: URLSearchParams, { args }: CommandContext, options: readonly string[],
): void {
  for (const option of options) {
    for (const value of args.all(option)) {
      query.append(toMemberName(option), toMoment(option, value));
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

/**
 * The members that `--unset` removes, as null. Throws `usage` when another option sets the same
 * member.
 */
export function readUnsetMembers({ args }: CommandContext): JsonObject {
  const options = args.all('unset');
  const contradictory =
    options.find((option) => SETTERS.some((toSetter) => args.has(toSetter(option))));
  if (contradictory !== undefined) {
    throw new AppError('usage',
      `--unset ${contradictory} contradicts what another option sets it to`);
  }
  const members = options.flatMap((option) => SPECIAL_MEMBERS[option] ?? toCamelCase(option));
  return Object.fromEntries(members.map((member) => [member, null]));
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
  return SPECIAL_MEMBERS[option]?.[0] ?? toCamelCase(option);
}

function toCamelCase(option: string): string {
  return option.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
