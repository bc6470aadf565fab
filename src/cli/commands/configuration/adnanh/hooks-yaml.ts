/**
 * Reads the YAML that hooks files are written in.
 *
 * Valid is one document of block mappings and sequences, flow ones such as `[POST]` and
 * `{ source: payload }`, plain and quoted scalars on one line each, `|` and `>`, and comments.
 * Plain scalars are `null`, `~`, booleans (also `yes`, `no`, `on`, `off`), numbers as JSON writes
 * them, and else text. Invalid is all else, such as anchors, aliases, tags, merges, directives, two
 * members of one name, and plain scalars that readers of YAML take for different values: `007`.
 */
import { AppError } from '../../../../base/errors.ts';
import { parseNumber } from '../../../../base/exact-number.ts';
import type { JsonObject, JsonValue } from '../../../../base/schema.ts';
import { TEMPLATE } from './hook-template.ts';

const DEPTH_MAX = 64;

/** Throws `malformed` with line and column (both from 1, columns in code points). */
export function parseHooksYaml(text: string): JsonValue {
  return new YamlReader(text.replace(/^\ufeff/, '').replaceAll('\r\n', '\n')).readDocument();
}

/** Characters that cannot begin a plain scalar, and what they mean there. */
const INDICATORS: Readonly<Record<string, string>> = {
  '&': 'an anchor', '*': 'an alias', '!': 'a tag', '%': 'a directive', '@': 'a reserved sign',
  '`': 'a reserved sign', '?': 'a complex key', ',': 'a comma', ']': 'a bracket', '}': 'a brace',
  '|': 'a block', '>': 'a block', ':': 'a colon',
};

