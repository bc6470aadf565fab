/**
 * Reads a hooks file of adnanh/webhook: an array of hooks in JSON or in YAML (hooks-yaml.ts). What
 * begins with a bracket, a brace, a quotation mark or a slash is JSON, which people write with `//`
 * and block comments and with a comma behind the last element or member. Both are blanked out, so
 * that places in errors are those of the file. Only where that is no JSON, a template within a
 * string, such as `"{{ getenv "KEY" | js }}"`, is read as text: its quotation marks become
 * apostrophes.
 */
import { isUtf8 } from 'node:buffer';
import { AppError, messageOf } from '../../../../base/errors.ts';
import { isJsonObject, mapInner } from '../../../../base/fields.ts';
import { parseJsonStrictly } from '../../../../base/json/parse.ts';
import type { JsonObject, JsonValue } from '../../../../base/schema.ts';
import { TEMPLATE } from './hook-template.ts';
import { parseHooksYaml } from './hooks-yaml.ts';

/** Throws `malformed` with line and column, and `invalid` for JSON that is no array of hooks. */
export function parseHooksFile(bytes: Buffer): readonly JsonObject[] {
  const hooks = parseJson(bytes);
  // People forget the brackets around a single hook.
  const list: readonly JsonValue[] | null = Array.isArray(hooks) ? hooks
    : isJsonObject(hooks) ? [hooks] : null;
  if (list === null || !list.every(isJsonObject)) {
    throw new AppError('invalid', 'must be an array of hooks, such as '
      + '[{ "id": "deploy", "execute-command": "/srv/deploy.sh" }]');
  }
  return list.map(lowerNames);
}

/** The members by their names in lower case, which are the names there: case does not count. */
function lowerNames(members: JsonObject): JsonObject {
  const lowerInner = (value: JsonValue): JsonValue =>
    isJsonObject(value) ? lowerNames(value) : mapInner(value, lowerInner);
  const lowered = new Map<string, JsonValue>();
  for (const [name, value] of Object.entries(members)) {
    const lowerName = name.toLowerCase();
    if (lowered.has(lowerName)) {
      throw new AppError('invalid', `the member ${lowerName} stands twice, in two spellings`);
    }
    lowered.set(lowerName, lowerInner(value));
  }
  return Object.fromEntries(lowered);
}

function parseJson(bytes: Buffer): JsonValue {
  // The parser refuses bytes that are no UTF-8, and says where they are.
  if (!isUtf8(bytes)) return parseJsonStrictly(bytes) as JsonValue;
  const text = bytes.toString('utf8');
  if (!/^\s*(?:["/[]|\{(?!\{))/.test(text)) return parseYaml(text);
  try {
    return parseJsonStrictly(Buffer.from(blankExtensions(text, false))) as JsonValue;
  } catch (thrown) {
    const plainText = blankExtensions(text, true);
    if (!plainText.includes('{{')) throw thrown;
    return parseWithTemplates(plainText);
  }
}

const TEMPLATE_HINT = 'of templates only those within a string can be read: write what the '
  + 'others make in their place';

function parseWithTemplates(text: string): JsonValue {
  try {
    return parseJsonStrictly(Buffer.from(text)) as JsonValue;
  } catch (thrown) {
    throw new AppError('malformed', `${messageOf(thrown)}; ${TEMPLATE_HINT}`, {}, thrown);
  }
}

function parseYaml(text: string): JsonValue {
  try {
    return parseHooksYaml(text);
  } catch (thrown) {
    const line = text.split('\n').findIndex((each) => /^\s*\{\{.*\}\}\s*$/.test(each));
    if (line === -1) throw thrown;
    throw new AppError('malformed', `line ${line + 1}: ${TEMPLATE_HINT}`, {}, thrown);
  }
}

/** The text in plain JSON, each letter at its line and column. */
function blankExtensions(text: string, hasTemplates: boolean): string {
  const pieces: string[] = [];
  // The text before a comma that may be a spare one, and the place of that comma.
  let previous = '';
  let commaAt = -1;
  for (let index = 0; index < text.length;) {
    const end = findTokenEnd(text, index, hasTemplates);
    const token = text.slice(index, end);
    index = end;
    if (/^\/[/*]/.test(token)) {
      pieces.push(token.replace(/[^\r\n]/gu, ' '));
      continue;
    }
    const isSpace = token.trim() === '';
    if (!isSpace && commaAt !== -1 && /^[\]}]/.test(token)) pieces[commaAt] = ' ';
    if (!isSpace) commaAt = token === ',' && !'[{,'.includes(previous) ? pieces.length : -1;
    if (!isSpace) previous = token.at(-1) ?? '';
    pieces.push(token.startsWith('"') ? readTemplates(token) : token);
  }
  return pieces.join('');
}

/** The index behind the string, the comment, the sign or the run of other letters at `start`. */
function findTokenEnd(text: string, start: number, hasTemplates: boolean): number {
  const sign = text[start] ?? '';
  if (sign === '"') return findStringEnd(text, start, hasTemplates);
  if (text.startsWith('//', start)) return findEnd(text, '\n', start, text.length);
  // A comment without an end is none, so that the parser says where it is.
  if (text.startsWith('/*', start)) return findEnd(text, '*/', start + 2, start - 1) + 2;
  if (/[,/[\]{}]/.test(sign)) return start + 1;
  RUN.lastIndex = start;
  return RUN.test(text) ? RUN.lastIndex : start + 1;
}

/** White space, or all up to it or to a sign. */
const RUN = /\s+|[^\s,/[\]{}"]+/y;

function findEnd(text: string, sign: string, start: number, absent: number): number {
  const end = text.indexOf(sign, start);
  return end === -1 ? absent : end;
}

function findStringEnd(text: string, start: number, hasTemplates: boolean): number {
  let index = start + 1;
  while (index < text.length && text[index] !== '"' && text[index] !== '\n') {
    TEMPLATE.lastIndex = index;
    if (hasTemplates && TEMPLATE.test(text)) index = TEMPLATE.lastIndex;
    else index += text[index] === '\\' ? 2 : 1;
  }
  return index + 1;
}

/** A string as JSON has it: quotation marks within it are those of templates. */
function readTemplates(token: string): string {
  const last = token.length - 1;
  return token.replace(/\\[^]|"/g, (found, at) =>
    found === '"' && at > 0 && at < last ? "'" : found);
}
