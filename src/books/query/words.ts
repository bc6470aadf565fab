/**
 * The words of a query, and the terms under which the index keeps a text. The index, queries and
 * the check of a book's own text all use this file, so they agree. What a word is, and when it
 * matches, stands in base/text/words.ts. Pure.
 */
import { encodeByteString, fold } from '../../base/text/fold.ts';
import {
  createSignsWord, hasWord, isSignsWord, listRuns, parseWords, tokenizeFolded, type TextToken,
  type Word,
} from '../../base/text/words.ts';
import { malformed } from '../../server/query.ts';
import { parseIsbn } from '../isbn.ts';

/** A list of alternatives: a clause matches when every word of one of them is in the text. */
export type Clause = readonly (readonly Word[])[];

// A search for more clauses than this is a mistake or an attack. The error says "words", as a
// clause mostly stands for one word of the user.
const CLAUSES_MAX = 64;

const HYPHENS = /[\u2010-\u2015\u2212]/g;
/** The gap between two initials, which need not stand in one part. */
const INITIALS_GAP = /(?<=(?<![\p{L}\p{N}\p{M}])\p{L}\.)\s(?=\p{L}\.)/gu;
const PLAIN_WORDS = /^[a-z0-9 ]*$/;
const HYPHENATED_NUMBER = /^[0-9][0-9-]*[0-9x]$/i;

/**
 * The clauses of a query, all of which must match; none when the text is empty. Signs count only
 * where the text has no word: then the clauses are the signs that must be there. Throws
 * `malformed`, naming `what`, when there are too many.
 */
export function parseClauses(text: string, what: string): Clause[] {
  const clean = text.replace(HYPHENS, '-').trim();
  // An ISBN may be written with spaces: then the whole text is one part.
  const isbn = parseIsbn(clean);
  // Initials are one part.
  const parts = isbn === null ? clean.replace(INITIALS_GAP, '').match(/\S+/g) ?? [] : [clean];
  const clauses = collectClauses(parts, parsePart, what);
  if (clauses.length > 0) return clauses;
  return collectClauses(parts, (part) => [[[createSignsWord(part)]]], what);
}

function collectClauses(
  parts: readonly string[], parse: (part: string) => readonly Clause[], what: string,
): Clause[] {
  const clauses = new Map<string, Clause>();
  for (const part of parts) {
    for (const clause of parse(part)) clauses.set(JSON.stringify(clause), clause);
    if (clauses.size > CLAUSES_MAX) throw malformed(`${what} must be at most ${CLAUSES_MAX} words`);
  }
  return [...clauses.values()];
}

/** Whether every clause matches the text, given as its tokens. */
export function matchesWords(clauses: readonly Clause[], tokens: readonly TextToken[]): boolean {
  return clauses.every((clause) =>
    clause.some((words) => words.every((word) => hasWord(tokens, word))));
}

/** The words of a text as beginnings are compared: folded, corrected, one space between them. */
export function joinWords(text: string, corrections?: ReadonlyMap<string, string>): string {
  return listRuns(fold(text)).map((token) => corrections?.get(token.text) ?? token.text).join(' ');
}

/** Whether the words of a value begin so; `beginning` is as `joinWords` leaves it. */
export function isBegun(value: string, beginning: string): boolean {
  // To compare letters takes a tenth of the time. A sign belongs to a word at its end alone.
  if (PLAIN_WORDS.test(beginning) && value.toLowerCase().startsWith(beginning)) return true;
  return joinWords(value).startsWith(beginning);
}

/**
 * Calls `add` with every term under which the index keeps the text; a term may come twice. A term
 * is a byte string (`encodeByteString`), which for ASCII is the text itself. A token of an unspaced
 * script gives each pair of neighbouring characters, and its last character alone: a word may begin
 * at any character, so each character begins a term.
 */
export function eachTerm(text: string, add: (term: string) => void): void {
  for (const token of tokenizeFolded(fold(text))) {
    if (!token.isUnspaced) {
      add(encodeByteString(token.text));
      continue;
    }
    const characters = [...token.text];
    for (let index = 0; index < characters.length; index += 1) {
      add(encodeByteString(`${characters[index]}${characters[index + 1] ?? ''}`));
    }
  }
}

/**
 * Returns the prefixes to look up in the index for `word`. A text that `word` matches has, for each
 * of `prefixes`, a term that begins with it. `isExact`: having these terms is enough for a match;
 * else the caller must check the text. It is false for a word of an unspaced script of more
 * than two characters: the index has pairs of characters alone, and a text may have all of a
 * word's pairs without the word. Of signs it has nothing.
 */
export function deriveTermPrefixes(
  word: Word,
): { prefixes: readonly string[]; isExact: boolean } {
  if (!word.isUnspaced) return { prefixes: [encodeByteString(word.text)], isExact: true };
  if (isSignsWord(word)) return { prefixes: [], isExact: false };
  const characters = [...word.text];
  if (characters.length <= 2) {
    return { prefixes: [encodeByteString(word.text)], isExact: true };
  }
  const pairs = characters.slice(1).map((character, index) => `${characters[index]}${character}`);
  return { prefixes: [...new Set(pairs)].map(encodeByteString), isExact: false };
}

/**
 * A number with hyphens may be an ISBN, a part of one, or several numbers; an ISBN-10 also means
 * the ISBN-13 under which the book is stored. Anything else becomes one clause for each word.
 *
 * `978-0-441` gives one clause with two alternatives: the tokens 978, 0 and 441, or the one token
 * 9780441. An ISBN-13 without hyphens is its only token, so one alternative is enough.
 */
function parsePart(part: string): Clause[] {
  const isbn = parseIsbn(part);
  const isNumber = part.includes('-') && HYPHENATED_NUMBER.test(part);
  if (isbn === null && !isNumber) return parseWords(part);
  const tokens = listRuns(fold(part));
  const number = isbn ?? part.replaceAll('-', '').toLowerCase();
  const isOnlyToken = tokens.length === 1 && tokens[0]?.text === number;
  const alternatives = isOnlyToken ? [tokens] : [tokens, [{ text: number, isUnspaced: false }]];
  return [alternatives];
}
