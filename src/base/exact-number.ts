/**
 * Numbers of JSON from outside, with all their digits. A double has some 16 digits: the id
 * 820982911946154508 would become …500, `10.00` would become 10, and `1e400` null.
 *
 * - A number whose shortest text is the text that came is a JavaScript number: nearly all are. Any
 *   other number is an `ExactNumber`, which keeps its text.
 * - `parseJson` and `parseJsonText` (json/) make them, `encodeJson` (json/encode.ts) writes their
 *   text. The plain `JSON.stringify` writes the double: it is for values that are ours.
 * - `isSameScalar`, `ScalarSet` and `compareNumbers` compare by value, exactly: `10.00` is 10.
 * - A member of a model that is a number (`kind: 'number'` or 'integer') is a double again: see
 *   `base/fields.ts`. Actions of one's own get doubles: their payload is parsed apart.
 *
 * JSON.parse of Node 20 does not tell the text of a number, so our own parser reads the texts that
 * hold such numbers.
 */
export class ExactNumber {
  /** Counts the numbers that JSON.stringify has written as doubles, for `encodeJson` to see it. */
  static encodedAsDoubleCount = 0;
  /** A number as RFC 8259 has it, as it came. */
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  /** The nearest double; `Infinity` when it is too large. */
  valueOf(): number {
    return Number(this.text);
  }

  toString(): string {
    return this.text;
  }

  toJSON(): number {
    ExactNumber.encodedAsDoubleCount += 1;
    return Number(this.text);
  }
}

export type JsonNumber = number | ExactNumber;

/** A shallow or small JSON value with JavaScript numbers alone: itself, unless it has others. */
export function toDoubles<Value>(value: Value): Value {
  const countBefore = ExactNumber.encodedAsDoubleCount;
  const text = JSON.stringify(value);
  return ExactNumber.encodedAsDoubleCount === countBefore ? value : JSON.parse(text) as Value;
}

export function isJsonNumber(value: unknown): value is JsonNumber {
  return typeof value === 'number' || value instanceof ExactNumber;
}

export function parseNumber(text: string): JsonNumber {
  const double = Number(text);
  return String(double) === text ? double : new ExactNumber(text);
}

/** Returns a number below 0, 0 or above 0: `left` is less than, equal to or more than `right`. */
export function compareNumbers(left: JsonNumber, right: JsonNumber): number {
  if (typeof left === 'number' && typeof right === 'number') return left - right;
  const first = toDecimal(left);
  const second = toDecimal(right);
  if (first.sign !== second.sign) return first.sign - second.sign;
  if (first.scale !== second.scale) return first.sign * (first.scale - second.scale);
  if (first.digits === second.digits) return 0;
  return first.digits < second.digits ? -first.sign : first.sign;
}

/** Whether two texts, numbers, booleans or nulls are the same; numbers are by their value. */
export function isSameScalar(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  return (left instanceof ExactNumber || right instanceof ExactNumber)
    && isJsonNumber(left) && isJsonNumber(right) && compareNumbers(left, right) === 0;
}

/** A set of texts, numbers, booleans and nulls, each of them once as `isSameScalar` says. */
export class ScalarSet {
  readonly #values = new Set<unknown>();
  /** Numbers that have no equal double. */
  readonly #decimals = new Set<string>();

  constructor(values: Iterable<unknown> = []) {
    for (const value of values) this.add(value);
  }

  add(value: unknown): void {
    if (!(value instanceof ExactNumber)) {
      this.#values.add(value);
      return;
    }
    const number = normalizeNumber(value);
    if (typeof number === 'number') this.#values.add(number);
    else this.#decimals.add(number.text);
  }

  has(value: unknown): boolean {
    if (!(value instanceof ExactNumber)) return this.#values.has(value);
    const number = normalizeNumber(value);
    return typeof number === 'number'
      ? this.#values.has(number) : this.#decimals.has(number.text);
  }
}

/** The only form of all numbers of a value: a JavaScript number if one has that value. */
export function normalizeNumber(value: ExactNumber): JsonNumber {
  const double = Number(value.text);
  if (Number.isFinite(double) && compareNumbers(value, double) === 0) return double;
  const { sign, digits, scale } = toDecimal(value);
  const minus = sign < 0 ? '-' : '';
  return new ExactNumber(scale >= digits.length && scale <= INTEGER_DIGITS_MAX
    ? minus + digits.padEnd(scale, '0') : `${minus}0.${digits}e${scale}`);
}

/** The value is `sign` × 0.`digits` × 10^`scale`. The digits neither begin nor end with 0. */
type Decimal = { readonly sign: -1 | 0 | 1; readonly digits: string; readonly scale: number };

const NUMBER_PARTS = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;
const DIGIT_0 = 0x30;
/** Longer integers have an exponent in their normal form. */
const INTEGER_DIGITS_MAX = 40;
/** A larger exponent counts as this one. */
const SCALE_MAX = Number.MAX_SAFE_INTEGER;

/**
 * Caches decimals: a number may be as long as a body, and a thousand conditions may ask for it. The
 * decimals are no members of the numbers, which would take three times as long to make.
 */
const decimals = new WeakMap<ExactNumber, Decimal>();

function toDecimal(value: JsonNumber): Decimal {
  if (typeof value === 'number') return parseDecimal(String(value));
  const decimal = decimals.get(value) ?? parseDecimal(value.text);
  decimals.set(value, decimal);
  return decimal;
}

function parseDecimal(text: string): Decimal {
  const [, minus, integer = '', fraction = '', exponent = '0'] = NUMBER_PARTS.exec(text) ?? [];
  const allDigits = integer + fraction;
  let start = 0;
  while (allDigits.charCodeAt(start) === DIGIT_0) start += 1;
  let end = allDigits.length;
  while (end > start && allDigits.charCodeAt(end - 1) === DIGIT_0) end -= 1;
  if (start === end) return { sign: 0, digits: '', scale: 0 };
  const scale = integer.length - start + Number(exponent);
  return {
    sign: minus === '-' ? -1 : 1,
    digits: allDigits.slice(start, end),
    scale: Math.max(-SCALE_MAX, Math.min(scale, SCALE_MAX)),
  };
}
