/** A text as JSON. */

/** Printable ASCII without quote and backslash, which is what nearly all are. */
const PLAIN = /^[ !#-[\]-~]*$/;

/** To look is cheaper than to have each text escaped. */
export function textJson(text: string): string {
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
const PLACES_MAX = 64;

/**
 * The JSON of texts that mostly are what they were in the record before: the names of headers, say,
 * of one sender. To compare them takes a quarter of the time of looking through them.
 */
export class RepeatedTexts {
  readonly #texts: string[] = [];
  readonly #jsons: string[] = [];

  /** `place` tells which of the record's texts it is. */
  json(place: number, text: string): string {
    if (this.#texts[place] === text) return this.#jsons[place] ?? '';
    const json = textJson(text);
    if (text.length > REPEATED_LENGTH_MAX || place >= PLACES_MAX) return json;
    this.#texts[place] = text;
    // Joined, as a text that is only concatenated would be put together anew for each record.
    this.#jsons[place] = [json, ''].join('');
    return json;
  }
}
