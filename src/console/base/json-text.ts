/** JSON as it was sent: numbers keep their digits, and what is said twice is there twice. */

/** A string, a mark, or what else is a value. */
const TOKENS = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\],:]|[^\s{}[\],:"]+/g;

/** Deep ones grow by the square of their depth. */
const PRETTY_LENGTH_MAX = 1 << 24;

/** With a line for each value; null: it is no JSON, or too deep for that. */
export function formatPrettyJson(text: string): string | null {
  if (parseKeepingDigits(text) === undefined) return null;
  let line = '\n';
  let before = '';
  let pretty = '';
  for (const token of text.match(TOKENS) ?? []) {
    const isEnd = token === '}' || token === ']';
    if (isEnd) line = line.slice(0, -2);
    const isEmpty = isEnd && '{['.includes(before);
    if (!isEmpty && (isEnd || ['{', '[', ','].includes(before))) pretty += line;
    pretty += token === ':' ? ': ' : token;
    if (token === '{' || token === '[') line += '  ';
    before = token;
    if (pretty.length > PRETTY_LENGTH_MAX) return null;
  }
  return pretty;
}

/** Numbers as the text that they are sent as; undefined: it is no JSON. */
export function parseKeepingDigits(text: string): unknown {
  try {
    JSON.parse(text);
    return JSON.parse(text.replace(TOKENS, (token) =>
      /^[-\d]/.test(token) ? `"${token}"` : token));
  } catch {
    return undefined;
  }
}
