/**
 * Tokens: what counts as a word. The catalog and the searches of webhooks share this, so that a
 * word means the same everywhere. Pure.
 *
 * Text is folded and split into tokens: runs of letters, digits and marks of any script. Scripts
 * that put no spaces between words (Chinese, Japanese, Thai, …) form tokens of their own, in which
 * a word may begin at any character. Hangul counts as one of them: Korean has spaces, but writes
 * particles and compounds as one word with what somebody looks for. A word of a query matches a
 * token that begins with it; in a token of an unspaced script it matches anywhere.
 *
 * When a query writes several words of an unspaced script without a break, the runtime's dictionary
 * (`Intl.Segmenter`) splits them, and each must match. The text that is searched is never split
 * that way: a dictionary often splits a word differently in another context, and dictionaries
 * differ between versions of Node, so an index of their words would miss some. A Node without
 * dictionaries splits into single characters; `cutWords` joins these again, and the whole run is
 * searched for. For Hangul there is no dictionary, and who writes Korean puts the spaces.
 */
import { fold } from './fold.ts';

export type TextToken = { readonly text: string; readonly isUnspaced: boolean };

/** A token of a query. */
export type Word = TextToken;

// A longer run without a space is no search, and splitting it would take quadratic time.
const CUT_LENGTH_MAX = 256;

const UNSPACED_CLASS = '\\p{scx=Han}\\p{scx=Hira}\\p{scx=Kana}\\p{scx=Thai}\\p{scx=Lao}'
  + '\\p{scx=Khmr}\\p{scx=Mymr}\\p{scx=Hang}';
const UNSPACED = new RegExp(`[${UNSPACED_CLASS}]`, 'u');
const PIECES = new RegExp(`[${UNSPACED_CLASS}]+|[^${UNSPACED_CLASS}]+`, 'gu');
const HANGUL_RUN = /^\p{scx=Hang}+$/u;
const RUNS = /[\p{L}\p{N}\p{M}]+/gu;
const ASCII_RUNS = /[a-z0-9]+/g;
const ASCII = /^[\x00-\x7f]*$/;

/** The tokens of a text, which need not be folded yet. */
export function tokenize(text: string): TextToken[] {
  return tokenizeFolded(fold(text));
}

export function tokenizeFolded(folded: string): TextToken[] {
  if (ASCII.test(folded)) {
    return (folded.match(ASCII_RUNS) ?? []).map((text) => ({ text, isUnspaced: false }));
  }
  return (folded.match(RUNS) ?? []).flatMap((run) => {
    if (!UNSPACED.test(run)) return [{ text: run, isUnspaced: false }];
    return (run.match(PIECES) ?? []).map((text) => ({ text, isUnspaced: UNSPACED.test(text) }));
  });
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