class YamlReader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  readDocument(): JsonValue {
    this.#skipToContent();
    if (this.#take(/---(?=\s|$)/y) !== null) this.#skipToContent();
    const value = this.#isAtEnd() ? null : this.#readBlock(-1, 0);
    this.#skipToContent();
    if (this.#take(/\.\.\.(?=\s|$)/y) !== null) this.#skipToContent();
    if (this.#text.startsWith('---', this.#at)) throw this.#fail('a second document');
    if (!this.#isAtEnd()) throw this.#fail('this belongs to nothing above it: look at its indent');
    return value;
  }

  /** The value that begins here; the lines that it is a part of begin at `parentColumn`. */
  #readBlock(parentColumn: number, depth: number): JsonValue {
    if (depth > DEPTH_MAX) throw this.#fail(`nested over ${DEPTH_MAX} levels deep`);
    if (this.#isDash()) return this.#readSequence(this.#column(), depth);
    if (this.#findKeyEnd() !== -1) return this.#readMapping(this.#column(), depth);
    return this.#readLeaf(parentColumn, depth);
  }

  #readSequence(column: number, depth: number): JsonValue[] {
    const items: JsonValue[] = [];
    while (!this.#isAtEnd() && this.#column() === column && this.#isDash()) {
      this.#at += 1;
      items.push(this.#readRest(column, depth));
      this.#checkIndent(column);
    }
    return items;
  }

  #readMapping(column: number, depth: number): JsonObject {
    const members = new Map<string, JsonValue>();
    while (!this.#isAtEnd() && this.#column() === column) {
      const keyEnd = this.#findKeyEnd();
      if (keyEnd === -1 || this.#isDash()) {
        throw this.#fail('a member is expected here, such as id: deploy');
      }
      const start = this.#at;
      const literal = this.#readQuoted();
      const name = literal ?? this.#text.slice(this.#at, keyEnd).trim();
      if (literal === null) this.#checkIndicator();
      if (name === '<<') throw this.#fail('a merge cannot be read', start);
      if (members.has(name)) throw this.#fail(`the member ${name} is there twice`, start);
      this.#at = keyEnd + 1;
      members.set(name, this.#readRest(column, depth, true));
      this.#checkIndent(column);
    }
    return Object.fromEntries(members);
  }

  /** Reads the value behind a dash or the colon of a member: on this line, or on those below. */
  #readRest(column: number, depth: number, isMember = false): JsonValue {
    this.#skipSpaces();
    if (!this.#isLineEnd()) {
      return isMember ? this.#readLeaf(column, depth + 1) : this.#readBlock(column, depth + 1);
    }
    this.#skipToContent();
    if (this.#isAtEnd()) return null;
    const isBelow = this.#column() > column
      // The sequence of a member need not be indented.
      || isMember && this.#column() === column && this.#isDash();
    return isBelow ? this.#readBlock(column, depth + 1) : null;
  }

  /** After a value the next line is of the same mapping or sequence, or of one around it. */
  #checkIndent(column: number): void {
    this.#skipToContent();
    if (this.#isAtEnd() || this.#column() <= column) return;
    throw this.#fail('this is indented as if it went on from above: a text of several lines is '
      + 'written with | or >');
  }

  /** A scalar, or a flow collection, to the end of its line. */
  #readLeaf(parentColumn: number, depth: number): JsonValue {
    if (this.#isDash()) throw this.#fail('a sequence begins in a line of its own');
    if (/[|>]/.test(this.#sign())) return this.#readBlockText(parentColumn);
    const value = this.#readFlow(depth, () => this.#readPlainLine());
    this.#skipSpaces();
    if (!this.#isLineEnd()) throw this.#fail('the end of the line is expected here');
    return value;
  }

  #readPlainLine(): JsonValue {
    const start = this.#at;
    const line = this.#take(/[^\n]*/y) ?? '';
    const commentAt = line.search(/\s#/);
    const text = (commentAt === -1 ? line : line.slice(0, commentAt)).trimEnd();
    this.#at = start + text.length;
    const colonAt = text.search(/:(?:\s|$)/);
    // A template is a text whatever is in it.
    if (text.startsWith('{{')) return text;
    if (colonAt === -1) return this.#resolve(text, start);
    throw this.#fail('a text with a colon before white space has to stand in quotes',
      start + colonAt);
  }

  #readFlow(depth: number, readPlain: () => JsonValue): JsonValue {
    if (depth > DEPTH_MAX) throw this.#fail(`nested over ${DEPTH_MAX} levels deep`);
    const literal = this.#readQuoted();
    if (literal !== null) return literal;
    const isTemplate = match(TEMPLATE, this.#text, this.#at) !== null;
    if (this.#sign() === '[') return this.#readFlowItems(depth);
    if (this.#sign() === '{' && !isTemplate) return this.#readFlowMembers(depth);
    if (!isTemplate) this.#checkIndicator();
    return readPlain();
  }

  #readFlowItems(depth: number): JsonValue[] {
    const items: JsonValue[] = [];
    this.#readFlowList(']', () => items.push(this.#readFlow(depth + 1, () => this.#readPlain())));
    return items;
  }

  #readFlowMembers(depth: number): JsonObject {
    const members = new Map<string, JsonValue>();
    this.#readFlowList('}', () => {
      const start = this.#at;
      const literal = this.#readQuoted();
      if (literal === null) this.#checkIndicator();
      const name = literal ?? this.#take(PLAIN_IN_FLOW) ?? '';
      if (members.has(name)) throw this.#fail(`the member ${name} is there twice`, start);
      this.#skipToContent();
      if (this.#sign() !== ':') throw this.#fail('":" is expected here');
      this.#at += 1;
      this.#skipToContent();
      members.set(name, /[,}]/.test(this.#sign()) ? null
        : this.#readFlow(depth + 1, () => this.#readPlain()));
    });
    return Object.fromEntries(members);
  }

  #readFlowList(closing: string, readElement: () => void): void {
    this.#at += 1;
    for (;;) {
      this.#skipToContent();
      if (this.#sign() === closing) break;
      readElement();
      this.#skipToContent();
      if (this.#sign() === closing) break;
      if (this.#sign() !== ',') throw this.#fail(`"," or "${closing}" is expected here`);
      this.#at += 1;
    }
    this.#at += 1;
  }

  #readPlain(): JsonValue {
    const start = this.#at;
    const template = this.#take(TEMPLATE);
    if (template !== null) return template;
    const text = this.#take(PLAIN_IN_FLOW);
    if (text === null) throw this.#fail('a value is expected here');
    return this.#resolve(text, start);
  }

  /** null: no quoted text begins here. */
  #readQuoted(): string | null {
    const start = this.#at;
    if (this.#sign() === "'") {
      const text = this.#take(/'(?:[^'\n]|'')*'/y);
      if (text !== null) return text.slice(1, -1).replaceAll("''", "'");
    } else if (this.#sign() === '"') {
      const text = this.#readDoubleQuoted();
      if (text !== null) return text;
    } else {
      return null;
    }
    throw this.#fail('this text in quotes does not end on its line', start);
  }

  #readDoubleQuoted(): string | null {
    const pieces: string[] = [];
    this.#at += 1;
    while (this.#sign() !== '"') {
      const template = this.#take(TEMPLATE);
      if (template !== null) {
        pieces.push(template.replaceAll('"', "'"));
        continue;
      }
      if (this.#isAtEnd() || this.#sign() === '\n') return null;
      pieces.push(this.#sign() === '\\' ? this.#readEscape() : this.#take(/[^\n]/y) ?? '');
    }
    this.#at += 1;
    return pieces.join('');
  }

  #readEscape(): string {
    const start = this.#at;
    const escape = this.#take(/\\(?:x[\da-fA-F]{2}|u[\da-fA-F]{4}|U[\da-fA-F]{8}|.)/y) ?? '';
    const code = /^\\[xuU](?=.)/.test(escape) ? Number.parseInt(escape.slice(2), 16) : null;
    if (code !== null && code <= 0x10_ff_ff) return String.fromCodePoint(code);
    const letter = ESCAPES[escape.slice(1)];
    if (letter === undefined) throw this.#fail(`${escape} is no escape`, start);
    return letter;
  }

  /** A text behind `|`, whose lines are kept, or `>`, whose lines are folded into one. */
  #readBlockText(parentColumn: number): string {
    const header = this.#take(/[|>](?:[1-9][+-]?|[+-][1-9]?)?(?=[ \t]*(?:[ \t]#[^\n]*)?(?:\n|$))/y);
    if (header === null) throw this.#fail('of | and > only an indent, + and - may follow');
    this.#take(/[^\n]*(?:\n|$)/y);
    const [, digit] = /(\d)/.exec(header) ?? [];
    const base = Math.max(parentColumn, 0);
    const indent = digit === undefined ? this.#findTextIndent(parentColumn)
      : base + Number(digit);
    const lines: string[] = [];
    for (;;) {
      const line = this.#isAtEnd() ? null : this.#takeTextLine(indent);
      if (line === null) break;
      lines.push(line);
    }
    const blankCount = lines.length - 1 - lines.findLastIndex((line) => line !== '');
    const textLines = lines.slice(0, lines.length - blankCount);
    const text = header.startsWith('|') ? textLines.join('\n') : fold(textLines);
    if (header.includes('-')) return text;
    if (header.includes('+')) {
      return text + '\n'.repeat(blankCount + (textLines.length > 0 ? 1 : 0));
    }
    return textLines.length === 0 ? '' : `${text}\n`;
  }

  #findTextIndent(parentColumn: number): number {
    const [, spaces = ''] = match(/(?: *\n)*( *)(?=[^ \n])/y, this.#text, this.#at) ?? [];
    return Math.max(spaces.length, parentColumn + 1);
  }

  /** A line of a block, without its indent; null: it belongs to something else. */
  #takeTextLine(indent: number): string | null {
    const [line = '', spaces = '', rest = ''] =
      match(/( *)([^\n]*)(?:\n|$)/y, this.#text, this.#at) ?? [];
    if (rest !== '' && spaces.length < indent) return null;
    this.#at += line.length;
    return (spaces + rest).slice(indent);
  }

  /** The value of a plain scalar. */
  #resolve(text: string, start: number): JsonValue {
    const word = WORDS.get(text);
    if (word !== undefined) return word;
    if (PLAIN_NUMBER.test(text)) return parseNumber(text);
    if (AMBIGUOUS.test(text)) {
      throw this.#fail(`${text} may be read as a text, or as something else: put it in quotes`,
        start);
    }
    return text;
  }

  /** The index of the colon behind the key that begins here; -1: no key does. */
  #findKeyEnd(): number {
    const pattern = /["']/.test(this.#sign()) ? QUOTED_KEY : PLAIN_KEY;
    const [key] = match(pattern, this.#text, this.#at) ?? [];
    return key === undefined ? -1 : this.#at + key.length - 1;
  }

  #checkIndicator(): void {
    const meaning = INDICATORS[this.#sign()];
    const isPlain = /[?:]/.test(this.#sign()) && /\S/.test(this.#text[this.#at + 1] ?? '');
    if (meaning === undefined || isPlain) return;
    throw this.#fail(`${meaning} cannot be read here: write it without, or put it in quotes`);
  }

  #isDash(): boolean {
    return match(/-(?=\s|$)/y, this.#text, this.#at) !== null;
  }

  #isAtEnd(): boolean {
    return this.#at >= this.#text.length;
  }

  #isLineEnd(): boolean {
    return this.#isAtEnd() || this.#sign() === '\n'
      || this.#sign() === '#' && /[\s]/.test(this.#text[this.#at - 1] ?? '\n');
  }

  #sign(): string {
    return this.#text[this.#at] ?? '';
  }

  #column(): number {
    return this.#at - this.#text.lastIndexOf('\n', this.#at - 1) - 1;
  }

