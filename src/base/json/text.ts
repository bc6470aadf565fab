/** A text as JSON. */

/** Printable ASCII without quote and backslash, which is what nearly all are. */
const PLAIN = /^[ !#-[\]-~]*$/;

/** To look is cheaper than to have each text escaped. */
export function textJson(text: string): string {
  return PLAIN.test(text) ? `"${text}"` : JSON.stringify(text);
}
