/**
 * The macros that the `@preamble` of a BibTeX file defines, as LaTeX's `\newcommand`,
 * `\renewcommand` and `\providecommand` do: `\newcommand{\noopsort}[1]{}`. The text of a macro is
 * read for others three times at most. A text that is long, or would be, stays as written, as do a
 * macro without its arguments, and one that nobody has defined.
 */
import { findGroupEnd } from './latex.ts';

type Macro = { readonly argumentCount: number; readonly body: string };

const MACROS_MAX = 1000;
const ROUNDS_MAX = 3;
// Groups that are read in vain take its square.
const LENGTH_MAX = 5000;

const DEFINITION =
  /\\(new|renew|provide)command\*?\s*\{?\s*\\([A-Za-z]+)\s*\}?\s*(?:\[([0-9])\])?\s*/g;

export class LatexMacros {
  readonly #macros = new Map<string, Macro>();

  /** Reads the definitions in a text; those that nobody can follow are passed over. */
  define(text: string): void {
    for (const definition of text.matchAll(DEFINITION)) {
      const [whole, kind, name = '', count = '0'] = definition;
      const body = readGroup(text, definition.index + whole.length);
      if (body === null) continue;
      if (this.#macros.size >= MACROS_MAX && !this.#macros.has(name)) return;
      if (kind === 'provide' && this.#macros.has(name)) continue;
      this.#macros.set(name, { argumentCount: Number(count), body: body.slice(1, -1) });
    }
  }

  /** The text with its macros followed. */
  expand(latex: string): string {
    if (this.#macros.size === 0 || latex.length > LENGTH_MAX) return latex;
    let text = latex;
    for (let round = 0; round < ROUNDS_MAX; round += 1) {
      const longerText = this.#expandOnce(text);
      if (longerText === null) return latex;
      if (longerText === text) break;
      text = longerText;
    }
    return text;
  }

  /** Null: it would be longer. */
  #expandOnce(text: string): string | null {
    let result = '';
    let end = 0;
    // A sign after a backslash is no name of a macro: `\\a` is a line break and an `a`.
    for (const { 0: whole, 1: name = '', index } of text.matchAll(/\\([A-Za-z]+|[^A-Za-z])/g)) {
      const macro = this.#macros.get(name);
      if (index < end || macro === undefined) continue;
      const call = readArguments(text, index + whole.length, macro.argumentCount);
      if (call === null) continue;
      const body = macro.body.replace(/#([1-9])/g, (sign, number: string) =>
        call.texts[Number(number) - 1] ?? sign);
      result += text.slice(end, index) + body;
      if (result.length > LENGTH_MAX) return null;
      ({ end } = call);
    }
    return result + text.slice(end);
  }
}

/** The arguments of a macro, and where they end; null: it has not so many. */
function readArguments(
  text: string, start: number, count: number,
): { readonly texts: readonly string[]; readonly end: number } | null {
  const texts: string[] = [];
  let end = start;
  // LaTeX passes over blanks behind a macro.
  const skipBlanks = (): void => {
    while (/\s/.test(text[end] ?? '')) end += 1;
  };
  skipBlanks();
  while (texts.length < count) {
    skipBlanks();
    const group = readGroup(text, end);
    const argument = group ?? text[end] ?? '}';
    if (argument === '}' || argument === '{' || argument === '\\') return null;
    texts.push(group === null ? argument : group.slice(1, -1));
    end += argument.length;
  }
  return { texts, end };
}

/** The group that opens at the offset, with its braces; null: none does, or it has no end near. */
function readGroup(text: string, start: number): string | null {
  const end = findGroupEnd(text, start, Math.min(text.length, start + LENGTH_MAX));
  return end < 0 ? null : text.slice(start, end);
}
