/**
 * Names in BibTeX's `author`: `First von Last`, `von Last, First`, `von Last, Jr, First`, and
 * BibLaTeX's `family=Last, given=First`; `{…}` around all of it is the name of an organisation.
 * Names are joined by ` and ` outside of braces, in some files by semicolons; `and others` says
 * that there are more.
 */
import type { JsonObject, JsonValue } from '../../../base/schema.ts';
import type { Author } from '../../book.ts';
import { decodeLatex, encodeLatex, findGroupEnd, foldLatexBlanks } from '../grammars/latex.ts';
import { LIST_LENGTH_MAX } from '../mapping/field-text.ts';
import { part, whole } from '../mapping/format-table.ts';
import type { RowValue } from '../mapping/format-table.ts';
import { createAuthor, isNameList, splitAuthor, splitName } from '../mapping/person-name.ts';

export function readNames(latex: string): RowValue | undefined {
  const authors: JsonObject[] = [];
  const andNames = splitOutsideBraces(latex, /[ \t\r\n]and(?=[ \t\r\n])/, LIST_LENGTH_MAX)
    .filter((name) => name.trim() !== '');
  const names = andNames.flatMap((name) => splitOutsideBraces(name, /;/))
    .map((name) => name.trim()).filter((name) => name !== '');
  let isWhole = names.length === andNames.length && names.length <= LIST_LENGTH_MAX;
  for (const name of names.slice(0, LIST_LENGTH_MAX)) {
    const author = name.toLowerCase() === 'others' ? null : readName(name);
    if (author !== null) authors.push(author);
    if (author === null || decodeLatex(name).hasMarkup || !isWrittenAgain(author, name)) {
      isWhole = false;
    }
  }
  if (authors.length === 0) return undefined;
  return isWhole ? whole(authors) : part(authors);
}

/** Whether the name comes out again as it stood, or is one whose form says nothing more. */
function isWrittenAgain(author: JsonObject, name: string): boolean {
  if (!isWrapped(name)) return !isNameList(String(author['name']));
  return writeName(author as unknown as Author) === foldLatexBlanks(name);
}

export function writeNames(authors: readonly Author[]): string {
  return authors.map(writeName).filter((name) => name !== '').join(' and ');
}

/** `von Last, Jr, First`; where reading that would give another name, in braces. */
function writeName(author: Author): string {
  // `Smith and Sons` are no person.
  if (author.familyName === undefined && JOINT.test(author.name)) return encodePiece(author.name);
  const { given, family, droppingParticle, suffix } = splitAuthor(author);
  // `John Jr.` in two pieces would be a family and a given name.
  if (suffix !== '' && given === '') return `{${encodeLatex(author.name)}}`;
  const last = [droppingParticle, family].filter((text) => text !== '').join(' ');
  const pieces = (suffix === '' ? [last, given] : [last, suffix, given]).map(encodePiece);
  if (pieces.at(-1) === '') pieces.pop();
  const [only = ''] = pieces;
  if (only === '') return encodePiece(author.name);
  if (pieces.length > 1) return pieces.join(', ');
  const isOneWord = !/\s/.test(only) && only.toLowerCase() !== 'others';
  return isOneWord || isWrapped(only) ? only : `{${only}}`;
}

/** A sign or a word that would stand between two names. */
const JOINT = /;|(?:^|\s)and(?:$|\s)/i;

/** In braces where a comma, a semicolon, an `and` or a `=` would be read as one of the list's. */
function encodePiece(text: string): string {
  const latex = encodeLatex(text);
  return /[,=]/.test(latex) || JOINT.test(latex) ? `{${latex}}` : latex;
}

/** Whether one pair of braces is around all of it. */
function isWrapped(latex: string): boolean {
  return findGroupEnd(latex, 0) === latex.length;
}

/** Null where nothing is left of it. */
function readName(name: string): JsonObject | null {
  const author = isWrapped(name) ? { name: decodeLatex(name).text } : readPerson(name);
  return author.name === '' ? null : author;
}

