/** The raw body of an incoming request as the payload that actions see. */
import { isUtf8 } from 'node:buffer';
import type { JsonValue } from '../../base/schema.ts';

/**
 * A JSON object, or an array of JSON values, told apart by `Array.isArray`; a member of either may
 * be asked for by any name.
 */
export type Payload = PayloadObject | PayloadArray;
type PayloadObject = { readonly [name: string]: JsonValue | undefined };
// Not readonly, as `Array.isArray` would not tell it from the object.
type PayloadArray = JsonValue[] & PayloadObject;

/** What counts as the payload where there is none. */
export function createEmptyPayload(): Payload {
  return [] as unknown as PayloadArray;
}

const BYTE_ORDER_MARK = 0xfeff;

/**
 * The object or array that `body` is as JSON (RFC 8259: UTF-8), or null when it is none. The
 * platform's parser has no limit on depth and does not recurse, so any body is safe.
 */
export function decodePayload(body: Buffer): Payload | null {
  if (body.length < 2 || !isUtf8(body)) return null;
  const text = body.toString('utf8');
  try {
    const isMarked = text.charCodeAt(0) === BYTE_ORDER_MARK;
    return toPayload(JSON.parse(isMarked ? text.slice(1) : text));
  } catch {
    return null;
  }
}

/** What was parsed from JSON as a payload; null when it is neither object nor array. */
export function toPayload(value: unknown): Payload | null {
  return typeof value === 'object' && value !== null ? value as Payload : null;
}
