/**
 * Splits a text at its placeholders, `{{ path.to.value }}`, and formats the values that stand in
 * their place. Templates of bodies and of commands both read them here. Pure.
 *
 * An escaped `\{{` stays as `{{`: the text `\{{ a }} is {{ a }}` becomes "{{ a }} is 1".
 */
import { encodeJson } from './encode.ts';
import type { AppError } from '../errors.ts';
import type { JsonValue } from '../schema.ts';

/** How the paths in the placeholders of a text are read. */
type PlaceholderReading<Path> = {
  /** Called with the path, without white space around its steps; null: it is not valid. */
  readonly parsePath: (path: string) => Path | null;
  /** `index` is that of the placeholder in the text; `problem` is a clause. */
  readonly createError: (index: number, problem: string) => AppError;
};

/**
 * The pieces of a text: text as it is to stand, and the path of each placeholder. null: the text
 * has neither a placeholder nor an escaped `{{`. Throws the error of `reading` for a placeholder
 * that is not closed or has no valid path.
 */
export function splitPlaceholders<Path extends object>(
  content: string, reading: PlaceholderReading<Path>,
): readonly (string | Path)[] | null {
  const pieces: (string | Path)[] = [];
  let literal = '';
  let index = 0;
  while (index < content.length) {
    const open = content.indexOf('{{', index);
    if (open === -1) break;
    if (content[open - 1] === '\\' && open > index) {
      literal += `${content.slice(index, open - 1)}{{`;
      index = open + 2;
      continue;
    }
    const close = content.indexOf('}}', open + 2);
    if (close === -1) {
      throw reading.createError(open, 'a placeholder is opened with {{ and not closed with }}');
    }
    const path = parsePath(content.slice(open + 2, close), reading);
    if (path === null) {
      throw reading.createError(open, 'a placeholder needs a path such as {{ path.to.value }}');
    }
    literal += content.slice(index, open);
    if (literal !== '') pieces.push(literal);
    literal = '';
    pieces.push(path);
    index = close + 2;
  }
  // `index` moves past each `{{`: the text has none.
  if (index === 0) return null;
  literal += content.slice(index);
  if (literal !== '') pieces.push(literal);
  return pieces;
}

/** Gives a path that is written again the same result, so that its value is formatted once. */
export function rememberPaths<Path extends object>(
  parsePath: (path: string) => Path | null,
): (path: string) => Path | null {
  const paths = new Map<string, Path>();
  return (text) => {
    const path = paths.get(text) ?? parsePath(text);
    if (path !== null) paths.set(text, path);
    return path;
  };
}

/**
 * The pieces as one text. `format` is called once for each path, however often it stands there.
 * Throws the error of `createTooLong`, before anything is joined, for more than `lengthMax` UTF-16
 * code units.
 */
export function fillPieces<Path extends object>(
  pieces: readonly (string | Path)[], format: (path: Path) => string, lengthMax: number,
  createTooLong: () => AppError,
): string {
  const texts = new Map<Path, string>();
  let length = 0;
  const filled = pieces.map((piece) => {
    const text = typeof piece === 'string' ? piece : texts.get(piece) ?? format(piece);
    length += text.length;
    if (length > lengthMax) throw createTooLong();
    if (typeof piece !== 'string') texts.set(piece, text);
    return text;
  });
  return filled.join('');
}

/** Texts stay as they are, other values become JSON; missing and null are empty. */
export function formatPlaceholderValue(value: JsonValue | undefined): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : encodeJson(value);
}

function parsePath<Path>(source: string, reading: PlaceholderReading<Path>): Path | null {
  const path = source.split('.').map((step) => step.trim()).join('.');
  // A brace shows that an outer `{{` was not closed, as in `{{ a {{ b }}`.
  return path.includes('{') ? null : reading.parsePath(path);
}
