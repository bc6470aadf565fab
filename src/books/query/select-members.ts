/**
 * The members of a book that a caller asks for by `fields`. They are copied from the stored bytes:
 * a book that is parsed and written anew costs several times as much.
 */
import { findStringEnd } from '../../base/json/parse.ts';
import { quote, suggestName } from '../../base/text/error-message.ts';
import { malformed } from '../../server/query.ts';
import { bookSchema } from '../book.ts';
import { findValueEnd } from './stored-json.ts';

const QUOTE = 0x22;
const BRACE = Buffer.from('{');
const BRACE_END = Buffer.from('}');
const COMMA = Buffer.from(',');
const ID = 'id';
const NAMES = Object.keys(bookSchema.members);

/** Parses names such as `title,authors`; `id` is always one of them. Throws `malformed`. */
export function parseFields(text: string): ReadonlySet<string> {
  if (text === '') throw malformed('`fields` must name members of a book, such as `title,authors`');
  const fields = new Set([ID, ...text.split(',')]);
  for (const name of fields) {
    if (NAMES.includes(name)) continue;
    throw malformed('`fields` must be names of members such as `title,authors`, not '
      + `${quote(name)}${suggestName(name, NAMES)}`);
  }
  return fields;
}

/** A stored book as JSON with these members alone, in the order in which it has them. */
export function selectMembers(bytes: Buffer, fields: ReadonlySet<string>): Buffer {
  const parts: Buffer[] = [];
  let missing = fields.size;
  for (let at = 1; bytes[at] === QUOTE && missing > 0;) {
    const nameEnd = findStringEnd(bytes, at + 1);
    const end = findValueEnd(bytes, nameEnd + 2);
    if (fields.has(bytes.toString('latin1', at + 1, nameEnd))) {
      parts.push(parts.length === 0 ? BRACE : COMMA, bytes.subarray(at, end));
      missing -= 1;
    }
    at = end + 1;
  }
  return Buffer.concat([...parts, BRACE_END]);
}
