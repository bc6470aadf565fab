/**
 * Names of persons: the one reader of them for all formats. It goes between an author of the model
 * (`name` as it is displayed, `givenName`, `familyName`) and the texts and parts that other formats
 * have. Where an author has no `familyName`, the last word and the particles before it are the
 * family: `Ursula K.` `Le Guin`. Chinese, Japanese and Korean names begin with the family and are
 * displayed without a blank.
 */
import { foldBlanks } from '../../../base/text/fold-blanks.ts';
import type { Author } from '../../book.ts';
import { LIST_LENGTH_MAX, splitPieces } from './field-text.ts';

/** The parts of a name; those that it does not have are empty. */
type PersonNameParts = {
  readonly given: string;
  /** With the particles that are always said with it: `van Gogh`. */
  readonly family: string;
  /** The particles that go when the family is named alone: the `van` of `Beethoven`. */
  readonly droppingParticle: string;
  /** A suffix such as `Jr.` or `III`. */
  readonly suffix: string;
};

/** Words before a family that belong to it, with a capital or without. */
const PARTICLES: ReadonlySet<string> = new Set([
  'bin', 'da', 'das', 'de', 'degli', 'dei', 'del', 'della', 'dello', 'den', 'der', 'des', 'di',
  'dos', 'du', 'el', 'ibn', 'la', 'las', 'le', 'les', 'los', 'ten', 'ter', 'van', 'vom', 'von',
  'zu', 'zum', 'zur', "'t", '’t',
]);
/** Particles in lower case alone: `Al` is a given name. */
const LOWER_CASE_PARTICLES: ReadonlySet<string> =
  new Set(['aan', 'af', 'al', 'auf', 'av', 'do', 'het', 'lo', 'op']);
/** A particle at the end of a given name that is always of the family: `Guin, Ursula K. Le`. */
const CAPITAL_PARTICLE = /^(?:De|Del|Della|Di|Du|La|Le|Van|Von)$/;
/** Words that join particles, as in `von und zu` and `in 't`. */
const JOINING_WORDS: ReadonlySet<string> = new Set(['in', 'und']);

const SUFFIX = /^(jr|sr|junior|senior|ph\.?d|m\.?d|esq)\.?$/i;
/** In capitals alone: `Vi` is a name. */
const NUMERAL = /^(II|III|IV|VI{1,3})\.?$/;
/** A text that follows a name behind a comma alone, and is no name itself. */
const LISTED_SUFFIX = new RegExp('^(?:'
  + 'jnr|snr|2nd|3rd|4th'
  + '|ph\\.?\\s?d|m\\.?\\s?d|d\\.?\\s?d|d\\.?\\s?d\\.?\\s?s|d\\.?\\s?v\\.?\\s?m|j\\.?\\s?d'
  + '|ed\\.?\\s?d|psy\\.?\\s?d|m\\.?\\s?a|m\\.?\\s?s|m\\.?\\s?b\\.?\\s?a|r\\.?\\s?n|r\\.?\\s?d'
  + '|l\\.?\\s?c\\.?\\s?s\\.?\\s?w|c\\.?\\s?p\\.?\\s?a|o\\.?\\s?b\\.?\\s?e|s\\.?\\s?j|o\\.?\\s?p'
  + '|o\\.?\\s?s\\.?\\s?b|inc|ltd|llc|l\\.?l\\.?c|co|corp|gmbh'
  + ')\\.?$', 'i');
/** The last word of a company's name, whose words are no given name and family. */
const COMPANY_FORM = /^(?:inc\.?|ltd\.?|llc|corp\.|co\.|gmbh)$/i;
const EAST_ASIAN =
  /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}ー・·々]+$/u;

/** The parts of an author's name. */
export function splitAuthor(author: Author): PersonNameParts {
  const { name, givenName = '', familyName = '' } = author;
  if (familyName.trim() === '') return splitUnfamiliar(name, givenName.trim());
  const { words, suffix } = splitSuffix(name, familyName);
  const text = words.join(' ');
  const before = text.endsWith(familyName) ? text.slice(0, -familyName.length).trim() : '';
  if (givenName.trim() === '') {
    return { given: before, family: familyName, droppingParticle: '', suffix };
  }
  const between = before.startsWith(givenName) ? before.slice(givenName.length).trim() : '';
  const particles = between.split(' ');
  const isDropping = particles.every((_, index) => isParticle(particles, index));
  return { given: givenName, family: familyName, suffix,
    droppingParticle: isDropping ? between : '' };
}

