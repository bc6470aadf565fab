/**
 * International Standard Book Numbers (ISO 2108): ISBN-10 and ISBN-13, stored as 13 digits.
 * Pure; search uses it too, so that either form finds a book.
 */
import { quote } from '../base/text/error-message.ts';

/** Dashes, white space, and the invisible signs that come with a text that is pasted. */
const SEPARATORS = /[\p{Pd}\u2212\s\p{Cf}\p{Default_Ignorable_Code_Point}]/gu;
// Enough for a separator after each digit, with room to spare.
const LENGTH_MAX = 100;
const ISBN_10 = /^[0-9]{9}[0-9Xx]$/;
const ISBN_13 = /^97[89][0-9]{10}$/;

/**
 * The 13 digits of an ISBN-10 or ISBN-13 with any hyphens and spaces, or null when it is neither,
 * or when its check digit is wrong.
 */
export function parseIsbn(text: string): string | null {
  if (text.length > LENGTH_MAX) return null;
  const compact = removeSeparators(text);
  if (ISBN_13.test(compact)) {
    const isValid = isInBookland(compact) && compact[12] === checkDigit13(compact);
    return isValid ? compact : null;
  }
  if (!ISBN_10.test(compact) || compact[9]?.toUpperCase() !== checkDigit10(compact)) return null;
  const digits = `978${compact.slice(0, 9)}`;
  return digits + checkDigit13(digits);
}

/** Why `parseIsbn` gives null for `text`, as a sentence fragment. */
export function explainIsbn(text: string): string {
  const quotedText = quote(text);
  if (text.length > LENGTH_MAX) {
    return `must be an ISBN of at most ${LENGTH_MAX} characters, not ${quotedText}`;
  }
  const compact = removeSeparators(text);
  if (ISBN_13.test(compact)) {
    if (!isInBookland(compact)) {
      return `must be an ISBN, not ${quotedText}: 979-0 is for printed music (ISMN)`;
    }
    return explainCheckDigit(quotedText, compact[12], checkDigit13(compact));
  }
  if (ISBN_10.test(compact)) {
    return explainCheckDigit(quotedText, compact[9], checkDigit10(compact));
  }
  if (/^[0-9]{13}$/.test(compact)) {
    return `must be an ISBN-13 that begins with 978 or 979, not ${quotedText}`;
  }
  if (/^[0-9Xx]*$/.test(compact)) {
    // All other mistakes are told by now: an X in a wrong place is left.
    if (compact.length === 10 || compact.length === 13) {
      return `must be an ISBN, not ${quotedText}: only the tenth character of an ISBN-10 may be `
        + 'an X';
    }
    return `must be an ISBN of 10 or 13 digits; ${quotedText} has ${compact.length}`;
  }
  return `must be an ISBN-10 or ISBN-13 of digits, hyphens and spaces, not ${quotedText}`;
}

/** The last digit of an ISBN-13 (or EAN) that begins with these 12. */
function checkDigit13(digits: string): string {
  let sum = 0;
  for (let index = 0; index < 12; index += 1) {
    sum += digitAt(digits, index) * (index % 2 === 0 ? 1 : 3);
  }
  return String((10 - sum % 10) % 10);
}

/** The last character of an ISBN-10 that begins with these 9 digits; `X` stands for ten. */
function checkDigit10(digits: string): string {
  let sum = 0;
  for (let index = 0; index < 9; index += 1) sum += digitAt(digits, index) * (10 - index);
  const check = (11 - sum % 11) % 11;
  return check === 10 ? 'X' : String(check);
}

function removeSeparators(text: string): string {
  return ISBN_13.test(text) ? text : text.replace(SEPARATORS, '');
}

/** Whether 13 digits that begin with 978 or 979 are a book's: 979-0 is for printed music. */
function isInBookland(digits: string): boolean {
  return !digits.startsWith('9790');
}

function digitAt(digits: string, index: number): number {
  return digits.charCodeAt(index) - 48;
}

function explainCheckDigit(
  quotedText: string, actualDigit: string | undefined, correctDigit: string,
): string {
  return `must be an ISBN, not ${quotedText}: its check digit is ${actualDigit}, `
    + `but the other digits give ${correctDigit}`;
}
