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
export function encodeGiven(value: unknown): string {
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

type Open = {
  readonly members: readonly (readonly [name: string, value: JsonValue])[];
  readonly isArray: boolean;
  next: number;
};

function encodeDeep(root: JsonValue): string {
  const pieces: string[] = [];
  const stack: Open[] = [];
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
  for (let open = stack.at(-1); open !== undefined; open = stack.at(-1)) {
    const member = open.members[open.next];
    if (member === undefined) {
      pieces.push(open.isArray ? ']' : '}');
      stack.pop();
      continue;
    }
    const [name, value] = member;
    if (open.next > 0) pieces.push(',');
    if (!open.isArray) pieces.push(JSON.stringify(name), ':');
    open.next += 1;
    begin(value);
  }
  return pieces.join('');
}
