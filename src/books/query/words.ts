/**
 * What a word is, for the index, for queries and for the exact check: the three agree because they
 * all come from here. Pure.
 *
 * Text is folded and cut into segments: runs of letters, digits and marks of any script. Scripts
 * that put no spaces between words (Chinese, Japanese, Thai, …) make segments of their own, in
 * which every character begins a word. A word of a query matches a segment that begins with it, and
 * a segment of an unspaced script wherever it stands in it.
 *
 * A query that runs several words of an unspaced script together is cut into them by the runtime's
 * dictionary (`Intl.Segmenter`), and each must match. The text is never cut: the same word is often
 * cut otherwise among others than alone, and a dictionary differs from one Node to the next, so an
 * index of its words would miss some. A Node without dictionaries cuts into single characters,
 * which stay together (`cutWords`): such a run is looked for as a whole.
 */
import { encodeByteString, fold } from '../../base/text/fold.ts';
import { parseIsbn } from '../isbn.ts';
import { malformed } from './parameters.ts';

export type TextRun = { readonly text: string; readonly isUnspaced: boolean };

/** Matches when some alternative has every one of its words in the text. */
export type Clause = readonly (readonly TextRun[])[];

// A search for more words than this is a mistake or an attack.
const WORDS_MAX = 64;

// Nobody searches for a longer run without a space, and cutting one takes quadratic time.
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
const ISBN_10 = /^[0-9]{9}[0-9x]$/i;

/** The segments of some text, which need not be folded. */
export function segmentsOf(text: string): TextRun[] {
  return segmentsOfFolded(fold(text));
}

/**
 * The words of a query, each of which must match; none for text without a letter or digit. Throws
 * `malformed`, naming `what`, when there are too many.
 */
export function parseWords(text: string, what: string): Clause[] {
  const clean = text.replace(HYPHENS, '-').trim();
  const isbn = parseIsbn(clean);
  const tokens = isbn === null ? clean.split(/\s+/) : [clean];
  const clauses = new Map<string, Clause>();
  for (const token of tokens) {
    for (const clause of clausesOf(token)) clauses.set(JSON.stringify(clause), clause);
    if (clauses.size > WORDS_MAX) throw malformed(`${what} must be at most ${WORDS_MAX} words`);
  }
  return [...clauses.values()];
}

/** Whether every clause matches the text, given as its segments. */
export function matchesWords(clauses: readonly Clause[], segments: readonly TextRun[]): boolean {
  return clauses.every((clause) =>
    clause.some((words) => words.every((word) => hasWord(segments, word))));
}

/** Gives `add` every term under which the index keeps the text; terms may come twice. */
export function eachTerm(text: string, add: (term: string) => void): void {
  const folded = fold(text);
  if (ASCII.test(folded)) {
    for (const word of folded.match(ASCII_RUNS) ?? []) add(word);
    return;
  }
  for (const segment of segmentsOfFolded(folded)) {
    if (!segment.isUnspaced) {
      add(encodeByteString(segment.text));
      continue;
    }
    const characters = [...segment.text];
    for (let index = 0; index < characters.length; index += 1) {
      add(encodeByteString(`${characters[index]}${characters[index + 1] ?? ''}`));
    }
  }
}

/**
 * The starts of terms that the index has for every text in which `word` matches. They say it all
 * unless the word is of an unspaced script and longer than the pairs the index keeps.
 */
export function termStartsOf(word: TextRun): { starts: readonly string[]; isExact: boolean } {
  const characters = [...word.text];
  if (!word.isUnspaced || characters.length <= 2) {
    return { starts: [encodeByteString(word.text)], isExact: true };
  }
  const pairs = characters.slice(1).map((character, index) => `${characters[index]}${character}`);
  return { starts: [...new Set(pairs)].map(encodeByteString), isExact: false };
}

function segmentsOfFolded(folded: string): TextRun[] {
  if (ASCII.test(folded)) {
    return (folded.match(ASCII_RUNS) ?? []).map((text) => ({ text, isUnspaced: false }));
  }
  return (folded.match(RUNS) ?? []).flatMap((run) => {
    if (!UNSPACED.test(run)) return [{ text: run, isUnspaced: false }];
    return (run.match(PIECES) ?? []).map((text) => ({ text, isUnspaced: UNSPACED.test(text) }));
  });
}

/**
 * A number written with hyphens may be an ISBN, whole or begun, or several numbers; an ISBN-10
 * stands for the ISBN-13 under which the book is kept. All else is one clause a word.
 */
function clausesOf(token: string): Clause[] {
  const segments = segmentsOf(token);
  const isbn = parseIsbn(token);
  const isNumber = (token.includes('-') && HYPHENATED_NUMBER.test(token))
    || ISBN_10.test(token);
  if (isbn === null && !isNumber) return segments.map((segment) => [cutWords(segment)]);
  const whole = isbn ?? token.replaceAll('-', '').toLowerCase();
  const isSame = segments.length === 1 && segments[0]?.text === whole;
  return isSame ? [[segments]] : [[segments, [{ text: whole, isUnspaced: false }]]];
}

/**
 * The words of a run of an unspaced script. One character by itself is seldom a word that somebody
 * looks for: it stays with the word before it, or the first with the one after it.
 */
function cutWords(run: TextRun): readonly TextRun[] {
  if (!run.isUnspaced || run.text.length > CUT_LENGTH_MAX) return [run];
  const words: string[] = [];
  for (const { segment } of findSegmenter().segment(composeVowels(run.text))) {
    const last = words.at(-1);
    const isJoined = last !== undefined && (isOneCharacter(segment) || isOneCharacter(last));
    if (isJoined) words[words.length - 1] = last + segment;
    else words.push(segment);
  }
  return words.map((word) => ({ text: fold(word), isUnspaced: true }));
}

let segmenter: Intl.Segmenter | undefined;

// Made when it is first needed: its dictionaries take milliseconds to load. The language does not
// matter to these scripts; a fixed one keeps the locale of the machine out of it.
function findSegmenter(): Intl.Segmenter {
  segmenter ??= new Intl.Segmenter('en', { granularity: 'word' });
  return segmenter;
}

// The folding takes two vowels (Thai and Lao AM) apart that the dictionaries know whole.
function composeVowels(folded: string): string {
  return folded.replaceAll('\u0e4d\u0e32', '\u0e33').replaceAll('\u0ecd\u0eb2', '\u0eb3');
}

function isOneCharacter(text: string): boolean {
  return text.length <= 2 && [...text].length === 1;
}

function hasWord(segments: readonly TextRun[], word: TextRun): boolean {
  return segments.some((segment) => segment.isUnspaced === word.isUnspaced
    && (word.isUnspaced ? segment.text.includes(word.text) : segment.text.startsWith(word.text)));
}
