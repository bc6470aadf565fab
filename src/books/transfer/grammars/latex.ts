/**
 * Text as the fields of BibTeX hold it: LaTeX.
 *
 *   text    = *( char | group | command | math )
 *   group   = "{" text "}"                       ; keeps the case of its letters, is no character
 *   command = "\" ( 1*letter [blanks] | other )  ; `\ss`, `\"`, `\&`
 *   accent  = command, then a letter, a command that is a letter, or a group that begins with one
 *   math    = "$" … "$"
 *
 * `--` and `---` are dashes, two grave accents and two apostrophes are quotation marks, `~` is a
 * blank, and a run of white space is one blank. Every text is valid: a brace too many and an accent
 * without a letter are read as well as they can be. A command that no table has stays as it is
 * written, with its group: nobody can know what it says. Reading is one pass
 * without recursion, so that deep groups harm nobody.
 */
import {
  ACCENTS, COMMANDS_OF_TWO_GROUPS, LONE_ACCENTS, MARKUP_COMMANDS, MATH_SYMBOLS, QUOTING_COMMANDS,
  SILENT_COMMANDS, SYMBOLS,
} from './latex-symbols.ts';

type LatexText = {
  readonly text: string;
  /** Whether it has commands that plain text cannot say, such as `\emph`, or mathematics. */
  readonly hasMarkup: boolean;
  /** Whether it has groups that keep the case of their letters. */
  readonly hasGroups: boolean;
};

export function decodeLatex(latex: string): LatexText {
  return SPECIAL.test(latex) ? new LatexReader(latex).read()
    : { text: foldLatexBlanks(latex), hasMarkup: false, hasGroups: false };
}

