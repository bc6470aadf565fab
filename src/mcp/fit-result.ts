/**
 * Results of tools, of at most 64 KiB. Each has its object twice, as MCP wants it: as data and as a
 * text of JSON. An object that is too long is answered in pieces: a text beside each piece says how
 * to go on.
 */
import { encodeJson } from '../base/json/encode.ts';
import type { JsonObject } from '../base/schema.ts';

const RESULT_BYTES_MAX = 64 * 1024;
/** Room for the texts beside the object. */
const NOTES_BYTES = 4 * 1024;

export function makeResult(value: JsonObject, notes: readonly string[]): JsonObject {
  return {
    content: [encodeJson(value), ...notes].map(toContent), structuredContent: value,
  };
}

export function toContent(text: string): JsonObject {
  return { type: 'text', text };
}

/** The length of a result with the object, as a part of the allowed length; above 1: too long. */
export function computeFillRatio(value: JsonObject): number {
  const text = encodeJson(value);
  // The text stands in JSON once more, with its quotes escaped.
  return (Buffer.byteLength(text) + Buffer.byteLength(JSON.stringify(text)))
    / (RESULT_BYTES_MAX - NOTES_BYTES);
}

/**
 * The object, if it fits and is wanted from its beginning on; else a piece of its text from a
 * character on: of its member `text`, or of its JSON. `end` is where the next piece begins.
 */
export function cutAnswer(
  value: JsonObject, from: number,
): { readonly value: JsonObject; readonly end: number | null } {
  if (from === 0 && computeFillRatio(value) <= 1) return { value, end: null };
  const { text = null, ...others } = value;
  const whole = typeof text === 'string' ? text : encodeJson(value);
  const name = typeof text === 'string' ? 'text' : 'json';
  let length = RESULT_BYTES_MAX / 2;
  for (;;) {
    // Not between the two halves of a character.
    const piece = whole.slice(from, from + length).replace(/[\uD800-\uDBFF]$/, '');
    const cut = {
      ...name === 'text' ? others : {}, from, total: whole.length, [name]: piece,
    };
    const end = from + piece.length;
    if (computeFillRatio(cut) <= 1) return { value: cut, end: end < whole.length ? end : null };
    length *= 0.8;
  }
}
