/**
 * Names of persons in one text with commas between them, where a comma may also stand within a
 * name: before what follows it, such as `Jr.`, or the form of a company.
 */
import { foldBlanks } from '../../../base/text/fold-blanks.ts';
import { isNameSuffix } from './person-name.ts';

/** A text that follows a name behind a comma alone, and is no name itself. */
const LISTED_SUFFIX = new RegExp('^(?:'
  + 'jnr|snr|2nd|3rd|4th'
  + '|ph\\.?\\s?d|m\\.?\\s?d|d\\.?\\s?d|d\\.?\\s?d\\.?\\s?s|d\\.?\\s?v\\.?\\s?m|j\\.?\\s?d'
  + '|ed\\.?\\s?d|psy\\.?\\s?d|m\\.?\\s?a|m\\.?\\s?s|m\\.?\\s?b\\.?\\s?a|r\\.?\\s?n|r\\.?\\s?d'
  + '|l\\.?\\s?c\\.?\\s?s\\.?\\s?w|c\\.?\\s?p\\.?\\s?a|o\\.?\\s?b\\.?\\s?e|s\\.?\\s?j|o\\.?\\s?p'
  + '|o\\.?\\s?s\\.?\\s?b|inc|ltd|llc|l\\.?l\\.?c|co|corp|gmbh'
  + ')\\.?$', 'i');

/** The names of a text, in order. */
export function splitNames(text: string): readonly string[] {
  const names: string[] = [];
  for (const piece of text.split(',').map(foldBlanks)) {
    const previous = names.at(-1);
    if (piece === '') continue;
    if (previous !== undefined && isSuffix(piece)) {
      names[names.length - 1] = `${previous}, ${piece}`;
    } else {
      names.push(piece);
    }
  }
  return names;
}

function isSuffix(piece: string): boolean {
  return isNameSuffix(piece) || LISTED_SUFFIX.test(piece);
}

const AUTHOR_ROLE = /^(?:co-?)?(?:author|writer)$/i;

/** Whether the role is one of those whose names are a book's authors. */
export function isAuthorRole(role: string): boolean {
  return AUTHOR_ROLE.test(role);
}
