/**
 * JSON values as text, however deep they nest. `JSON.parse` reads any depth, but `JSON.stringify`
 * runs out of stack; what an incoming webhook accepts may be nested as deep as its body is long.
 */
import { AppError, messageOf } from '../errors.ts';
import { JSON_DEPTH_MAX } from './parse.ts';
import type { JsonValue } from '../schema.ts';

/** The text of a value that came from JSON text, as JSON.stringify would give it. */
export function encodeJson(value: JsonValue): string {
  try {
    return JSON.stringify(value);
  } catch {
    // The value came from JSON text, so only its depth can be the reason.
    return encodeDeep(value);
  }
}

/** The JSON text of an embedding program's value. Throws `invalid` for what JSON cannot hold. */
export function encodeChecked(value: unknown): string {
  try {
    const text: unknown = JSON.stringify(value);
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
  readonly members: readonly (readonly [name: string, value: JsonValue])[];
  readonly isArray: boolean;
  next: number;
};

function encodeDeep(root: JsonValue): string {
  const pieces: string[] = [];
  const stack: OpenContainer[] = [];
  const begin = (value: JsonValue): void => {
    if (typeof value !== 'object' || value === null) {
      pieces.push(JSON.stringify(value));
      return;
    }
    const isArray = Array.isArray(value);
    stack.push({ members: Object.entries(value), isArray, next: 0 });
    pieces.push(isArray ? '[' : '{');
  };
  begin(root);
  for (let container = stack.at(-1); container !== undefined; container = stack.at(-1)) {
    const member = container.members[container.next];
    if (member === undefined) {
      pieces.push(container.isArray ? ']' : '}');
      stack.pop();
      continue;
    }
    const [name, value] = member;
    if (container.next > 0) pieces.push(',');
    if (!container.isArray) pieces.push(JSON.stringify(name), ':');
    container.next += 1;
    begin(value);
  }
  return pieces.join('');
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

/** Longer texts are not remembered: they are seldom the same again. */
const REPEATED_LENGTH_MAX = 64;
const SLOTS_MAX = 64;

/**
 * The JSON of texts that mostly are the same as in the record before, such as the header names of
 * one sender. Comparing a text takes a quarter of the time of looking through it.
 */
export class RepeatedStringEncoder {
  readonly #texts: string[] = [];
  readonly #jsons: string[] = [];

  /** `slot` numbers the texts of a record, from 0: a text is compared with the last of its slot. */
  encode(slot: number, text: string): string {
    if (this.#texts[slot] === text) return this.#jsons[slot] ?? '';
    const json = encodeString(text);
    if (text.length > REPEATED_LENGTH_MAX || slot >= SLOTS_MAX) return json;
    this.#texts[slot] = text;
    // Joined, as a text that is only concatenated would be put together anew for each record.
    this.#jsons[slot] = [json, ''].join('');
    return json;
  }
}
