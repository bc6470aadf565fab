/**
 * The words of a search (`q`). They are those of the catalog (base/text/words.ts): folded, all of
 * them must be there, and the start of a word counts. Initials are not joined here. Pure.
 */
import { AppError } from '../../base/errors.ts';
import { fold } from '../../base/text/fold.ts';
import { cutWords, hasWord, listRuns, type Word } from '../../base/text/words.ts';

/** A search for more words than this is a mistake or an attack. */
const WORDS_MAX = 64;
/** The first piece of a UUID has so many characters. */
const ID_WORD_LENGTH_MIN = 8;

/**
 * Parses the words of a `q`. Null for a text with characters and without a word, such as `***`:
 * nothing has it. Throws `malformed` for too many words.
 */
export function parseSearchWords(text: string): readonly Word[] | null {
  const words = new Map<string, Word>();
  for (const token of listRuns(fold(text))) {
    for (const word of cutWords(token)) words.set(word.text, word);
    if (words.size > WORDS_MAX) {
      throw new AppError('malformed', `\`q\` must be at most ${WORDS_MAX} words`);
    }
  }
  return words.size === 0 && text.trim() !== '' ? null : [...words.values()];
}

/** The words of a search that are not found yet in the texts of one record. */
export class MissingWords {
  #words: readonly Word[];

  constructor(words: readonly Word[]) {
    this.#words = words;
  }

  get isEmpty(): boolean {
    return this.#words.length === 0;
  }

  lookInto(text: string): void {
    const foldedText = fold(text);
    // Most texts have none of the words, and splitting them takes longer than this.
    if (!this.#words.some((word) => foldedText.includes(word.text))) return;
    const tokens = listRuns(foldedText);
    this.#words = this.#words.filter((word) => !hasWord(tokens, word));
  }

  /**
   * Looks for the words in an identifier that we have given, which is a UUID. Its pieces are no
   * words, and most short numbers begin one of them, so nothing is found unless one word is a long
   * piece or the beginning of one.
   */
  lookIntoId(id: string): void {
    const pieces = id.split('-');
    const isMeant = this.#words.some(({ text }) =>
      text.length >= ID_WORD_LENGTH_MIN && pieces.some((piece) => piece.startsWith(text)));
    if (isMeant) this.lookInto(id);
  }
}
