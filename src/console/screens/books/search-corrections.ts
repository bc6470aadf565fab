/** Words of a search that the server took for others. Pure. */

/** A word that was typed, and the word of the catalog that it was taken for; both folded. */
export type SearchCorrection = readonly [word: string, replacement: string];

const WORDS = /[\p{L}\p{N}\p{M}]+/gu;
const MARKS = /\p{M}/gu;

/** The pairs of `X-Search-Corrected`: `hary=harry`, percent-encoded, several by `, `. */
export function parseCorrections(header: string | null): readonly SearchCorrection[] {
  if (header === null) return [];
  return header.split(', ').map((pair): SearchCorrection => {
    const [word = '', replacement = ''] = pair.split('=').map(decodeURIComponent);
    return [word, replacement];
  });
}

/** The text that was searched for in place of `text`. */
export function correctText(text: string, corrections: readonly SearchCorrection[]): string {
  const replacements = new Map(corrections);
  return text.replace(WORDS, (word) => replacements.get(foldWord(word)) ?? word);
}

/** The words that were typed, and those that they were taken for. */
export function joinCorrections(
  corrections: readonly SearchCorrection[],
): readonly [typed: string, searched: string] {
  return [corrections.map(([word]) => word).join(' '),
    corrections.map(([, replacement]) => replacement).join(' ')];
}

/** Nearly as the server folds words. A word that is folded otherwise stays as it was typed. */
function foldWord(word: string): string {
  return word.normalize('NFKD').replace(MARKS, '').toLowerCase().normalize('NFC');
}
