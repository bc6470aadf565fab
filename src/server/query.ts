/** Parses query strings strictly: no unknown or undecodable parameter is ignored. */
import { AppError } from '../base/errors.ts';
import type { Schema } from '../base/schema.ts';
import type { AnswerOf } from '../base/schema-types.ts';
import { suggestName, quote } from '../base/text/error-message.ts';
import type { ParameterSpec } from './http-route.ts';

/** Records on a page. */
export const PAGE_LIMIT_MAX = 1000;

/** The limit of repetitions of a parameter that takes several values. */
export const REPETITIONS_MAX = 64;

/**
 * The parameters of a raw query without `?`; `+` is a space. Throws `malformed` for a name that is
 * not allowed, for a name that occurs twice, and for a bad percent-encoding.
 */
export function parseQuery(
  search: string, allowedNames: readonly string[],
): ReadonlyMap<string, string> {
  const values = new Map<string, string>();
  eachParameter(search, allowedNames, (name, value) => {
    if (values.has(name)) throw repeatedParameter(name);
    values.set(name, value);
  });
  return values;
}

/**
 * The values of a raw query as the rows of its parameters describe them; null: absent. Throws
 * `malformed` as `parseQuery`, and for what is no value of its parameter. Lengths are not bounded:
 * a text that is too long matches nothing.
 */
export function readQuery<const Row extends ParameterSpec>(
  search: string, rows: readonly Row[],
): { readonly [Each in Row as Each['name']]: AnswerOf<Each['schema']> | null } {
  return readParameters(parseQuery(search, rows.map(({ name }) => name)), rows);
}

/** Reads values as `readQuery` does, of a query that is parsed already. */
export function readParameters<const Row extends ParameterSpec>(
  query: ReadonlyMap<string, string>, rows: readonly Row[],
): { readonly [Each in Row as Each['name']]: AnswerOf<Each['schema']> | null } {
  return Object.fromEntries(rows.map(({ name, schema }) =>
    [name, readParameter(query, name, schema)])) as never;
}

function readParameter(
  query: ReadonlyMap<string, string>, name: string, schema: Schema,
): string | number | boolean | null {
  if (schema.kind === 'integer') {
    return parseIntegerParameter(query, name, schema.minimum, schema.maximum);
  }
  if (schema.kind === 'boolean') return parseFlagParameter(query, name);
  const values = schema.kind === 'string' ? schema.values : undefined;
  return values === undefined ? query.get(name) ?? null
    : parseChoiceParameter(query, name, values);
}

/**
 * Parses as `parseQuery` does, with all values of each parameter: the parameters in
 * `repeatableNames` may stand up to `REPETITIONS_MAX` times.
 */
export function parseRepeatableQuery(
  search: string, allowedNames: readonly string[], repeatableNames: readonly string[],
): ReadonlyMap<string, readonly string[]> {
  const values = new Map<string, string[]>();
  eachParameter(search, allowedNames, (name, value) => {
    const earlierValues = values.get(name);
    if (earlierValues === undefined) {
      values.set(name, [value]);
      return;
    }
    if (!repeatableNames.includes(name)) throw repeatedParameter(name);
    if (earlierValues.length === REPETITIONS_MAX) throw surplusParameter(name);
    earlierValues.push(value);
  });
  return values;
}

export function surplusParameter(name: string): AppError {
  return malformed(`\`${name}\` may stand at most ${REPETITIONS_MAX} times: spread its values `
    + 'over several queries');
}

function eachParameter(
  search: string, allowedNames: readonly string[], visit: (name: string, value: string) => void,
): void {
  for (const pair of search.split('&')) {
    if (pair === '') continue;
    const equals = pair.indexOf('=');
    const name = decode(equals < 0 ? pair : pair.slice(0, equals));
    const value = equals < 0 ? '' : decode(pair.slice(equals + 1));
    if (!allowedNames.includes(name)) {
      throw malformed(`unknown query parameter \`${name}\`${suggestName(name, allowedNames)}`);
    }
    visit(name, value);
  }
}

/** All values of a parameter, and the raw query without it. Throws `malformed` as `parseQuery`. */
export function splitParameter(
  search: string, name: string,
): { readonly values: readonly string[]; readonly rest: string } {
  const values: string[] = [];
  const rest = search.split('&').filter((pair) => {
    const equals = pair.indexOf('=');
    if (decode(equals < 0 ? pair : pair.slice(0, equals)) !== name) return true;
    values.push(equals < 0 ? '' : decode(pair.slice(equals + 1)));
    return false;
  });
  return { values, rest: rest.join('&') };
}

/** An integer parameter from `minimum` to `maximum`, or null when it is absent. */
function parseIntegerParameter(
  query: ReadonlyMap<string, string>, name: string, minimum: number, maximum: number,
): number | null {
  const text = query.get(name);
  if (text === undefined) return null;
  const value = /^\d{1,15}$/.test(text) ? Number(text) : NaN;
  if (value >= minimum && value <= maximum) return value;
  throw malformed(
    `\`${name}\` must be an integer from ${minimum} to ${maximum}, not ${quote(text)}`);
}

/** A parameter that is `true` or `false`, or null when it is absent. */
export function parseFlagParameter(
  query: ReadonlyMap<string, string>, name: string,
): boolean | null {
  const text = query.get(name);
  return text === undefined ? null : parseEither(name, text, 'true', 'false');
}

/** Whether the text is the first of the two that the parameter may be. Throws `malformed`. */
export function parseEither(name: string, text: string, first: string, second: string): boolean {
  if (text === first || text === second) return text === first;
  throw malformed(`\`${name}\` must be ${first} or ${second}, not ${quote(text)}`);
}

/** A parameter that is one of `values`, or null when it is absent. */
export function parseChoiceParameter<Value extends string>(
  query: ReadonlyMap<string, string>, name: string, values: readonly Value[],
): Value | null {
  const text = query.get(name);
  if (text === undefined) return null;
  const value = values.find((one) => one === text);
  if (value !== undefined) return value;
  throw malformed(`\`${name}\` must be one of ${values.join(', ')}, not ${quote(text)}`);
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    throw malformed('the query holds a bad percent-encoding');
  }
}

function repeatedParameter(name: string): AppError {
  return malformed(`the query parameter \`${name}\` stands twice: leave one out`);
}

/** The error for a cursor that a list gave in another order or for another search. */
export function foreignQueryError(): AppError {
  return malformed('`cursor` belongs to another query: repeat the parameters it was given with');
}

/** The error for a query, or a part of it, that cannot be understood. */
export function malformed(message: string): AppError {
  return new AppError('malformed', message);
}
