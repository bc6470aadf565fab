/** Handles JSON as text: numbers keep all their digits, and duplicate members stay. */

/** A string, a punctuation mark, or another literal. */
const TOKENS = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\],:]|[^\s{}[\],:"]+/g;

/** The indentation of deep JSON grows by the square of its depth. */
const PRETTY_LENGTH_MAX = 1 << 24;

/** Puts each value on a line; null for invalid JSON, and when the result would be too large. */
export function formatPrettyJson(text: string): string | null {
  try {
    JSON.parse(text);
  } catch {
    return null;
  }
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

/**
 * A number that a double would round, with the text that came: ids have 18 digits and more. Only
 * `encodeJson` writes it, and `String()` shows it.
 */
class NumberText {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  toString(): string {
    return this.#text;
  }

  /** For `encodeJson` alone, which takes the mark away. */
  toJSON(): string {
    return MARK + this.#text;
  }
}

/** Stands before a number's text in a string. Nobody can foresee it, so no other string has it. */
const MARK = `${Math.random()}:`;
const MARKED = new RegExp(`"${MARK}([^"]*)"`, 'g');
/** Such numbers alone may lose digits: most texts have none, and are parsed at once. */
const LONG_NUMBER = /(?:["\s]:|[,[\s]|^)(?:-?\d+[.eE]|-?\d{16}|-0)/;

/** Whether it is an object or an array. */
export function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !(value instanceof NumberText);
}

/** `JSON.parse`, but a number that a double would round becomes a `NumberText`. */
export function parseJson<Value = unknown>(text: string): Value {
  // The engine says whether the text is valid.
  const value = JSON.parse(text);
  if (!LONG_NUMBER.test(text)) return value;
  let isExact = true;
  const markedText = text.replace(TOKENS, (token) => {
    if (!/^[-\d]/.test(token) || String(Number(token)) === token) return token;
    isExact = false;
    return `"${MARK}${token}"`;
  });
  return isExact ? value : JSON.parse(markedText, (_name, member: unknown) =>
    typeof member === 'string' && member.startsWith(MARK)
      ? new NumberText(member.slice(MARK.length)) : member);
}

/** `JSON.stringify`, which writes a `NumberText` as the number that came. */
export function encodeJson(value: unknown, indent?: number): string {
  return JSON.stringify(value, null, indent)?.replace(MARKED, '$1');
}

/** `parseJson`, or the text itself where it is no JSON. */
export function parseJsonOrText<Value = unknown>(text: string): Value | string {
  try {
    return parseJson(text);
  } catch {
    return text;
  }
}
