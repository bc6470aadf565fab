/** Reads one entry of a BibTeX file: see `bibtex.ts` for the grammar. */
import { AppError } from '../../../base/errors.ts';
import { RECORD_BYTES_MAX } from '../record-splitter.ts';
import { LatexMacros } from './latex-macros.ts';

/** A field: several values where the entry has it several times. */
export type BibtexField = {
  readonly name: string;
  readonly values: readonly string[];
};

export type BibtexEntry = {
  readonly line: number;
  /** Its place in the file, in bytes. */
  readonly offset: number;
  readonly key: string | null;
  /** In lower case. */
  readonly type: string;
  /** By their names in lower case. */
  readonly fields: ReadonlyMap<string, BibtexField>;
  /** The length of the entry and of what it has from strings. */
  readonly length: number;
};

export const FIELDS_MAX = 1000;
/** The field under which a type other than `book` is kept. */
export const TYPE_FIELD = 'entrytype';

const STRINGS_MAX = 10_000;
const STRINGS_LENGTH_MAX = 1024 * 1024;

/** The `@string`s of a file, and the macros of its `@preamble`s. */
export class BibtexStringTable {
  readonly macros: LatexMacros = new LatexMacros();
  readonly #values = new Map<string, string>();
  #length = 0;
  readonly #borrowedLengthMax: number;
  #borrowedLength = 0;

  /** `borrowedLengthMax`: how much the entries of the file take from the strings. */
  constructor(borrowedLengthMax: number) {
    this.#borrowedLengthMax = borrowedLengthMax;
  }

