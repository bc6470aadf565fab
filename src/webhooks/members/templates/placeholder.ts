/** The parts that the templates of all types share: how their placeholders are read. Pure. */
import { AppError } from '../../../base/errors.ts';
import type { JsonPath } from '../../../base/json/path.ts';
import type { JsonValue } from '../../../base/schema.ts';

/**
 * Parses the text of a placeholder; null: it is no path. Throws `malformed` for a path that says
 * more of what is wrong, which `createTemplateError` then need not.
 */
export type ParsePlaceholder = (text: string) => JsonPath | null;

/** Reads the value at a path; undefined: there is none. */
export type ReadValue = (path: JsonPath) => JsonValue | undefined;

/** The error for a problem, a clause, at an index of the template's text. */
export function createTemplateError(text: string, index: number, problem: string): AppError {
  const lines = text.slice(0, index).split('\n');
  // Columns count characters, not code units.
  const column = [...lines.at(-1) ?? ''].length + 1;
  return new AppError('malformed', `${problem} (line ${lines.length}, column ${column})`);
}

export function createTooLongError(lengthMax: number): AppError {
  return new AppError('too_large', `The filled template passes ${lengthMax} characters`);
}