/** The parts of a name of which at most the given name is known. */
function splitUnfamiliar(name: string, givenName: string): PersonNameParts {
  const parts = splitName(name);
  if (givenName === '') return parts;
  const { words, suffix } = splitSuffix(name);
  const text = words.join(' ');
  if (!text.startsWith(givenName)) return { ...parts, given: givenName };
  const family = text.slice(givenName.length).trim();
  return { given: givenName, family, droppingParticle: '', suffix };
}

/** The parts of a displayed name, such as `Ursula K. Le Guin`, or of `Le Guin, Ursula K.`. */
export function splitName(name: string): PersonNameParts {
  const { words, suffix } = splitSuffix(name);
  if (isCompanyName(name) || isNameList(name)) {
    return { given: '', family: words.join(' '), droppingParticle: '', suffix: '' };
  }
  if (words.slice(0, -1).some((word) => word.endsWith(','))) {
    return { ...splitInvertedName(words.join(' ')), suffix };
  }
  const [first = '', second = ''] = words;
  if (words.length === 2 && EAST_ASIAN.test(first) && EAST_ASIAN.test(second)) {
    return { given: second, family: first, droppingParticle: '', suffix };
  }
  // One word at least is the family. A first word with a capital is a given name: `Van Morrison`.
  let start = Math.max(words.length - 1, 0);
  while (start > 1 && isParticle(words, start - 1)) start -= 1;
  if (start === 1 && first === first.toLowerCase() && isParticle(words, 0)) start = 0;
  const family = words.slice(start).join(' ');
  return { given: words.slice(0, start).join(' '), family, droppingParticle: '', suffix };
}

/** The parts of `Family, Given` or `Family, Given, Suffix`; a name without a comma is a family. */
export function splitInvertedName(text: string): PersonNameParts {
  const [family = '', given = '', ...others] = splitPieces(text, ',').map((piece) => piece.trim());
  // Some programs write the suffix second: `King, Jr., Martin Luther`.
  const [third = ''] = others;
  const isSuffixSecond = isNameSuffix(given) && third !== '' && !isNameSuffix(third);
  if (isSuffixSecond) {
    return { given: others.join(', '), family, droppingParticle: '', suffix: given };
  }
  return { given, family, droppingParticle: '', suffix: others.join(', ') };
}

/**
 * The authors of a text: a semicolon stands between names, of which each with a comma begins with
 * the family. A name with more commas than names have may be a list, and stays as it is.
 */
export function readAuthorNames(text: string): readonly Author[] {
  return splitPieces(text, ';').map((name) => name.trim()).filter((name) => name !== '')
    .map((name) => name.includes(',') && !isCompanyName(name) && !isNameList(name)
      ? createAuthor(splitInvertedName(name)) : { name });
}

/** The names of a text with semicolons, else with commas between them, in order. */
export function splitNames(text: string): readonly string[] {
  const names: string[] = [];
  for (const piece of splitPieces(text, text.includes(';') ? ';' : ',').map(foldBlanks)) {
    const previous = names.at(-1);
    if (piece === '') continue;
    if (previous !== undefined && isFollowing(piece)) {
      names[names.length - 1] = `${previous}, ${piece}`;
    } else {
      names.push(piece);
    }
  }
  return names;
}

// `y` stands within Spanish names: `Ramón y Cajal`.
const JOINED_NAMES = / (?:\/|&|and|und|et) /;
const FULL_NAME_WORDS_MAX = 6;

/**
 * The names of a text that joins them as a sentence does, `Karl Marx & Friedrich Engels`; the text
 * alone where they are not all a given name and a family, as in `Simon & Schuster`. Names beyond
 * LIST_LENGTH_MAX are not read.
 */
export function splitJoinedNames(text: string): readonly string[] {
  if (!JOINED_NAMES.test(text)) return [text];
  const names = text.split(JOINED_NAMES, LIST_LENGTH_MAX);
  return names.every(isFullName) ? names : [text];
}