  /** Throws `invalid` beyond the limits. */
  define(name: string, value: string): void {
    const before = this.#values.get(name);
    const length = this.#length + name.length + value.length - (before?.length ?? 0);
    const isNew = before === undefined;
    if ((isNew && this.#values.size >= STRINGS_MAX) || length > STRINGS_LENGTH_MAX) {
      throw new AppError('invalid', `@string ${name}: a file may have ${STRINGS_MAX} strings of `
        + `${STRINGS_LENGTH_MAX} characters together`);
    }
    this.#values.set(name, value);
    this.#length = length;
  }

  /** The text of a string; a name that none has stands for itself. Throws `invalid`. */
  resolve(name: string): string {
    const value = this.#values.get(name.toLowerCase());
    if (value === undefined) return name;
    this.#borrowedLength += value.length;
    if (this.#borrowedLength <= this.#borrowedLengthMax) return value;
    throw new AppError('invalid', 'the entries have more than '
      + `${this.#borrowedLengthMax} characters from strings`);
  }
}

/**
 * Null for what is no work: a comment, a preamble or a string, whose definitions it keeps. The
 * result is a text where the entry is broken: what is wrong with it.
 */
export function parseBibtexEntry(
  text: string, place: EntryPlace, strings: BibtexStringTable,
): BibtexEntry | string | null {
  try {
    return new EntryParser(text, place, strings).parse();
  } catch (error) {
    if (error instanceof AppError && error.code === 'invalid') return error.message;
    throw error;
  }
}

type EntryPlace = Pick<BibtexEntry, 'line' | 'offset'>;

const BLANK = /\s/;
const BLANKS = /\s*/y;
const REST_OF_LINE = /[^\r\n]*/y;
/** A name or a number, by its characters: btparse allows some marks more, BibTeX less. */
const WORD = /[^\s"#%'(),={}]*/y;
const SHOWN_MAX = 40;

type FieldInProgress = { readonly name: string; readonly values: string[] };

class EntryParser {
  readonly #text: string;
  readonly #place: EntryPlace;
  readonly #strings: BibtexStringTable;
  #offset = 1;
  #closing = '}';

  constructor(text: string, place: EntryPlace, strings: BibtexStringTable) {
    this.#text = text;
    this.#place = place;
    this.#strings = strings;
  }

  parse(): BibtexEntry | null {
    this.#skipBlanks();
    const type = this.#readName().toLowerCase();
    if (type === 'preamble') this.#strings.macros.define(this.#text);
    if (type === 'comment' || type === 'preamble') return null;
    this.#skipBlanks();
    this.#closing = this.#text[this.#offset] === '(' ? ')' : '}';
    this.#offset += 1;
    if (type === 'string') {
      this.#readString();
      return null;
    }
    const key = this.#readKey();
    const fields = new Map<string, FieldInProgress>();
    let length = this.#text.length;
    for (let count = 1; !this.#isAtEnd(); count += 1) {
      if (count > FIELDS_MAX) throw this.#problem(`it has more than ${FIELDS_MAX} fields`);
      length += this.#readFieldInto(fields);
      if (length > RECORD_BYTES_MAX) {
        throw this.#problem(`with its strings it is longer than ${RECORD_BYTES_MAX} characters`);
      }
    }
    const { line, offset } = this.#place;
    return { line, offset, key, type, fields, length };
  }

  #readString(): void {
    this.#skipBlanks();
    const name = this.#readName();
    this.#strings.define(name.toLowerCase(), this.#readValue(name));
    this.#endField(name);
    if (!this.#isAtEnd()) throw this.#problem('a @string has one name and one text');
  }

  /** The key, or null where there is only the comma after it. */
  #readKey(): string | null {
    this.#skipBlanks();
    const start = this.#offset;
    while (!this.#isKeyEnd(this.#text[this.#offset] ?? ',')) this.#offset += 1;
    const key = this.#text.slice(start, this.#offset);
    this.#skipBlanks();
    const next = this.#text[this.#offset];
    if (next === '=' || key.includes('=')) {
      throw this.#problem('the key is missing: write @book{key, title = {…}}');
    }
    if (next === ',') this.#offset += 1;
    else if (!this.#isAtEnd()) throw this.#problem(`after the key ${show(key)} a comma is missing`);
    return key === '' ? null : key;
  }

  #isKeyEnd(char: string): boolean {
    return BLANK.test(char) || char === ',' || char === this.#closing || char === '{'
      || char === '}';
  }

  /** Returns the length of what the field has from strings. */
  #readFieldInto(fields: Map<string, FieldInProgress>): number {
    const name = this.#readName();
    const start = this.#offset;
    const value = this.#readValue(name);
    const borrowedLength = Math.max(0, value.length - (this.#offset - start));
    this.#endField(name);
    const field = fields.get(name.toLowerCase());
    if (field === undefined) fields.set(name.toLowerCase(), { name, values: [value] });
    else field.values.push(value);
    return borrowedLength;
  }

  /** A comma, or the end of the entry. */
  #endField(name: string): void {
    this.#skipBlanks();
    if (this.#text[this.#offset] === ',') this.#offset += 1;
    else if (!this.#isAtEnd()) {
      throw this.#problem(`after the text of ${show(name)} a comma is missing, before `
        + show(this.#text.slice(this.#offset)));
    }
    this.#skipBlanks();
  }

  /** Whether only the closing brace is left. */
  #isAtEnd(): boolean {
    this.#skipBlanks();
    return this.#offset >= this.#text.length - 1;
  }

  #readName(): string {
    const name = this.#readWord();
    if (name !== '') return name;
    throw this.#problem('the name of a field is missing before '
      + show(this.#text.slice(this.#offset)));
  }

  #readValue(name: string): string {
    this.#skipBlanks();
    if (this.#text[this.#offset] !== '=') {
      throw this.#problem(`after the name ${show(name)} a = is missing`);
    }
    let value = '';
    do {
      this.#offset += 1;
      this.#skipBlanks();
      value += this.#readPiece(name);
      if (value.length > RECORD_BYTES_MAX) {
        throw this.#problem(`${show(name)} is longer than ${RECORD_BYTES_MAX} characters`);
      }
      this.#skipBlanks();
    } while (this.#text[this.#offset] === '#');
    return value;
  }

  #readPiece(name: string): string {
    const first = this.#text[this.#offset] ?? '';
    if (first === '{' || first === '"') return this.#readDelimited(name, first);
    const word = this.#readWord();
    if (word === '') throw this.#problem(`the text of ${show(name)} is missing`);
    return this.#strings.resolve(word);
  }

  /** Text in braces, or in quotes, to which braces within it must be balanced. */
  #readDelimited(name: string, first: string): string {
    const start = this.#offset + 1;
    let depth = 0;
    for (let offset = start; offset < this.#text.length; offset += 1) {
      const char = this.#text[offset];
      const isEnd = depth === 0 && char === (first === '{' ? '}' : '"');
      if (isEnd) {
        this.#offset = offset + 1;
        return this.#text.slice(start, offset);
      }
      if (char === '{') depth += 1;
      else if (char === '}') depth -= 1;
      if (depth < 0) break;
    }
    throw this.#problem(first === '{' ? `the text of ${show(name)} has no closing }`
      : `the text of ${show(name)} has no closing quote, or a brace without its partner`);
  }

  /** Skips white space and comments. */
  #skipBlanks(): void {
    this.#skip(BLANKS);
    while (this.#text[this.#offset] === '%') {
      this.#skip(REST_OF_LINE);
      this.#skip(BLANKS);
    }
  }

  #readWord(): string {
    const start = this.#offset;
    this.#skip(WORD);
    return this.#text.slice(start, this.#offset);
  }

  /** Skips what the pattern matches here: it is sticky, and may match nothing. */
  #skip(pattern: RegExp): void {
    pattern.lastIndex = this.#offset;
    pattern.test(this.#text);
    this.#offset = pattern.lastIndex;
  }

  /** The mistake, with the line where it is. */
  #problem(detail: string): AppError {
    const lines = this.#text.slice(0, this.#offset).split(/\r\n|\r|\n/).length - 1;
    const prefix = lines === 0 ? '' : `line ${this.#place.line + lines}: `;
    return new AppError('invalid', prefix + detail);
  }
}

function show(text: string): string {
  const line = text.slice(0, SHOWN_MAX).split(/[\r\n]/, 1)[0] ?? '';
  return JSON.stringify(line);
}