  #skipSpaces(): void {
    this.#take(/[ \t]+/y);
  }

  /** Passes white space and comments. */
  #skipToContent(): void {
    for (;;) {
      this.#take(/\s+/y);
      if (this.#sign() !== '#' || !this.#isLineEnd()) break;
      this.#take(/[^\n]*/y);
    }
    const before = this.#text.slice(this.#text.lastIndexOf('\n', this.#at - 1) + 1, this.#at);
    if (!this.#isAtEnd() && before.includes('\t') && before.trim() === '') {
      throw this.#fail('a line is indented by spaces, not by tabs');
    }
  }

  /** Passes the text that the sticky pattern matches here, and returns it; null: no match. */
  #take(pattern: RegExp): string | null {
    const [text] = match(pattern, this.#text, this.#at) ?? [];
    if (text === undefined) return null;
    this.#at += text.length;
    return text;
  }

  #fail(detail: string, at = this.#at): AppError {
    const before = this.#text.slice(0, at);
    const line = before.split('\n').length;
    const column = [...before.slice(before.lastIndexOf('\n') + 1)].length + 1;
    return new AppError('malformed', `line ${line}, column ${column}: ${detail}`);
  }
}

/** Adjacent lines become one; those that are indented further stay lines of their own. */
function fold(lines: readonly string[]): string {
  let text = '';
  let blankCount = 0;
  let previous: string | null = null;
  for (const line of lines) {
    if (line === '') {
      blankCount += 1;
      continue;
    }
    const isApart = /^\s/.test(line) || previous !== null && /^\s/.test(previous);
    if (previous !== null && isApart) blankCount += 1;
    text += previous !== null && blankCount === 0 ? ' ' : '\n'.repeat(blankCount);
    text += line;
    previous = line;
    blankCount = 0;
  }
  return text;
}

