/**
 * JSON values as text, with all digits of their numbers (exact-number.ts) and however deep they
 * nest. `JSON.parse` reads any depth, but `JSON.stringify` runs out of stack; what an incoming
 * webhook accepts may be nested as deep as its body is long.
 */
import { AppError, isError, messageOf } from '../errors.ts';
import { JSON_DEPTH_MAX } from './parse.ts';
import { ExactNumber } from '../exact-number.ts';

/**
 * The text of a value that came from JSON text, or of an object that holds such values, as
 * JSON.stringify would give it; `indent` is the spaces of a level, on lines of their own.
 */
export function encodeJson(value: unknown, indent?: number): string {
  const countBefore = ExactNumber.encodedAsDoubleCount;
  try {
    const text = JSON.stringify(value, undefined, indent);
    if (ExactNumber.encodedAsDoubleCount === countBefore) return text;
  } catch (thrown) {
    // The value nests too deep.
    if (!isError(thrown) || thrown.name !== 'RangeError') throw thrown;
  }
  return encodeByHand(value, indent);
}

/** The bytes of the text that `encodeJson` gives. */
export function countJsonBytes(value: unknown): number {
  return Buffer.byteLength(encodeJson(value));
}

/** The JSON text of an embedding program's value. Throws `invalid` for what JSON cannot hold. */
export function encodeChecked(value: unknown): string {
  try {
    const text: unknown = encodeJson(value);
    if (typeof text !== 'string') throw new TypeError(`not ${typeof value}`);
    if (!isDeeperThan(value, JSON_DEPTH_MAX)) return text;
    throw new RangeError(`nested deeper than ${JSON_DEPTH_MAX} levels`);
  } catch (cause) {
    const detail = `must be what JSON can hold (${messageOf(cause)})`;
    throw new AppError('invalid', detail, { errors: [{ pointer: '', detail }] }, cause);
  }
}

/** Whether objects and arrays stand in each other more than `levels` deep. */
export function isDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((member) => isDeeperThan(member, levels - 1));
}

type OpenContainer = {
  readonly members: readonly (readonly [name: string, value: unknown])[];
  readonly isArray: boolean;
  next: number;
};

/** Deeper ones are written as they are: a `toJSON` may give objects without end. */
const TO_JSON_DEPTH_MAX = 100;

function encodeByHand(root: unknown, indent = 0): string {
  const pieces: string[] = [];
  const stack: OpenContainer[] = [];
  const breakLine = (): void => {
    if (indent > 0) pieces.push(`\n${' '.repeat(indent * stack.length)}`);
  };
  const begin = (member: unknown): void => {
    const value = stack.length < TO_JSON_DEPTH_MAX ? resolveToJson(member) : member;
    const container = openContainer(value);
    if (container === null) {
      pieces.push(value instanceof ExactNumber ? value.text : JSON.stringify(value) ?? 'null');
    } else if (container.members.length === 0) {
      pieces.push(container.isArray ? '[]' : '{}');
    } else {
      stack.push(container);
      pieces.push(container.isArray ? '[' : '{');
    }
  };
  begin(root);
  for (let container = stack.at(-1); container !== undefined; container = stack.at(-1)) {
    const { members, isArray, next } = container;
    const member = members[next];
    if (member === undefined) {
      stack.pop();
      breakLine();
      pieces.push(isArray ? ']' : '}');
      continue;
    }
    if (next > 0) pieces.push(',');
    breakLine();
    if (!isArray) pieces.push(JSON.stringify(member[0]), indent > 0 ? ': ' : ':');
    container.next += 1;
    begin(member[1]);
  }
  return pieces.join('');
}

/** The members of an object that have a value, or of an array; null: it is neither. */
function openContainer(value: unknown): OpenContainer | null {
  if (typeof value !== 'object' || value === null || value instanceof ExactNumber) return null;
  const isArray = Array.isArray(value);
  const members: [string, unknown][] = Object.entries(value);
  return {
    members: isArray ? members : members.filter(([, member]) => !isOmitted(member)),
    isArray, next: 0,
  };
}

/** Returns what the `toJSON` of an object gives, such as that of a date; else the value itself. */
function resolveToJson(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || value instanceof ExactNumber) return value;
  return 'toJSON' in value && typeof value.toJSON === 'function' ? value.toJSON() : value;
}

function isOmitted(member: unknown): boolean {
  return member === undefined || typeof member === 'function' || typeof member === 'symbol';
}

/** Printable ASCII without quote and backslash, which is what nearly all are. */
const PLAIN = /^[ !#-[\]-~]*$/;

/** The JSON of a text. Looking through it is cheaper than having `JSON.stringify` escape it. */
export function encodeString(text: string): string {
  return PLAIN.test(text) ? `"${text}"` : JSON.stringify(text);
}

/** Whether it is a plain object without members. To compare its JSON with `{}` takes longer. */
export function isEmptyObject(value: object | null): boolean {
  if (value === null || Object.getPrototypeOf(value) !== Object.prototype) return false;
  for (const _ in value) return false;
  return true;
}
