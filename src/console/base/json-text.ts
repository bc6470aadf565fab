/** Handles JSON as text: numbers keep all their digits, and duplicate members stay. */

/** A string, a punctuation mark, or another literal. */
const TOKENS = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\],:]|[^\s{}[\],:"]+/g;

/** The indentation of deep JSON grows by the square of its depth. */
const PRETTY_LENGTH_MAX = 1 << 24;

/** Puts each value on a line; null for invalid JSON, and when the result would be too large. */
export function formatPrettyJson(text: string): string | null {
  if (parseKeepingDigits(text) === undefined) return null;
  // A line break, and the indentation of the next line.
  let line = '\n';
  let previousToken = '';
  let pretty = '';
  for (const token of text.match(TOKENS) ?? []) {
    const isEnd = token === '}' || token === ']';
    if (isEnd) line = line.slice(0, -2);
    const isEmpty = isEnd && '{['.includes(previousToken);
    if (!isEmpty && (isEnd || ['{', '[', ','].includes(previousToken))) pretty += line;
    pretty += token === ':' ? ': ' : token;
    if (token === '{' || token === '[') line += '  ';
    previousToken = token;
    if (pretty.length > PRETTY_LENGTH_MAX) return null;
  }
  return pretty;
}

/** Parses JSON with numbers as strings of their digits; undefined for invalid JSON. */
export function parseKeepingDigits(text: string): unknown {
  try {
    JSON.parse(text);
    return JSON.parse(text.replace(TOKENS, (token) =>
      /^[-\d]/.test(token) ? `"${token}"` : token));
  } catch {
    return undefined;
  }
}
