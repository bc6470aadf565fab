/** Bodies of the type application/x-www-form-urlencoded (WHATWG URL §5.1). Pure. */

/** Names in the order in which they came first, each with its values. */
export type FormFields = ReadonlyMap<string, readonly string[]>;

/** More fields than any sender has; so many still take a few milliseconds to read. */
const FIELDS_MAX = 10_000;

const AMPERSAND = 0x26;
const EQUALS = 0x3d;
const PLUS = 0x2b;
const PERCENT = 0x25;
const SPACE = 0x20;
/** Of each byte its value as a hexadecimal digit; what is none makes every sum negative. */
const NO_DIGIT = -4096;
const HEX_VALUES = Int16Array.from({ length: 256 }, (_, byte) => {
  const value = parseInt(String.fromCharCode(byte), 16);
  return Number.isNaN(value) ? NO_DIGIT : value;
});

export const FORM_TYPE = 'application/x-www-form-urlencoded';

/** The media type of a `Content-Type`, in lower case and without parameters. */
export function mediaTypeOf(contentType = ''): string {
  const end = contentType.indexOf(';');
  return (end === -1 ? contentType : contentType.slice(0, end)).trim().toLowerCase();
}

/**
 * null: there are more than 10,000 fields. What URLSearchParams gives, grouped by name, in less
 * than half of the time (measured, 20 fields): the body is decoded once and then cut.
 */
export function parseForm(body: Buffer): FormFields | null {
  const size = body.length;
  const decoded = Buffer.allocUnsafe(size);
  // Of each field: where its name begins, where its = stood (-1: nowhere), where its value ends.
  const places: number[] = [];
  let length = 0;
  let start = 0;
  let nameEnd = -1;
  let allBits = 0;
  let pairs = 1;
  let index = 0;
  while (index < size) {
    const byte = body[index] ?? 0;
    index += 1;
    // Most bytes are letters, which come after all that mean something.
    if (byte > EQUALS) {
      decoded[length] = byte;
      length += 1;
      allBits |= byte;
    } else if (byte === AMPERSAND) {
      if (length > start || nameEnd !== -1) places.push(start, nameEnd, length);
      start = length;
      nameEnd = -1;
      pairs += 1;
      if (pairs > FIELDS_MAX) return null;
    } else if (byte === EQUALS && nameEnd === -1) {
      nameEnd = length;
    } else {
      let plain = byte === PLUS ? SPACE : byte;
      if (byte === PERCENT && index + 1 < size) {
        const high = HEX_VALUES[body[index] ?? 0] ?? 0;
        const code = high * 16 + (HEX_VALUES[body[index + 1] ?? 0] ?? 0);
        // A lone % stands for itself.
        if (code >= 0) {
          plain = code;
          index += 2;
          allBits |= code;
        }
      }
      decoded[length] = plain;
      length += 1;
    }
  }
  if (length > start || nameEnd !== -1) places.push(start, nameEnd, length);
  return cutFields(decoded, length, places, allBits < 0x80);
}

function cutFields(
  decoded: Buffer, length: number, places: readonly number[], isAscii: boolean,
): Map<string, string[]> {
  const text = isAscii ? decoded.toString('latin1', 0, length) : '';
  // What is no UTF-8 becomes U+FFFD.
  const cut = (start: number, end: number): string =>
    isAscii ? text.slice(start, end) : decoded.toString('utf8', start, end);
  const form = new Map<string, string[]>();
  for (let index = 0; index < places.length; index += 3) {
    const end = places[index + 2] ?? 0;
    const equals = places[index + 1] ?? 0;
    const nameEnd = equals === -1 ? end : equals;
    const name = cut(places[index] ?? 0, nameEnd);
    const value = cut(nameEnd, end);
    const values = form.get(name);
    if (values === undefined) form.set(name, [value]);
    else values.push(value);
  }
  return form;
}

/** Names in order of code units, each before its values in order: a repeated value counts once. */
export function sortedFields(form: FormFields): string {
  let sorted = '';
  for (const { name, values } of sortedByName(form)) {
    const ordered = values.length === 1 ? values : [...new Set(values)].sort();
    for (const value of ordered) sorted += name + value;
  }
  return sorted;
}

type Field = {
  readonly name: string; readonly values: readonly string[];
  /** By which most names are told apart, so that few texts are compared. */
  readonly rank: number;
};

/** More names are left to the engine's own sort. */
const INSERTED_MAX = 64;

/**
 * Most names are told apart by their first three code units, which one number holds: to verify a
 * text message of Twilio, 1 KB in 20 fields, takes 0.8 µs less than with the engine's sort, of 7.8.
 */
function sortedByName(form: FormFields): readonly Field[] {
  const fields: Field[] = [];
  for (const [name, values] of form) {
    const field = { name, values, rank: rankOf(name) };
    let index = fields.length;
    if (form.size <= INSERTED_MAX) {
      for (; index > 0; index -= 1) {
        const before = fields[index - 1];
        if (before === undefined || isBefore(before, field)) break;
        fields[index] = before;
      }
    }
    fields[index] = field;
  }
  if (form.size <= INSERTED_MAX) return fields;
  return fields.sort((left, right) => isBefore(left, right) ? -1 : 1);
}

function isBefore(left: Field, right: Field): boolean {
  return left.rank < right.rank || (left.rank === right.rank && left.name < right.name);
}

function rankOf(name: string): number {
  const { length } = name;
  const first = length > 0 ? name.charCodeAt(0) : 0;
  const second = length > 1 ? name.charCodeAt(1) : 0;
  return (first * 0x10000 + second) * 0x10000 + (length > 2 ? name.charCodeAt(2) : 0);
}
