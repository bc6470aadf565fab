/** Parses bodies of the type application/x-www-form-urlencoded (WHATWG URL §5.1). Pure. */
import { decodeCharset, findCharset, findDeclaredCharset } from './charset.ts';

/** Names in the order of their first field, each with its values. */
export type FormFields = ReadonlyMap<string, readonly string[]>;

/** No sender has more fields; so many still take a few milliseconds to parse. */
export const FORM_FIELDS_MAX = 10_000;

const AMPERSAND = 0x26;
const EQUALS = 0x3d;
const PLUS = 0x2b;
const PERCENT = 0x25;
const SPACE = 0x20;
/**
 * The value of each byte as a hexadecimal digit. The value of other bytes makes every sum negative.
 */
const NO_DIGIT = -4096;
const HEX_VALUES = Int16Array.from({ length: 256 }, (_, byte) => {
  const value = parseInt(String.fromCharCode(byte), 16);
  return Number.isNaN(value) ? NO_DIGIT : value;
});

/** The byte that two hexadecimal digits say; negative: there are none. */
export function readHexByte(bytes: Buffer, at: number): number {
  return (HEX_VALUES[bytes[at] ?? 0] ?? 0) * 16 + (HEX_VALUES[bytes[at + 1] ?? 0] ?? 0);
}

export const FORM_TYPE = 'application/x-www-form-urlencoded';

/** The media type of a `Content-Type`, in lower case and without parameters. */
export function parseMediaType(contentType = ''): string {
  const end = contentType.indexOf(';');
  return (end === -1 ? contentType : contentType.slice(0, end)).trim().toLowerCase();
}

/** Whether a form has more than 10,000 fields, empty ones between two `&` included. */
export function hasTooManyFields(body: Buffer): boolean {
  // Each field but the last takes at least one byte.
  if (body.length < FORM_FIELDS_MAX) return false;
  let separators = 0;
  for (let at = body.indexOf(AMPERSAND); at >= 0; at = body.indexOf(AMPERSAND, at + 1)) {
    separators += 1;
    if (separators >= FORM_FIELDS_MAX) return true;
  }
  return false;
}

const UTF8_MARK = Buffer.from([0xef, 0xbb, 0xbf]);

/**
 * The form, in the charset that its `Content-Type` declares, else UTF-8. A byte order mark before
 * it is left out. null: it has more than 10,000 fields, or is not in the charset that is declared,
 * or that one is unknown. It takes less than half the time of URLSearchParams (measured with 20
 * fields): the body is decoded once and then cut.
 */
export function parseForm(body: Buffer, contentType?: string): FormFields | null {
  const charset = resolveCharset(contentType);
  if (charset === 'unknown') return null;
  const size = body.length;
  const decodedBytes = Buffer.allocUnsafe(size);
  // Three offsets for each field: begin and end of its name, and end of its value.
  const offsets: number[] = [];
  let length = 0;
  let start = 0;
  let nameEnd = -1;
  let allBits = 0;
  let pairs = 1;
  let index = body.subarray(0, UTF8_MARK.length).equals(UTF8_MARK) ? UTF8_MARK.length : 0;
  while (index < size) {
    const byte = body[index] ?? 0;
    index += 1;
    // Most bytes are letters, which have larger codes than all special characters.
    if (byte > EQUALS) {
      decodedBytes[length] = byte;
      length += 1;
      allBits |= byte;
    } else if (byte === AMPERSAND) {
      if (length > start || nameEnd !== -1) {
        offsets.push(start, nameEnd === -1 ? length : nameEnd, length);
      }
      start = length;
      nameEnd = -1;
      pairs += 1;
      if (pairs > FORM_FIELDS_MAX) return null;
    } else if (byte === EQUALS && nameEnd === -1) {
      nameEnd = length;
    } else {
      let character = byte === PLUS ? SPACE : byte;
      const code = byte === PERCENT ? readHexByte(body, index) : -1;
      // A lone % stands for itself.
      if (code >= 0) {
        character = code;
        index += 2;
        allBits |= code;
      }
      decodedBytes[length] = character;
      length += 1;
    }
  }
  if (length > start || nameEnd !== -1) {
    offsets.push(start, nameEnd === -1 ? length : nameEnd, length);
  }
  return cutFields(decodedBytes, length, offsets, allBits < 0x80, charset);
}

/** The charset that is declared, or `unknown`; null: none is, and the body is in UTF-8. */
export function resolveCharset(contentType: string | undefined): string | null {
  const label = contentType === undefined ? null : findDeclaredCharset(contentType);
  return label === null ? null : findCharset(label) ?? 'unknown';
}

/** The body in UTF-8, by the charset of its `Content-Type`; null: it cannot be decoded. */
export function toUtf8(body: Buffer, contentType?: string): Buffer | null {
  const charset = resolveCharset(contentType);
  if (charset === null || charset === 'utf-8') return body;
  const text = charset === 'unknown' ? null : decodeCharset(body, charset);
  return text === null ? null : Buffer.from(text);
}

/** null: a field is not in the charset. */
function cutFields(
  bytes: Buffer, length: number, offsets: readonly number[], isAscii: boolean,
  charset: string | null,
): FormFields | null {
  const text = isAscii ? bytes.toString('latin1', 0, length) : '';
  const cut = (start: number, end: number): string | null => {
    if (isAscii) return text.slice(start, end);
    // Invalid UTF-8 becomes U+FFFD where nobody has said that it is UTF-8.
    return charset === null ? bytes.toString('utf8', start, end)
      : decodeCharset(bytes.subarray(start, end), charset);
  };
  const fields = new Map<string, string[]>();
  for (let index = 0; index < offsets.length; index += 3) {
    const nameEnd = offsets[index + 1] ?? 0;
    const name = cut(offsets[index] ?? 0, nameEnd);
    const value = cut(nameEnd, offsets[index + 2] ?? 0);
    if (name === null || value === null) return null;
    const values = fields.get(name);
    if (values === undefined) fields.set(name, [value]);
    else values.push(value);
  }
  return fields;
}
