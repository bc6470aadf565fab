/**
 * Which format a file has: the one that is named; else the one whose ending or media type no other
 * has; else one of a family, by the first 64 KiB of the text (`format-signatures.ts`):
 *
 * - A file whose names are all our own is ours.
 * - Else a format is possible that has a telling name in the file, and a second one or all names of
 *   the file, unless one is enough for it. Where none has a telling name, each is possible that has
 *   all names of the file.
 * - Of one possible format it is that. Several are refused. Where none is possible the family's own
 *   format reads the file, which says what is wrong with it.
 */
import { AppError } from '../../base/errors.ts';
import { CSV_SEPARATORS, parseSeparatorLine } from './csv-separator.ts';
import { FORMATS } from './format-list.ts';
import type { FormatName } from './format-list.ts';
import { FAMILIES } from './format-signatures.ts';
import type { Family, FormatSignature } from './format-signatures.ts';

/** How much of a file's text is looked at. */
export const HEAD_BYTES = 64 * 1024;

/** A format, or formats of which the text of the file decides. */
export type FormatChoice = FormatName | Family;

/** The format of that name, or null; an ending without its dot is a name too. */
export function findFormatByName(name: string): FormatName | null {
  const lower = name.toLowerCase();
  const format = FORMATS.find((one) => one.name === lower)
    ?? FORMATS.find(({ endings }) => endings.some((ending) => ending === `.${lower}`));
  return format?.name ?? null;
}

/** The format or family that the ending of a file's name says, or null. */
export function findFormatByEnding(path: string): FormatChoice | null {
  const lower = path.toLowerCase();
  const hasEnding = (ending: string): boolean => lower.endsWith(ending);
  const sharedEndings = FAMILIES.flatMap(({ endings }) => endings);
  const format = FORMATS.find(({ endings }) =>
    endings.some((ending) => hasEnding(ending) && !sharedEndings.includes(ending)));
  return format?.name ?? FAMILIES.find(({ endings }) => endings.some(hasEnding)) ?? null;
}

/** The format or family that a media type without parameters says, or null. */
export function findFormatByMediaType(mediaType: string): FormatChoice | null {
  const family = FAMILIES.find(({ mediaTypes }) => mediaTypes.includes(mediaType));
  if (family !== undefined) return family;
  const format = FORMATS.find(({ mediaTypes }) => mediaTypes.includes(mediaType));
  return format?.name ?? null;
}

/**
 * The format of a file of the family. `head` is its first HEAD_BYTES as UTF-8, or all of it. Throws
 * `invalid` for a file that could be of several formats.
 */
export function recogniseFormat(family: Family, head: Buffer): FormatName {
  const text = head.toString('utf8', 0, HEAD_BYTES);
  const found = family.layout === 'lines'
    ? findByLines(family, text)
    : findByNames(family, readNames(family, text));
  const [format = family.otherwise] = found;
  if (found.length > 1) throw createAmbiguity(found);
  return format;
}

function readNames(family: Family, text: string): readonly string[] {
  return family.layout === 'columns' ? readColumns(family, text) : readMembers(text);
}

function createAmbiguity(formats: readonly FormatName[]): AppError {
  const titles = formats.map((name) =>
    FORMATS.find((format) => format.name === name)?.title ?? name);
  return new AppError('invalid', `the file could be ${titles.join(' or ')}: `
    + `name its format, ${formats.join(' or ')}`);
}

function findByNames({ signatures, otherwise }: Family, names: readonly string[]): FormatName[] {
  const own = signatures.find(({ format }) => format === otherwise);
  if (names.length === 0 || (own !== undefined && hasAll(own, names))) return [otherwise];
  const telling = signatures.filter((signature) => isTold(signature, signatures, names));
  if (telling.length > 0) return telling.map(({ format }) => format);
  return signatures.filter((signature) => signature !== own && hasRequired(signature, names)
    && hasAll(signature, names)).map(({ format }) => format);
}

function isTold(
  signature: FormatSignature, signatures: readonly FormatSignature[], names: readonly string[],
): boolean {
  const others = signatures.filter((other) => other !== signature);
  const tellingCount = names.filter((name) => isNameOf(signature, name)
    && !others.some((other) => hasAll(other, [name]))).length;
  if (tellingCount === 0 || !hasRequired(signature, names)) return false;
  return tellingCount > 1 || signature.isToldByOne === true || hasAll(signature, names);
}

