/**
 * Tokens: what counts as a word. The index, queries and the check of a book's own text all use this
 * file, so they agree. Pure.
 *
 * Text is folded and split into tokens: runs of letters, digits and marks of any script. Scripts
 * that put no spaces between words (Chinese, Japanese, Thai, …) form tokens of their own, in which
 * a word may begin at any character. A word of a query matches a token that begins with it; in a
 * token of an unspaced script it matches anywhere.
 *
 * When a query writes several words of an unspaced script without a break, the runtime's dictionary
 * (`Intl.Segmenter`) splits them, and each must match. The text of a book is never split that way:
 * a dictionary often splits a word differently in another context, and dictionaries differ between
 * versions of Node, so an index of their words would miss some. A Node without dictionaries splits
 * into single characters; `cutWords` joins these again, and the whole run is searched for.
 */
import { encodeByteString, fold } from '../../base/text/fold.ts';
import { parseIsbn } from '../isbn.ts';
import { malformed } from './query-parameters.ts';

type TextToken = { readonly text: string; readonly isUnspaced: boolean };

/** A token of a query. */
type Word = TextToken;

/** A list of alternatives: a clause matches when every word of one of them is in the text. */
export type Clause = readonly (readonly Word[])[];

// A search for more clauses than this is a mistake or an attack. The error says "words", as a
// clause mostly stands for one word of the user.
const CLAUSES_MAX = 64;

// A longer run without a space is no search, and splitting it would take quadratic time.
const CUT_LENGTH_MAX = 256;

const UNSPACED_CLASS = '\\p{scx=Han}\\p{scx=Hira}\\p{scx=Kana}\\p{scx=Thai}\\p{scx=Lao}'
  + '\\p{scx=Khmr}\\p{scx=Mymr}';
const UNSPACED = new RegExp(`[${UNSPACED_CLASS}]`, 'u');
const PIECES = new RegExp(`[${UNSPACED_CLASS}]+|[^${UNSPACED_CLASS}]+`, 'gu');
const RUNS = /[\p{L}\p{N}\p{M}]+/gu;
const ASCII_RUNS = /[a-z0-9]+/g;
const ASCII = /^[\x00-\x7f]*$/;
const HYPHENS = /[\u2010-\u2015\u2212]/g;
const HYPHENATED_NUMBER = /^[0-9][0-9-]*[0-9x]$/i;

/** The tokens of a text, which need not be folded yet. */
export function tokenize(text: string): TextToken[] {
  return tokenizeFolded(fold(text));
}

/**
 * The clauses of a query, all of which must match; none when the text has no letter or digit.
 * Throws `malformed`, naming `what`, when there are too many.
 */
export function parseClauses(text: string, what: string): Clause[] {
  const clean = text.replace(HYPHENS, '-').trim();
  // An ISBN may be written with spaces: then the whole text is one part.
  const isbn = parseIsbn(clean);
  const parts = isbn === null ? clean.split(/\s+/) : [clean];
  const clauses = new Map<string, Clause>();
  for (const part of parts) {
    for (const clause of parsePart(part)) clauses.set(JSON.stringify(clause), clause);
    if (clauses.size > CLAUSES_MAX) throw malformed(`${what} must be at most ${CLAUSES_MAX} words`);
  }
  return [...clauses.values()];
}

/** Whether every clause matches the text, given as its tokens. */
export function matchesWords(clauses: readonly Clause[], tokens: readonly TextToken[]): boolean {
  return clauses.every((clause) =>
    clause.some((words) => words.every((word) => hasWord(tokens, word))));
}

/**
 * Calls `add` with every term under which the index keeps the text; a term may come twice. A term
 * is a byte string (`encodeByteString`), which for ASCII is the text itself. A token of an unspaced
 * script gives each pair of neighbouring characters, and its last character alone: a word may begin
 * at any character, so each character begins a term.
 */
