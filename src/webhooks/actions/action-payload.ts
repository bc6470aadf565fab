/** Decodes the raw body of a request to the payload that actions get. */
import { isUtf8 } from 'node:buffer';
import { isJsonObject } from '../../base/fields.ts';
import { parseJsonText } from '../../base/json/exact-parser.ts';
import type { JsonValue } from '../../base/schema.ts';

/** Object or array, told apart by `Array.isArray`; code may ask for a member of any name. */
export type Payload = PayloadObject | PayloadArray;
type PayloadObject = { readonly [name: string]: JsonValue | undefined };
// Not readonly: `Array.isArray` would not tell a readonly array from the object.
type PayloadArray = JsonValue[] & PayloadObject;

export function createEmptyPayload(): Payload {
  return [] as unknown as PayloadArray;
}

const BYTE_ORDER_MARK = 0xfeff;

/**
 * The JSON object or array in `body` (RFC 8259: UTF-8); null without one. The platform's parser has
 * no limit on depth and does not recurse, so any body is safe.
 */
export function decodePayload(body: Buffer): Payload | null {
  if (body.length < 2 || !isUtf8(body)) return null;
  const text = body.toString('utf8');
  try {
    const isMarked = text.charCodeAt(0) === BYTE_ORDER_MARK;
    return toPayload(parseJsonText(isMarked ? text.slice(1) : text));
  } catch {
    return null;
  }
}

/** null: the value is neither object nor array. */
export function toPayload(value: unknown): Payload | null {
  return isJsonObject(value) || Array.isArray(value) ? value as Payload : null;
}
