/**
 * A template of a body: a text with placeholders, `{{ path.to.value }}`. For a JSON type it is JSON
 * text (json-template.ts); for any other it is the text itself, in which values are escaped as the
 * type asks. Pure.
 *
 * What is filled in is not scanned again, and nothing is evaluated. Placeholders, and how `\{{`
 * escapes one, are those of base/json/placeholders.ts.
 */
import type { AppError } from '../../../base/errors.ts';
import type { JsonPath } from '../../../base/json/path.ts';
import {
  fillPieces, formatPlaceholderValue, rememberPaths, splitPlaceholders,
} from '../../../base/json/placeholders.ts';
import { isJsonType } from './content-type.ts';
import { chooseEscape } from './escape-value.ts';
import { fillJsonTemplate, parseJsonTemplate } from './json-template.ts';
import {
  createTemplateError, createTooLongError, type ParsePlaceholder, type ReadValue,
} from './placeholder.ts';

export type BodyTemplate = {
  /** The paths of its placeholders. */
  readonly paths: readonly JsonPath[];
  /** The body as text. Throws `too_large` if it passes `lengthMax` characters. */
  readonly fill: (readValue: ReadValue, lengthMax?: number) => string;
};

/** A template may repeat a value many times. So much takes 5 ms of CPU, 20 if it is escaped. */
export const FILLED_LENGTH_MAX = 2 * 1024 * 1024;

/**
 * Throws `malformed`, with line and column, for a placeholder that is not closed or has no valid
 * path, and for a JSON type for a text that is not JSON.
 */
export function parseBodyTemplate(
  source: string, contentType: string, parsePlaceholder: ParsePlaceholder,
): BodyTemplate {
  if (!isJsonType(contentType)) return parseText(source, contentType, parsePlaceholder);
  const { pieces, paths } = parseJsonTemplate(source, parsePlaceholder);
  return {
    paths, fill: (readValue, lengthMax = FILLED_LENGTH_MAX) =>
      fillJsonTemplate(pieces, readValue, lengthMax),
  };
}

function parseText(
  source: string, contentType: string, parsePlaceholder: ParsePlaceholder,
): BodyTemplate {
  const pieces = splitPlaceholders(source, {
    parsePath: rememberPaths(parsePlaceholder),
    createError: (index, problem) => createTemplateError(source, index, problem),
  }) ?? [source];
  const escape = chooseEscape(contentType);
  return {
    paths: pieces.filter((piece) => typeof piece === 'object'),
    fill(readValue, lengthMax = FILLED_LENGTH_MAX) {
      const createTooLong = (): AppError => createTooLongError(lengthMax);
      return fillPieces(pieces, (path) => {
        const value = formatPlaceholderValue(readValue(path));
        // Before it is escaped, which takes long and never shortens it.
        if (value.length > lengthMax) throw createTooLong();
        return escape(value);
      }, lengthMax, createTooLong);
    },
  };
}
