/**
 * Text reduced to what people mean when they search and sort: no case, no accents, no variants of
 * presentation. Pure, and the same everywhere: neither the locale nor the platform counts.
 */

// Marks that are accents. The vowel signs of Indic scripts and the voicing marks of kana are marks
// too (category M), but without them a word is another word.
const ACCENTS = new RegExp('['
  + '\\u0300-\\u036f\\u0483-\\u0489' // Latin, Greek, Cyrillic
  + '\\u0591-\\u05bd\\u05bf\\u05c1\\u05c2\\u05c4\\u05c5\\u05c7' // Hebrew points
  + '\\u0610-\\u061a\\u0640\\u064b-\\u065f\\u0670\\u06d6-\\u06dc\\u06df-\\u06e8\\u06ea-\\u06ed'
  + '\\u0711\\u0730-\\u074a' // Arabic (with its tatweel), Syriac
  + '\\u00ad\\u200b-\\u200f\\u2060\\ufeff' // invisible: soft hyphens, joiners, directions
  + '\\u1ab0-\\u1aff\\u1dc0-\\u1dff\\u20d0-\\u20ff\\ufe00-\\ufe0f\\ufe20-\\ufe2f'
  + ']', 'g');

// Letters that Unicode does not take apart, as dictionaries of their languages sort or write them.
const LETTERS: Readonly<Record<string, string>> = {
  ß: 'ss', ı: 'i', ø: 'o', æ: 'ae', œ: 'oe', ł: 'l', đ: 'd', ð: 'd', þ: 'th', ħ: 'h', ŧ: 't',
  ŋ: 'ng', ĸ: 'k', ς: 'σ', ɨ: 'i', ʉ: 'u', ɓ: 'b', ɗ: 'd', ƙ: 'k', ƴ: 'y', ə: 'e',
};
const LETTER = new RegExp(`[${Object.keys(LETTERS).join('')}]`, 'g');

/** Matches a text of ASCII alone. */
export const ASCII = /^[\x00-\x7f]*$/;

/** `text` without case and accents: `Łódź` is `lodz`, `Straße` is `strasse`, `ﬁ` is `fi`. */
export function fold(text: string): string {
  if (ASCII.test(text)) return text.toLowerCase();
  return text.normalize('NFKD').replace(ACCENTS, '').toLowerCase()
    .replace(LETTER, (letter) => LETTERS[letter] ?? letter).normalize('NFC');
}

/** `text` without case alone: `Poésie` and `POÉSIE` are one, `Poesie` is another. */
export function foldCase(text: string): string {
  if (ASCII.test(text)) return text.toUpperCase();
  // Upper case by way of lower case: some signs (K for Kelvin, ẞ) only go one way.
  return text.normalize('NFC').toLowerCase().toUpperCase().normalize('NFC');
}

/**
 * The UTF-8 bytes of `text` as a string of one character a byte. Such strings compare in code point
 * order and take half the memory; those of plain ASCII are themselves.
 */
export function encodeByteString(text: string): string {
  return ASCII.test(text) ? text : Buffer.from(text, 'utf8').toString('latin1');
}

/** The inverse of `encodeByteString`. */
export function decodeByteString(bytes: string): string {
  return ASCII.test(bytes) ? bytes : Buffer.from(bytes, 'latin1').toString();
}
