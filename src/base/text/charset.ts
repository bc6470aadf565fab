/**
 * Text in a declared charset, by the names and tables of the WHATWG Encoding standard. Names that
 * Java has for charsets (`Cp1250`, `ISO8859_2`), as JabRef writes them, are known too.
 */
import { isAscii, isUtf8 } from 'node:buffer';
import { TextDecoder } from 'node:util';
import { quote } from './error-message.ts';

/** The names that a message lists; `iso-8859-1` and others are further names of these. */
export const CHARSETS: readonly string[] = [
  'utf-8', 'utf-16le', 'utf-16be', 'windows-1250', 'windows-1251', 'windows-1252', 'windows-1253',
  'windows-1254', 'windows-1255', 'windows-1256', 'windows-1257', 'windows-1258', 'windows-874',
  'iso-8859-2', 'iso-8859-3', 'iso-8859-4', 'iso-8859-5', 'iso-8859-6', 'iso-8859-7', 'iso-8859-8',
  'iso-8859-10', 'iso-8859-13', 'iso-8859-14', 'iso-8859-15', 'koi8-r', 'koi8-u', 'ibm866',
  'macintosh', 'big5', 'gbk', 'gb18030', 'shift_jis', 'euc-jp', 'iso-2022-jp', 'euc-kr',
];

const JAVA_NAMES: ReadonlyMap<string, string> =
  new Map([['macroman', 'macintosh'], ['x-macroman', 'macintosh']]);
const UTF8 = /^utf-?8$/i;
const PARAMETER = /;\s*charset=["']?([^"';\s]*)/i;

/** The charset that a `Content-Type` declares, as it is written there; null: none. */
export function findDeclaredCharset(contentType = ''): string | null {
  return PARAMETER.exec(contentType)?.[1] || null;
}

/** The standard's name of a charset, in lower case; null: it is unknown. */
export function findCharset(label: string): string | null {
  if (UTF8.test(label)) return 'utf-8';
  for (const name of [label, label.replaceAll('_', '-'), JAVA_NAMES.get(label.toLowerCase())]) {
    try {
      if (name !== undefined) return new TextDecoder(name).encoding;
    } catch {
      // Node does not know this name.
    }
  }
  return null;
}

/** The name as people write it: `UTF-16`, `Windows-1250`, `ISO-8859-2`. */
export function formatCharset(charset: string): string {
  if (charset.startsWith('utf-16')) return 'UTF-16';
  return charset.startsWith('windows') ? `W${charset.slice(1)}` : charset.toUpperCase();
}

export function explainUnknownCharset(label: string): string {
  return `the charset ${quote(label)} is unknown: known are ${CHARSETS.join(', ')}`;
}

/** The decoders that were made, by charset: making one for each field of a form takes long. */
const decoders = new Map<string, TextDecoder>();

/** The text of bytes in a charset of `findCharset`; null: some are no character of it. */
export function decodeCharset(bytes: Buffer, charset: string): string | null {
  if (charset === 'utf-8') return isUtf8(bytes) ? bytes.toString('utf8') : null;
  if (charset === 'windows-1252') {
    const text = decodeWindows1252(bytes);
    return text.includes('\ufffd') ? null : text;
  }
  let decoder = decoders.get(charset);
  if (decoder === undefined) {
    decoder = new TextDecoder(charset, { fatal: true });
    decoders.set(charset, decoder);
  }
  try {
    return decoder.decode(bytes);
  } catch {
    return null;
  }
}

/** The characters of the bytes 80 to 9F: Node's own decoder makes control characters of them. */
const WINDOWS_1252 = '€\ufffd‚ƒ„…†‡ˆ‰Š‹Œ\ufffdŽ\ufffd\ufffd‘’“”•–—˜™š›œ\ufffdžŸ';

/** The five bytes that are no character of Windows-1252 become U+FFFD. */
export function decodeWindows1252(bytes: Buffer): string {
  const text = bytes.toString('latin1');
  return isAscii(bytes) ? text : text.replace(/[\u0080-\u009f]/g, (character) =>
    WINDOWS_1252[character.charCodeAt(0) - 0x80] ?? character);
}
