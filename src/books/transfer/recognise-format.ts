/**
 * Which format a file has: the one that is named; else the one whose ending or media type no other
 * has; else one of a family, by the first 64 KiB of the text (`format-signatures.ts`). A file whose
 * names are all our own is ours. Else each format has a score:
 *
 * - A telling name, which no other format of the family has in any case, counts once, or
 *   `nameScore` times. A name that begins with the format's `namePrefix` is one of its names.
 * - That the format has all names of the file counts twice.
 * - A file without the format's `requiredName` is not of the format: 0.
 * - In a family whose layout is `text` there are no names: a format whose `beginning` the text has
 *   scores two, any other 0.
 *
 * The best score wins where it is two at least, and twice that of any other format; where others
 * come closer the file is refused. Below two the family's own format reads the file, which says
 * what is wrong with it.
 *
 * A file whose format is named is refused where it has no telling name of that format, and the
 * telling names of one other program count two at least.
 */
import { AppError } from '../../base/errors.ts';
import { CsvRowSplitter } from './csv-rows.ts';
import { FORMATS, findFormatTitle } from './format-list.ts';
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

const SCORE_MIN = 2;
/** So many times the score of any other format the best one has. */
const MARGIN = 2;

/**
 * The format that is named, or that of a file of the family. `head` is the first HEAD_BYTES of the
 * file as UTF-8, or all of it. Throws `invalid` for a file that could be of several formats, and
 * for a file of another format than the named one.
 */
export function resolveFormat(choice: FormatChoice, head: Buffer): FormatName {
  if (typeof choice === 'object') return recogniseFormat(choice, head);
  for (const family of FAMILIES) assertNoOther(family, choice, head);
  return choice;
}

function assertNoOther(family: Family, format: FormatName, head: Buffer): void {
  const { layout, signatures } = family;
  const index = signatures.findIndex((signature) => signature.format === format);
  // The first is our own format, which takes tables with the names of any program.
  if (layout === 'text' || index <= 0) return;
  const scores = scoreFormats(family, head.toString('utf8', 0, HEAD_BYTES));
  if (scores[index]?.telling !== 0) return;
  const [other, ...others] = signatures.slice(1)
    .filter((_, otherIndex) => (scores[otherIndex + 1]?.telling ?? 0) >= SCORE_MIN);
  if (other === undefined || others.length > 0) return;
  const names = layout === 'columns' ? 'column' : 'member';
  throw new AppError('invalid', `the file is ${findFormatTitle(other.format)}: it has no ${names} `
    + `that only ${findFormatTitle(format)} has; name the format \`${other.format}\`, or none`);
}

/**
 * The format of a file of the family. `head` is its first HEAD_BYTES as UTF-8, or all of it. Throws
 * `invalid` for a file that could be of several formats.
 */
export function recogniseFormat(family: Family, head: Buffer): FormatName {
  const { signatures } = family;
  const scores = scoreFormats(family, head.toString('utf8', 0, HEAD_BYTES));
  const best = Math.max(...scores.map(({ total }) => total));
  const [fallback] = signatures;
  if (best < SCORE_MIN) return fallback.format;
  const formats = signatures.filter((_, index) => (scores[index]?.total ?? 0) * MARGIN > best)
    .map(({ format }) => format);
  const [format = fallback.format, ...others] = formats;
  if (others.length === 0) return format;
  throw new AppError('invalid', `the file could be ${formats.map(findFormatTitle).join(' or ')}: `
    + `name its format, ${formats.join(' or ')}`);
}

type Score = {
  /** For the telling names alone. */
  readonly telling: number;
  readonly total: number;
};

const NO_SCORE: Score = { telling: 0, total: 0 };

/** The scores of a family's formats, in their order. */
function scoreFormats({ layout, signatures }: Family, text: string): readonly Score[] {
  if (layout === 'text') {
    return signatures.map(({ beginning }) =>
      ({ telling: 0, total: beginning?.test(text) === true ? SCORE_MIN : 0 }));
  }
  const names = layout === 'columns' ? readColumns(text) : readMembers(text);
  const lowerNames = new Map(signatures.map((signature) =>
    [signature, new Set(signature.names?.map((name) => name.toLowerCase()))] as const));
  const holdersOfNames = names.map((name) => signatures.filter((signature) =>
    lowerNames.get(signature)?.has(name.toLowerCase()) === true || isNameOf(signature, name)));
  return signatures.map((signature, index) => {
    const hasAllNames = holdersOfNames.every((holders) => holders.includes(signature));
    if (index === 0 && hasAllNames) return { telling: 0, total: Infinity };
    const { requiredName, nameScore = 1 } = signature;
    if (requiredName !== undefined && !names.includes(requiredName)) return NO_SCORE;
    const tellingNames = names.filter((name, nameIndex) => {
      const [holder, ...others] = holdersOfNames[nameIndex] ?? [];
      return holder === signature && others.length === 0 && isNameOf(signature, name);
    });
    const telling = tellingNames.length * nameScore;
    return { telling, total: telling + (hasAllNames ? 2 : 0) };
  });
}

/** Whether the format has the name, spelt so. */
function isNameOf({ names = [], namePrefix }: FormatSignature, name: string): boolean {
  return names.includes(name) || (namePrefix !== undefined && name.startsWith(namePrefix));
}

/** The cells of the first row with text, each once, as a reader would take them. */
function readColumns(text: string): readonly string[] {
  const splitter = new CsvRowSplitter();
  for (const { cells } of [...splitter.push(Buffer.from(text)), ...splitter.end()]) {
    const columns = cells.map((cell) => cell.text.trim()).filter((column) => column !== '');
    if (columns.length > 0) return [...new Set(columns)];
  }
  return [];
}

// A text, which may be cut, and whether it is the name of a member; else a bracket.
const JSON_TOKEN = /"([^"\\]*(?:\\(?:.|$)[^"\\]*)*)(?:"|$)(\s{0,20}:)?|[[\]{}]/gs;

/**
 * The names of the members of all records, in a text that may be cut anywhere: of the outermost
 * objects, and where these are named by numbers, of the objects within.
 */
function readMembers(text: string): readonly string[] {
  const outer = new Set<string>();
  const inner = new Set<string>();
  const openBrackets: string[] = [];
  let depth = 0;
  for (const [token, name = '', colon] of text.matchAll(JSON_TOKEN)) {
    if (token === '{' || token === '[') {
      openBrackets.push(token);
      if (token === '{') depth += 1;
    } else if (token === '}' || token === ']') {
      if (openBrackets.pop() === '{') depth -= 1;
    } else if (colon !== undefined && openBrackets.at(-1) === '{') {
      if (depth === 1) outer.add(name);
      else if (depth === 2) inner.add(name);
    }
  }
  const isById = outer.size > 0 && [...outer].every((name) => /^\d+$/.test(name));
  return [...isById ? inner : outer];
}