function readPerson(name: string): JsonObject & { readonly name: JsonValue } {
  const pieces = splitOutsideBraces(name, /,/);
  const namedParts = readNamedParts(pieces);
  if (namedParts !== null) return finishPerson(namedParts, name);
  const texts = pieces.map((piece) => decodeLatex(piece).text);
  if (texts.length > 3 && isNameList(texts.join(','))) return { name: decodeLatex(name).text };
  const [family = '', second = '', ...others] = texts;
  if (texts.length === 1) return finishPerson(splitFirstAndLast(name), name);
  if (others.length === 0) return finishPerson({ family, given: second }, name);
  return finishPerson({ family, suffix: second, given: others.join(', ') }, name);
}

type PersonParts = { readonly given?: string; readonly family: string; readonly suffix?: string };

function finishPerson(
  { given = '', family, suffix = '' }: PersonParts, latex: string,
): JsonObject & { readonly name: JsonValue } {
  const author = createAuthor({ given, family, suffix, droppingParticle: '' });
  return { ...author, name: author['name'] || decodeLatex(latex).text };
}

/** `First von Last`: the family begins with the first word in lower case, else it is the last. */
function splitFirstAndLast(name: string): PersonParts {
  const words = splitOutsideBraces(name, /[ ~\t\r\n]/).filter((word) => word !== '');
  const texts = words.map((word) => decodeLatex(word).text);
  const text = texts.join(' ');
  // `Jr.` may have no comma, and the family may come first.
  const { suffix, family: displayed } = splitName(text);
  if (words.length === 2 && displayed === texts[0]) {
    return { family: displayed, given: texts[1] ?? '' };
  }
  if (suffix !== '' && words.length > 2) texts.pop();
  const last = texts.length - 1;
  const particle = words.findIndex((word, index) => index < last && isLowerCase(word));
  const start = particle < 0 ? last : particle;
  return {
    given: texts.slice(0, start).join(' '), family: texts.slice(start).join(' '),
    suffix: suffix !== '' && words.length > 2 ? suffix : '',
  };
}

// A word in braces has no case, unless it is a letter with its accent.
function isLowerCase(word: string): boolean {
  const hasCase = !word.startsWith('{') || word.startsWith('{\\');
  return hasCase && /^\p{Ll}/u.test(decodeLatex(word).text);
}

const NAMED_PART = /^\s*(family|given|prefix|suffix|useprefix|(family|given|prefix|suffix)-i)\s*=/i;

/** The parts of BibLaTeX's extended name format, or null. */
function readNamedParts(pieces: readonly string[]): PersonParts | null {
  const parts = new Map<string, string>();
  for (const piece of pieces) {
    const name = NAMED_PART.exec(piece)?.[1]?.toLowerCase();
    if (name === undefined) return null;
    parts.set(name, decodeLatex(piece.slice(piece.indexOf('=') + 1)).text);
  }
  const family = [parts.get('prefix'), parts.get('family')]
    .filter((text) => text !== undefined && text !== '').join(' ');
  return { family, given: parts.get('given') ?? '', suffix: parts.get('suffix') ?? '' };
}

/** The texts between separators outside of braces; after so many separators the rest is one. */
export function splitOutsideBraces(
  latex: string, separator: RegExp, cutsMax: number = Infinity,
): readonly string[] {
  const pieces: string[] = [];
  let depth = 0;
  let start = 0;
  const tokens = new RegExp(`[{}]|${separator.source}`, 'gi');
  for (const { 0: token, index } of latex.matchAll(tokens)) {
    if (token === '{') depth += 1;
    else if (token === '}') depth -= 1;
    if (token === '{' || token === '}' || depth > 0) continue;
    pieces.push(latex.slice(start, index));
    start = index + token.length;
    if (pieces.length === cutsMax) break;
  }
  pieces.push(latex.slice(start));
  return pieces;
}
