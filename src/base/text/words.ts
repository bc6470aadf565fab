/**
 * Tokens: what counts as a word. The catalog and the searches of webhooks share this, so that a
 * word means the same everywhere. Pure.
 *
 * Text is folded and split into tokens: runs of letters, digits and marks of any script, with signs
 * that end a name (`c++`, `c#`). A text has two kinds of tokens besides: `.net` where a dot begins
 * a word, and initials joined (`jrr` of `J. R. R.`), so that a query may write them either way.
 *
 * Signs are no words. Who searches for signs alone finds the texts that have them: runs of signs
 * are tokens in which they may stand anywhere, as in an unspaced script. No index has these.
 *
 * Scripts that put no spaces between words (Chinese, Japanese, Thai, …) form tokens of their own,
 * in which a word may begin at any character. Hangul counts as one of them: Korean has spaces, but
 * writes particles and compounds as one word with what somebody looks for. A word of a query
 * matches a token that begins with it; in a token of an unspaced script it matches anywhere.
 *
 * When a query writes several words of an unspaced script without a break, the runtime's dictionary
 * (`Intl.Segmenter`) splits them, and each must match. The text that is searched is never split
 * that way: a dictionary often splits a word differently in another context, and dictionaries
 * differ between versions of Node, so an index of their words would miss some. A Node without
 * dictionaries splits into single characters; `cutWords` joins these again, and the whole run is
 * searched for. For Hangul there is no dictionary, and who writes Korean puts the spaces.
 */
import { ASCII, fold } from './fold.ts';

export type TextToken = { readonly text: string; readonly isUnspaced: boolean };

/** A token of a query. */
export type Word = TextToken;

// A longer run without a space is no search, and splitting it would take quadratic time.
const CUT_LENGTH_MAX = 256;

const UNSPACED_CLASS = '\\p{scx=Han}\\p{scx=Hira}\\p{scx=Kana}\\p{scx=Thai}\\p{scx=Lao}'
  + '\\p{scx=Khmr}\\p{scx=Mymr}\\p{scx=Hang}';
const UNSPACED = new RegExp(`[${UNSPACED_CLASS}]`, 'u');
const HANGUL_RUN = /^\p{scx=Hang}+$/u;
const SPACED_LETTER = `[[\\p{L}\\p{N}]--[${UNSPACED_CLASS}]]`;
// `C++11` has two words; in `a+b` and `C#m` the sign is between two words.
const SIGNS_OF_WORD = `(?:\\+{2,}|[+#]+(?![+#]|${SPACED_LETTER}))?`;
const RUNS = new RegExp(`[[\\p{L}\\p{N}\\p{M}]&&[${UNSPACED_CLASS}]]+`
  + `|[[\\p{L}\\p{N}\\p{M}]--[${UNSPACED_CLASS}]]+${SIGNS_OF_WORD}`, 'gv');
const ASCII_RUNS = /[a-z0-9]+(?:\+{2,}|[+#]+(?![+#a-z0-9]))?/g;
const DOTTED = /(?<![\p{L}\p{N}\p{M}.])\.\p{L}[\p{L}\p{N}\p{M}]*/gu;
// Behind a space a letter needs its dot, too: `J. T` may be the start of `J. Tolkien`.
const INITIALS = new RegExp('(?<![\\p{L}\\p{N}\\p{M}])\\p{Ll}'
  + '(?:\\.(?:-?\\p{Ll}(?![\\p{L}\\p{N}\\p{M}])|\\s\\p{Ll}(?=\\.)))+', 'gu');
const INITIALS_END = /\.?\s*/y;
const SIGNS = /[^\p{L}\p{N}\p{M}\s]+/gu;
const NO_LETTER = /^[^\p{L}\p{N}\p{M}]+$/u;

/** The tokens of a text, which need not be folded yet. */
export function tokenize(text: string): TextToken[] {
  return tokenizeFolded(fold(text));
}

export function tokenizeFolded(folded: string): TextToken[] {
  const runs = listRuns(folded);
  if (!folded.includes('.')) return runs;
  const initials = (folded.match(INITIALS) ?? []).map(joinLetters);
  const others = [...folded.match(DOTTED) ?? [], ...initials];
  return [...runs, ...others.map((text) => ({ text, isUnspaced: false }))];
}

export function tokenizeWithSigns(text: string): TextToken[] {
  const foldedText = fold(text);
  const signs = (foldedText.match(SIGNS) ?? []).map((run) => ({ text: run, isUnspaced: true }));
  return [...tokenizeFolded(foldedText), ...signs];
}

/** The tokens of a folded text as they stand in it: each character belongs to one at most. */
export function listRuns(folded: string): TextToken[] {
  if (ASCII.test(folded)) {
    return (folded.match(ASCII_RUNS) ?? []).map((text) => ({ text, isUnspaced: false }));
  }
  return (folded.match(RUNS) ?? []).map((text) => ({ text, isUnspaced: UNSPACED.test(text) }));
}

/**
 * Reads the words of a part of a query without white space, each with its alternatives.
 * An alternative is a list of words, too: initials are found as they stand, or joined.
 */
export function parseWords(part: string): (readonly (readonly Word[])[])[] {
  const words: (readonly (readonly Word[])[])[] = [];
  const takeWord = (...alternatives: readonly (readonly Word[])[]): string => {
    words.push(alternatives);
    return ' ';
  };
  let rest = fold(part);
  if (rest.includes('.')) {
    rest = rest.replace(INITIALS, (initials) => takeWord(listRuns(initials),
      [{ text: joinLetters(initials), isUnspaced: false }]));
    rest = rest.replace(DOTTED, (text) => takeWord([{ text, isUnspaced: false }]));
  }
  for (const run of listRuns(rest)) takeWord(cutWords(run));
  return words;
}

/** A part of a query as signs to look for. */
export function createSignsWord(part: string): Word {
  const foldedPart = fold(part);
  // A folded text has no sign that folding drops.
  return { text: foldedPart === '' ? part : foldedPart, isUnspaced: true };
}

/** Whether it is a word of signs alone, which no index has. */
export function isSignsWord({ text, isUnspaced }: Word): boolean {
  return isUnspaced && NO_LETTER.test(text);
}

/** The folded text with its initials joined: `jrr tolkien` for `j. r. r. tolkien`. */
export function joinInitials(folded: string): string {
  if (!folded.includes('.')) return folded;
  let result = '';
  let end = 0;
  for (const match of folded.matchAll(INITIALS)) {
    result += `${folded.slice(end, match.index)}${joinLetters(match[0])} `;
    INITIALS_END.lastIndex = match.index + match[0].length;
    end = INITIALS_END.lastIndex + (INITIALS_END.exec(folded)?.[0].length ?? 0);
  }
  return result + folded.slice(end);
}

function joinLetters(initials: string): string {
  return initials.replace(/[\s.-]/g, '');
}

/** In an unspaced token a word may stand anywhere, in others only at the beginning. */
export function hasWord(tokens: readonly TextToken[], word: Word): boolean {
  return tokens.some((token) => token.isUnspaced === word.isUnspaced
    && (word.isUnspaced ? token.text.includes(word.text) : token.text.startsWith(word.text)));
}

/**
 * The words of a run of an unspaced script. A single character is rarely a word that somebody
 * searches for, so it is joined to the word before it, or to the next when it comes first.
 */
export function cutWords(run: TextToken): readonly Word[] {
  if (!run.isUnspaced || run.text.length > CUT_LENGTH_MAX) return [run];
  // A segmenter would give the run back, and takes milliseconds to load.
  if (HANGUL_RUN.test(run.text)) return [run];
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
