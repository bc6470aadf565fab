/**
 * JSON values as text, however deep they nest. The engine parses any depth, and for want of stack
 * cannot write it again; what an incoming webhook takes may be nested as deep as its body is long.
 */
import { AppError, messageOf } from '../errors.ts';
import { JSON_DEPTH_MAX } from './parse.ts';
import type { JsonValue } from '../schema.ts';

/** The text of a value that came from JSON text, as JSON.stringify would give it. */
export function encodeJson(value: JsonValue): string {
  try {
    return JSON.stringify(value);
  } catch {
    // Nothing else can be wrong with what was JSON text.
    return encodeDeep(value);
  }
}

/** The JSON text of what a program has made. Throws `invalid` for what JSON cannot hold. */
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

/** To look is cheaper than to have each text escaped. */
export function encodeString(text: string): string {
  return PLAIN.test(text) ? `"${text}"` : JSON.stringify(text);
}

/** Whether it is an object without members: to have that told by JSON.stringify takes longer. */
export function isEmptyObject(value: object | null): boolean {
  if (value === null || Object.getPrototypeOf(value) !== Object.prototype) return false;
  for (const _ in value) return false;
  return true;
}

/** Longer texts are seldom the same again. */
const REPEATED_LENGTH_MAX = 64;
const SLOTS_MAX = 64;

/**
 * The JSON of texts that mostly are what they were in the record before: the names of headers, say,
 * of one sender. To compare them takes a quarter of the time of looking through them.
 */
export class RepeatedStringEncoder {
  readonly #texts: string[] = [];
  readonly #jsons: string[] = [];

  /** `place` tells which of the record's texts it is. */
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
