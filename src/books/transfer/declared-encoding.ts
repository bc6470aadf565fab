/** The encoding of a file of books that somebody declares: a caller, or the file itself. */
import { AppError } from '../../base/errors.ts';
import type { ErrorCode } from '../../base/errors.ts';
import { explainUnknownCharset, findCharset } from '../../base/text/charset.ts';
import type { FileEncoding } from './decode-text.ts';
import type { FormatName } from './format-list.ts';

/** A name that says nothing of bytes that are no ASCII: they tell what they are. */
const ASCII = /^(?:us[-_])?ascii$/i;
/** The end of what stands before the first entry of a BibTeX file. */
const FIRST_ENTRY = /^[ \t]*@/m;
/** As JabRef writes it: `% Encoding: Cp1250`. */
const BIBTEX_ENCODING = /^[ \t]*%[ \t%]*encoding:[ \t]*(\S+)/im;

/** The encoding of that name; null: none is declared. Throws `code` for an unknown one. */
export function resolveEncoding(label: string | null, code: ErrorCode): FileEncoding | null {
  if (label === null || label === '' || ASCII.test(label)) return null;
  const encoding = findCharset(label);
  if (encoding === null) throw new AppError(code, explainUnknownCharset(label));
  return encoding;
}

/**
 * The encoding that a file declares in its beginning; null: it declares none. Throws `invalid` for
 * an unknown one.
 */
export function readDeclaredEncoding(format: FormatName, head: Buffer): FileEncoding | null {
  if (format !== 'bibtex') return null;
  const text = head.toString('latin1');
  const end = FIRST_ENTRY.exec(text)?.index ?? text.length;
  return resolveEncoding(BIBTEX_ENCODING.exec(text.slice(0, end))?.[1] ?? null, 'invalid');
}