function match(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

const PLAIN_KEY = /(?:[^\s"'[\]{}#,]|\{\{)(?:[^\n:#]|:(?!\s|$)|(?<!\s)#)*:(?=\s|$)/y;
const QUOTED_KEY = /(?:"(?:[^"\\\n]|\\.)*"|'(?:[^'\n]|'')*')[ \t]*:(?=\s|$)/y;
const PLAIN_IN_FLOW =
  /(?!-\s)[^\s,[\]{}:#](?:[^\s,[\]{}:#]|:(?![\s,[\]{}]|$)|(?<!\s)#|[ \t]+(?![\s,[\]{}:#]))*/y;

const WORDS: ReadonlyMap<string, boolean | null> = new Map([
  ...['true', 'True', 'TRUE', 'yes', 'Yes', 'YES', 'on', 'On', 'ON'].map((word) =>
    [word, true] as const),
  ...['false', 'False', 'FALSE', 'no', 'No', 'NO', 'off', 'Off', 'OFF'].map((word) =>
    [word, false] as const),
  ...['', '~', 'null', 'Null', 'NULL'].map((word) => [word, null] as const),
]);
/** A number of which every reader makes the same text. */
const PLAIN_NUMBER = /^(?:-?[1-9]\d{0,17}|0|-?(?:0|[1-9]\d{0,9})\.\d{0,5}[1-9])$/;
/** A text that some readers take for a number, a boolean or null. */
const AMBIGUOUS = new RegExp(`^(?:[yYnN=]|${[
  '[-+]?\\.?\\d[\\d_]*(?:\\.[\\d_]*)?(?:[eE][-+]?\\d+)?', '[-+]?0[xob][\\da-fA-F_]+',
  '[-+]?\\.(?:inf|Inf|INF)', '\\.(?:nan|NaN|NAN)',
].join('|')})$`);

const ESCAPES: Readonly<Record<string, string>> = {
  0: '\0', a: '\x07', b: '\b', t: '\t', '\t': '\t', n: '\n', v: '\v', f: '\f', r: '\r',
  e: '\x1b', ' ': ' ', '"': '"', '/': '/', '\\': '\\', N: '\x85', _: '\xa0', L: '\u2028',
  P: '\u2029',
};