function isFullName(text: string): boolean {
  if (EAST_ASIAN.test(text)) return text.length > 1;
  const words = text.split(/[\s,]+/);
  const isCapital = (word: string | undefined): boolean => /^\p{Lu}/u.test(word ?? '');
  return words.length > 1 && words.length <= FULL_NAME_WORDS_MAX && isCapital(words[0])
    && isCapital(words.at(-1)) && !isCompanyName(text)
    && words.every((word, index) => isCapital(word) || isParticle(words, index));
}

/** Whether a text has more commas than the name of one person, `Family, Given, Suffix`. */
export function isNameList(text: string): boolean {
  const pieces = text.split(',', PIECES_MAX).map(foldBlanks);
  return pieces.filter((piece) => piece !== '' && !isFollowing(piece)).length > 3;
}

/** More than a name with all its suffixes has. */
const PIECES_MAX = 16;

function isFollowing(piece: string): boolean {
  return isNameSuffix(piece) || LISTED_SUFFIX.test(piece);
}

const AUTHOR_ROLE = /^(?:co-?)?(?:author|writer)$/i;

/** Whether the role is one of those whose names are a book's authors. */
export function isAuthorRole(role: string): boolean {
  return AUTHOR_ROLE.test(role);
}

/** Whether the word is what follows a name, such as `Jr.` or `III`. */
function isNameSuffix(word: string): boolean {
  return SUFFIX.test(word) || NUMERAL.test(word);
}

/** Whether the name is that of a company by its last word, such as `Little, Brown & Co.` */
function isCompanyName(name: string): boolean {
  const words = name.trim().split(/\s+/);
  return words.length > 1 && COMPANY_FORM.test(words.at(-1) ?? '');
}

/** An author with all that the parts say. */
export function createAuthor(parts: PersonNameParts): Author {
  const { given, family, droppingParticle, suffix } = parts;
  const isEastAsian = EAST_ASIAN.test(given) && EAST_ASIAN.test(family);
  const names = isEastAsian ? [family + given] : [given, droppingParticle, family];
  const name = [...names, suffix].filter((text) => text !== '').join(' ');
  if (given === '') return family === '' ? { name } : { name, familyName: family };
  if (family === '') return { name, givenName: given };
  return { name, givenName: given, familyName: family };
}

/**
 * The author of a displayed and an inverted name, of which one may be missing. The parts of the
 * inverted name count where both say the same.
 */
export function createNamedAuthor(displayedName: string, invertedName: string): Author {
  const plainName = foldBlanks(displayedName);
  const sortName = foldBlanks(invertedName);
  const parts = splitInvertedName(sortName);
  // Goodreads takes the last word for the family, also where it is `Jr.`, or `Guin` of `Le Guin`.
  const isMisled = plainName !== '' && (isNameSuffix(parts.family)
    || CAPITAL_PARTICLE.test(parts.given.split(' ').at(-1) ?? ''));
  const author = createAuthor(isMisled ? splitName(plainName) : parts);
  const isSameName = plainName === '' || author.name === plainName;
  return sortName.includes(',') && isSameName ? author : { name: plainName || sortName };
}

/** The last words are no suffix where the family has them already, as in `King Jr.` */
function splitSuffix(
  name: string, familyName = '',
): { readonly words: string[]; readonly suffix: string } {
  const words = name.split(/\s+/).filter((word) => word !== '');
  const last = words.at(-1) ?? '';
  const isOfFamily = familyName.split(/\s+/).at(-1) === last;
  if (words.length < 2 || !isNameSuffix(last) || isOfFamily) return { words, suffix: '' };
  const others = words.slice(0, -1);
  const family = others.pop() ?? '';
  return { words: [...others, family.replace(/,$/, '')], suffix: last };
}

function isParticle(words: readonly string[], index: number): boolean {
  const word = words[index] ?? '';
  if (JOINING_WORDS.has(word)) return PARTICLES.has(words[index + 1]?.toLowerCase() ?? '');
  return PARTICLES.has(word.toLowerCase()) || LOWER_CASE_PARTICLES.has(word);
}
