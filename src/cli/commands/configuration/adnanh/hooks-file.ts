/**
 * Reads a hooks file of adnanh/webhook: a JSON array of hooks, which people write with `//` and
 * block comments and with commas before closing brackets. Both are blanked out, so that places in
 * errors are those of the file. A template within a string, such as `"{{ getenv "KEY" | js }}"`, is
 * read as text: its quotation marks become apostrophes.
 */
import { AppError, messageOf } from '../../../../base/errors.ts';
import { isJsonObject } from '../../../../base/fields.ts';
import { parseJsonStrictly } from '../../../../base/json/parse.ts';
import type { JsonObject, JsonValue } from '../../../../base/schema.ts';

/** Throws `malformed` with line and column, and `invalid` for JSON that is no array of hooks. */
export function parseHooksFile(bytes: Buffer): readonly JsonObject[] {
  const hooks = parseJson(blankExtensions(bytes));
  // Of one hook alone people forget the brackets.
  const list: readonly JsonValue[] | null = Array.isArray(hooks) ? hooks
    : isJsonObject(hooks) ? [hooks] : null;
  if (list === null || !list.every(isJsonObject)) {
    throw new AppError('invalid', 'must be an array of hooks, such as '
      + '[{ "id": "deploy", "execute-command": "/srv/deploy.sh" }]');
  }
  return list;
}

function parseJson(bytes: Buffer): JsonValue {
  try {
    return parseJsonStrictly(bytes) as JsonValue;
  } catch (thrown) {
    throw new AppError('malformed', messageOf(thrown) + findHint(bytes.toString('utf8')), {},
      thrown);
  }
}

function findHint(text: string): string {
  if (/^\s*(?:---|-\s+\w|[\w-]+:\s)/.test(text)) {
    return '; it looks like YAML, which `yq -o json hooks.yaml > hooks.json` makes JSON';
  }
  return text.includes('{{') ? '; of templates only those within a string can be read: write what '
    + 'the others make in their place' : '';
}

const SPACE = 0x20;
const NEWLINE = 0x0a;
const RETURN = 0x0d;
const QUOTE = 0x22;
const APOSTROPHE = 0x27;
const BACKSLASH = 0x5c;
const SLASH = 0x2f;
const ASTERISK = 0x2a;
const COMMA = 0x2c;
const CLOSING = [0x5d, 0x7d];
/** A longer template is no secret's. */
const TEMPLATE_BYTES_MAX = 500;

/** The text in plain JSON, each byte at its place. */
function blankExtensions(bytes: Buffer): Buffer {
  const text = Buffer.from(bytes);
  let commaAt = -1;
  let index = 0;
  while (index < text.length) {
    const byte = text[index] ?? 0;
    const commentEnd = findCommentEnd(text, index);
    if (commentEnd !== null) {
      blank(text, index, commentEnd);
      index = commentEnd;
    } else if (byte === QUOTE) {
      index = passString(text, index);
      commaAt = -1;
    } else {
      if (CLOSING.includes(byte) && commaAt !== -1) text[commaAt] = SPACE;
      if (byte === COMMA) commaAt = index;
      else if (byte > SPACE) commaAt = -1;
      index += 1;
    }
  }
  return text;
}

/** The index behind the comment that begins at `start`; null: none does. */
function findCommentEnd(text: Buffer, start: number): number | null {
  if (text[start] !== SLASH) return null;
  if (text[start + 1] === SLASH) {
    const end = text.indexOf(NEWLINE, start);
    return end === -1 ? text.length : end;
  }
  if (text[start + 1] !== ASTERISK) return null;
  const end = text.indexOf('*/', start + 2);
  return end === -1 ? text.length : end + 2;
}

function blank(text: Buffer, start: number, end: number): void {
  for (let index = start; index < end; index += 1) {
    if (text[index] !== NEWLINE && text[index] !== RETURN) text[index] = SPACE;
  }
}

/** The index behind the string that opens at `start`; templates in it get apostrophes. */
function passString(text: Buffer, start: number): number {
  let index = start + 1;
  while (index < text.length && text[index] !== QUOTE && text[index] !== NEWLINE) {
    const templateEnd = findTemplateEnd(text, index);
    if (templateEnd === null) {
      index += text[index] === BACKSLASH ? 2 : 1;
      continue;
    }
    for (; index < templateEnd; index += 1) if (text[index] === QUOTE) text[index] = APOSTROPHE;
  }
  return index + 1;
}

/** The end of a template on one line that has a quotation mark in it; null: there is none. */
function findTemplateEnd(text: Buffer, start: number): number | null {
  if (text[start] !== 0x7b || text[start + 1] !== 0x7b) return null;
  const beginning = text.subarray(start, start + TEMPLATE_BYTES_MAX).toString('latin1');
  // An escaped quotation mark is plain JSON already.
  const [template = ''] = /^\{\{[^{}\\\n]*\}\}/.exec(beginning) ?? [];
  return template.includes('"') ? start + template.length : null;
}
