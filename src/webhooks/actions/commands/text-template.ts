/**
 * Parses and fills the templates of hook commands: plain text with placeholders such as
 * `{{ payload.ref }}`, over the same paths as conditions (filters/facts.ts). What is filled in is
 * not scanned again, and is never split or quoted: one template makes one text. Pure.
 */
import { AppError } from '../../../base/errors.ts';
import { isSecretName } from '../../../base/log.ts';
import {
  fillPieces, formatPlaceholderValue, rememberPaths, splitPlaceholders,
} from '../../../base/json/placeholders.ts';
import type { JsonValue } from '../../../base/schema.ts';
import {
  createFactReader, findPathProblem, type FactReader, type Facts,
} from '../../members/filters/facts.ts';

type FactPlace = { readonly path: string; readonly readFact: FactReader };

export type TextTemplate = readonly (string | FactPlace)[];

const TEMPLATE_SOURCES = ['payload', 'headers', 'query', 'event'];

/** Throws `malformed` with the problem as a clause. */
export function parseTextTemplate(source: string): TextTemplate {
  return splitPlaceholders(source, {
    parsePath: rememberPaths((path) => {
      const problem = path === '' ? null : findPathProblem(path, TEMPLATE_SOURCES);
      if (problem !== null) throw new AppError('malformed', `{{ ${path} }} ${problem}`);
      return path === '' ? null : { path, readFact: createFactReader(path) };
    }),
    createError: (_index, problem) => new AppError('malformed', problem),
  }) ?? [source];
}

/** Throws `too_large` for a text of more than `lengthMax` UTF-16 code units. */
export function fillTextTemplate(template: TextTemplate, facts: Facts, lengthMax: number): string {
  return fillPieces(template,
    ({ readFact }) => formatPlaceholderValue(readFact(facts) as JsonValue | undefined), lengthMax,
    () => new AppError('too_large', `passes ${lengthMax} characters`));
}

/** Whether a placeholder has a name in its path by which its value may be a secret. */
export function readsSecret(template: TextTemplate): boolean {
  return template.some((piece) =>
    typeof piece !== 'string' && piece.path.split('.').some(isSecretName));
}