function hasRequired({ requiredName }: FormatSignature, names: readonly string[]): boolean {
  return requiredName === undefined || names.includes(requiredName);
}

function isNameOf({ names, namePrefix }: FormatSignature, name: string): boolean {
  return names.includes(name) || (namePrefix !== undefined && name.startsWith(namePrefix));
}

/** Whether the format has all names, whatever their case. */
function hasAll(signature: FormatSignature, names: readonly string[]): boolean {
  const lowerNames = findLowerNames(signature);
  return names.every((name) => lowerNames.has(name.toLowerCase()) || isNameOf(signature, name));
}

// Made once: each column of a header is looked for in each format.
const lowerNamesBySignature = new Map<FormatSignature, ReadonlySet<string>>();

function findLowerNames(signature: FormatSignature): ReadonlySet<string> {
  const known = lowerNamesBySignature.get(signature);
  if (known !== undefined) return known;
  const lowerNames = new Set(signature.names.map((name) => name.toLowerCase()));
  lowerNamesBySignature.set(signature, lowerNames);
  return lowerNames;
}

function findByLines({ lineSignatures }: Family, text: string): FormatName[] {
  const lines = text.split(/\r\n|\r|\n/);
  const first = lines.find((line) => line.trim() !== '') ?? '';
  // An ISBN may stand in any text, so only the first line tells of a list of them.
  return lineSignatures.filter(({ format, line }) =>
    format === 'isbn' ? line.test(first) : lines.some((one) => line.test(one)))
    .map(({ format }) => format);
}

// Exports have about a hundred, and a hostile header 30 000: looking for those takes 50 ms.
const COLUMNS_MAX = 2000;

// More than the blanks and separators that a spreadsheet writes of a row without text.
const HAS_TEXT = /[^\s",;]/;

/**
 * The cells of the first line with text, by the separator that the line before says, else by the
 * one that gives the most known.
 */
function readColumns({ signatures }: Family, text: string): readonly string[] {
  const [first = '', second = ''] = text.split(/\r\n|\r|\n/)
    .filter((line) => HAS_TEXT.test(line));
  const statedSeparator = parseSeparatorLine(first);
  const header = statedSeparator === null ? first : second;
  const separators = statedSeparator === null ? CSV_SEPARATORS : [statedSeparator];
  const known = new Set(signatures.flatMap(({ names }) =>
    names.map((name) => name.toLowerCase())));
  let best: readonly string[] = [];
  let bestCount = -1;
  for (const separator of separators) {
    const cells = splitCells(header, separator);
    const count = cells.filter((cell) => known.has(cell.toLowerCase())).length;
    if (count > bestCount) [best, bestCount] = [cells, count];
  }
  return best;
}

/** Each cell once, without the quotes around it. A name has no quote or separator within. */
function splitCells(header: string, separator: string): readonly string[] {
  return [...new Set(header.split(separator, COLUMNS_MAX))]
    .map((cell) => cell.trim().replace(/^"|"$/g, '').trim())
    .filter((cell) => cell !== '');
}

/**
 * The names of the members of all records, in a text that may be cut anywhere: of the outermost
 * objects, and where these are named by numbers, of the objects within.
 */
function readMembers(text: string): readonly string[] {
  const outer = new Set<string>();
  const inner = new Set<string>();
  // For each container that is open: whether it is an object.
  const containers: boolean[] = [];
  let depth = 0;
  for (let offset = 0; offset < text.length; offset += 1) {
    const character = text[offset];
    if (character === '"') {
      const end = closingQuote(text, offset + 1);
      const isName = containers.at(-1) === true && /^\s*:/.test(text.slice(end + 1, end + 20));
      const name = text.slice(offset + 1, end);
      if (isName && depth === 1) outer.add(name);
      else if (isName && depth === 2) inner.add(name);
      offset = end;
    } else if (character === '{' || character === '[') {
      containers.push(character === '{');
      depth += character === '{' ? 1 : 0;
    } else if (character === '}' || character === ']') {
      depth -= containers.pop() === true ? 1 : 0;
    }
  }
  const isById = outer.size > 0 && [...outer].every((name) => /^\d+$/.test(name));
  return [...isById ? inner : outer];
}

function closingQuote(text: string, start: number): number {
  let offset = start;
  while (offset < text.length && text[offset] !== '"') offset += text[offset] === '\\' ? 2 : 1;
  return offset;
}