/** Addresses are verbatim in BibLaTeX, but many programs escape them all the same. */
export function decodeLatexUrl(latex: string): string {
  let url = latex.trim();
  const group = /^\\url\s*\{(.*)\}$/s.exec(url) ?? /^\{(.*)\}$/s.exec(url);
  if (group?.[1] !== undefined) url = group[1].trim();
  return url.replaceAll('{\\textasciitilde}', '~').replaceAll('\\textasciitilde{}', '~')
    .replaceAll('\\~{}', '~').replaceAll('{\\_}', '_').replace(/\\([&%$#_~])/g, '$1');
}

/**
 * The LaTeX of a text, on one line, with balanced braces: BibTeX counts those after a backslash
 * too. Control characters, which LaTeX refuses, are left out.
 */
export function encodeLatex(text: string): string {
  const plain = foldLatexBlanks(foldLatexBlanks(text).replace(/\p{Cc}/gu, ''));
  if (!NEEDS_ESCAPE.test(plain)) return plain;
  const escapes = hasBalancedBraces(plain) ? ESCAPES_BALANCED : ESCAPES;
  // Twice, as of three signs the first round leaves the second and the third beside each other.
  return plain.replace(/[\\{}$&#%_~^`]/g, (char) => escapes.get(char) ?? char)
    .replaceAll('--', '-{}-').replaceAll('--', '-{}-').replaceAll("''", "'{}'")
    .replaceAll("''", "'{}'");
}

/** Whether each brace has its partner, as BibTeX counts: a backslash changes nothing. */
export function hasBalancedBraces(text: string): boolean {
  let depth = 0;
  for (let offset = 0; offset < text.length; offset += 1) {
    const char = text[offset];
    if (char === '{') depth += 1;
    else if (char === '}') depth -= 1;
    if (depth < 0) return false;
  }
  return depth === 0;
}

/** The end of the group that opens at `start`; -1: none opens, or it has no end before `end`. */
export function findGroupEnd(latex: string, start: number, end = latex.length): number {
  let depth = 0;
  for (let offset = start; offset < end; offset += 1) {
    if (latex[offset] === '{') depth += 1;
    else if (latex[offset] === '}') depth -= 1;
    if (depth <= 0) return depth === 0 && offset > start ? offset + 1 : -1;
  }
  return -1;
}

const SPECIAL = /[\\{}$~`]|--|''/;
const NEEDS_ESCAPE = /[\\{}$&#%_~^`]|--|''/;

// A brace without its partner gets one that nobody sees: the other commands for it, such as
// \textbraceleft, are unknown to pandoc, as is \textasciigrave.
const ESCAPES: ReadonlyMap<string, string> = new Map([
  ['\\', '\\textbackslash{}'], ['{', '\\{\\vphantom{\\}}'], ['}', '\\vphantom{\\{}\\}'],
  ['$', '\\$'], ['&', '\\&'], ['#', '\\#'], ['%', '\\%'], ['_', '\\_'],
  ['~', '\\textasciitilde{}'], ['^', '\\textasciicircum{}'], ['`', '\\`{}'],
]);
const ESCAPES_BALANCED: ReadonlyMap<string, string> =
  new Map([...ESCAPES, ['{', '\\{'], ['}', '\\}']]);

/** One blank for each run of what LaTeX takes for one: a no-break space stays what it is. */
export function foldLatexBlanks(text: string): string {
  return text.replace(/[ \t\r\n\f\v\u0085\u2028\u2029]+/g, ' ').replace(/^ /, '').replace(/ $/, '');
}

const LETTER = /[A-Za-z]/;
/** Commands of one character that are this text. */
const CHARACTER_COMMANDS: ReadonlyMap<string, string> = new Map([
  ['\\', ' '], [' ', ' '], ['\n', ' '], ['\t', ' '], [',', ' '], [';', ' '], [':', ' '],
  ['!', ''], ['/', ''], ['-', ''], ['@', ''], ['(', ''], [')', ''], ['[', ''], [']', ''], ['*', ''],
]);

class LatexReader {
  readonly #latex: string;
  #offset = 0;
  #text = '';
  #hasMarkup = false;
  #hasGroups = false;
  /** Combining characters for the letter that comes next, the last first. */
  #accents = '';
  /** The text that ends each open group: a closing quotation mark, or none. */
  readonly #closings: string[] = [];
  /** For the group that opens next. */
  #nextClosing: string | null = null;
  #isMath = false;

  constructor(latex: string) {
    this.#latex = latex;
  }

  read(): LatexText {
    while (this.#offset < this.#latex.length) this.#readNext();
    this.#endAccents();
    const text = foldLatexBlanks(this.#text);
    return { text, hasMarkup: this.#hasMarkup, hasGroups: this.#hasGroups };
  }

  #readNext(): void {
    const char = this.#latex[this.#offset] ?? '';
    switch (char) {
      case '\\': this.#readCommand(); break;
      case '{': this.#openGroup(); break;
      case '}': this.#closeGroup(); break;
      case '$': this.#readDollar(); break;
      case '~': this.#offset += 1; this.#add(' '); break;
      case '-': this.#readRun('-', ['-', '–', '—']); break;
      case '`': this.#readRun('`', ['‘', '“']); break;
      case "'": this.#readRun("'", ["'", '”']); break;
      case '?': this.#readInverted('?', '¿'); break;
      case '!': this.#readInverted('!', '¡'); break;
      default: this.#readCharacter(); break;
    }
  }

  /** Adds the character of the longest ligature that stands here. */
  #readRun(char: string, ligatures: readonly string[]): void {
    let length = 1;
    while (length < ligatures.length && this.#latex[this.#offset + length] === char) length += 1;
    this.#offset += length;
    this.#add(ligatures[length - 1] ?? char);
  }

  /** A question or exclamation mark; a grave accent after it turns it upside down. */
  #readInverted(mark: string, inverted: string): void {
    const isInverted = this.#latex[this.#offset + 1] === '`';
    this.#offset += isInverted ? 2 : 1;
    this.#add(isInverted ? inverted : mark);
  }

  #readCharacter(): void {
    const point = this.#latex.codePointAt(this.#offset) ?? 0;
    const char = String.fromCodePoint(point);
    this.#offset += char.length;
    this.#add(char);
  }

  /** Adds text; the accents that wait go on its first letter. */
  #add(text: string): void {
    if (this.#accents === '') {
      this.#text += text;
      return;
    }
    if (text === '') return;
    if (/^\s/.test(text)) {
      this.#endAccents();
      this.#text += text;
      return;
    }
    const letter = text === 'ı' ? 'i' : text.replace('ȷ', 'j');
    this.#text += (letter + this.#accents).normalize('NFC');
    this.#accents = '';
  }

  #endAccents(): void {
    for (const accent of this.#accents) this.#text += LONE_ACCENTS.get(accent) ?? '';
    this.#accents = '';
  }

  #openGroup(): void {
    this.#offset += 1;
    const closing = this.#nextClosing;
    const next = this.#latex[this.#offset];
    const isCase = closing === null && this.#accents === '' && next !== '\\' && next !== '}';
    if (isCase) this.#hasGroups = true;
    this.#closings.push(closing ?? '');
    this.#nextClosing = null;
  }

  #closeGroup(): void {
    this.#offset += 1;
    this.#endAccents();
    this.#text += this.#closings.pop() ?? '';
  }

  #readDollar(): void {
    this.#offset += 1;
    // A lone one is money.
    const isMath = this.#isMath || this.#latex.indexOf('$', this.#offset) >= 0;
    if (!isMath) return this.#add('$');
    this.#isMath = !this.#isMath;
    this.#hasMarkup = true;
  }

  #readCommand(): void {
    this.#offset += 1;
    const first = this.#latex[this.#offset] ?? '';
    if (LETTER.test(first)) return this.#readWordCommand();
    this.#offset += 1;
    const accent = ACCENTS.get(first);
    if (accent !== undefined) this.#startAccent(accent);
    else this.#add(CHARACTER_COMMANDS.get(first) ?? first);
  }

  #startAccent(accent: string): void {
    this.#skipBlanks();
    this.#accents = accent + this.#accents;
  }

  #readWordCommand(): void {
    const start = this.#offset;
    while (LETTER.test(this.#latex[this.#offset] ?? '')) this.#offset += 1;
    const name = this.#latex.slice(start, this.#offset);
    const nameEnd = this.#offset;
    this.#skipBlanks();
    const accent = ACCENTS.get(name);
    const symbol = SYMBOLS.get(name) ?? MATH_SYMBOLS.get(name);
    if (accent !== undefined) return this.#startAccent(accent);
    if (symbol !== undefined) return this.#add(symbol);
    if (name === 'url') return this.#readUrl();
    if (QUOTING_COMMANDS.has(name)) return this.#startQuotation();
    if (name === 'vphantom') return this.#skipGroup();
    if (!SILENT_COMMANDS.has(name)) {
      this.#hasMarkup = true;
      if (COMMANDS_OF_TWO_GROUPS.has(name)) this.#skipGroup();
      else if (!MARKUP_COMMANDS.has(name)) return this.#keepCommand(start - 1, nameEnd);
    }
    if (this.#latex[this.#offset] === '{') this.#nextClosing = '';
  }

  /** Adds an unknown command as it is written; the text of its group is read between its braces. */
  #keepCommand(start: number, end: number): void {
    this.#endAccents();
    this.#text += this.#latex.slice(start, this.#offset > end ? end + 1 : end);
    if (this.#latex[this.#offset] !== '{') return;
    this.#text += '{';
    this.#nextClosing = '}';
  }

  #startQuotation(): void {
    this.#hasMarkup = true;
    if (this.#latex[this.#offset] !== '{') return;
    this.#add('“');
    this.#nextClosing = '”';
  }

  #readUrl(): void {
    if (this.#latex[this.#offset] !== '{') return;
    const start = this.#offset + 1;
    this.#skipGroup();
    this.#add(this.#latex.slice(start, this.#offset - 1));
  }

  #skipBlanks(): void {
    while (/\s/.test(this.#latex[this.#offset] ?? '')) this.#offset += 1;
  }

  /** Moves beyond the group that opens here, if one does. */
  #skipGroup(): void {
    if (this.#latex[this.#offset] !== '{') return;
    let depth = 0;
    do {
      const char = this.#latex[this.#offset];
      if (char === '{') depth += 1;
      else if (char === '}') depth -= 1;
      this.#offset += char === '\\' ? 2 : 1;
    } while (depth > 0 && this.#offset < this.#latex.length);
  }
}