export function eachTerm(text: string, add: (term: string) => void): void {
  const foldedText = fold(text);
  if (ASCII.test(foldedText)) {
    for (const tokenText of foldedText.match(ASCII_RUNS) ?? []) add(tokenText);
    return;
  }
  for (const token of tokenizeFolded(foldedText)) {
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
 * word's pairs without the word.
 */
export function deriveTermPrefixes(
  word: Word,
): { prefixes: readonly string[]; isExact: boolean } {
  const characters = [...word.text];
  if (!word.isUnspaced || characters.length <= 2) {
    return { prefixes: [encodeByteString(word.text)], isExact: true };
  }
  const pairs = characters.slice(1).map((character, index) => `${characters[index]}${character}`);
  return { prefixes: [...new Set(pairs)].map(encodeByteString), isExact: false };
}

function tokenizeFolded(folded: string): TextToken[] {
  if (ASCII.test(folded)) {
    return (folded.match(ASCII_RUNS) ?? []).map((text) => ({ text, isUnspaced: false }));
  }
  return (folded.match(RUNS) ?? []).flatMap((run) => {
    if (!UNSPACED.test(run)) return [{ text: run, isUnspaced: false }];
    return (run.match(PIECES) ?? []).map((text) => ({ text, isUnspaced: UNSPACED.test(text) }));
  });
}

/**
 * A number with hyphens may be an ISBN, a part of one, or several numbers; an ISBN-10 also means
 * the ISBN-13 under which the book is stored. Anything else becomes one clause for each word.
 *
 * `978-0-441` gives one clause with two alternatives: the tokens 978, 0 and 441, or the one token
 * 9780441. An ISBN-13 without hyphens is its only token, so one alternative is enough.
 */
function parsePart(part: string): Clause[] {
  const tokens = tokenize(part);
  const isbn = parseIsbn(part);
  const isNumber = part.includes('-') && HYPHENATED_NUMBER.test(part);
  if (isbn === null && !isNumber) return tokens.map((token) => [cutWords(token)]);
  const number = isbn ?? part.replaceAll('-', '').toLowerCase();
  const isOnlyToken = tokens.length === 1 && tokens[0]?.text === number;
  const alternatives = isOnlyToken ? [tokens] : [tokens, [{ text: number, isUnspaced: false }]];
  return [alternatives];
}

/**
 * The words of a run of an unspaced script. A single character is rarely a word that somebody
 * searches for, so it is joined to the word before it, or to the next when it comes first.
 */
function cutWords(run: TextToken): readonly Word[] {
  if (!run.isUnspaced || run.text.length > CUT_LENGTH_MAX) return [run];
  const words: string[] = [];
  for (const { segment } of getSegmenter().segment(composeVowels(run.text))) {
    const last = words.at(-1);
    const isJoined = last !== undefined && (isOneCharacter(segment) || isOneCharacter(last));
    if (isJoined) words[words.length - 1] = last + segment;
    else words.push(segment);
  }
  return words.map((word) => ({ text: fold(word), isUnspaced: true }));
}

let segmenter: Intl.Segmenter | undefined;

// Created on first use, because its dictionaries take milliseconds to load. The language makes no
// difference to these scripts; a fixed one rules out the machine's locale.
function getSegmenter(): Intl.Segmenter {
  segmenter ??= new Intl.Segmenter('en', { granularity: 'word' });
  return segmenter;
}

// Folding decomposes two vowels (Thai and Lao AM), which the dictionaries have in composed form.
function composeVowels(folded: string): string {
  return folded.replaceAll('\u0e4d\u0e32', '\u0e33').replaceAll('\u0ecd\u0eb2', '\u0eb3');
}

function isOneCharacter(text: string): boolean {
  return text.length <= 2 && [...text].length === 1;
}

/** In an unspaced token a word may stand anywhere, in others only at the beginning. */
function hasWord(tokens: readonly TextToken[], word: Word): boolean {
  return tokens.some((token) => token.isUnspaced === word.isUnspaced
    && (word.isUnspaced ? token.text.includes(word.text) : token.text.startsWith(word.text)));
}
