/** Reads fields of BibTeX that hold more than text: dates, pages, lists. */
import type { FieldRecord, RowValue } from '../mapping/format-table.ts';
import { part, whole } from '../mapping/format-table.ts';
import { decodeLatex, encodeLatex, foldLatexBlanks } from '../grammars/latex.ts';
import { parsePageCount } from '../mapping/book-text.ts';
import { readDate } from '../mapping/date-text.ts';
import { splitOutsideBraces } from './bibtex-names.ts';

/** The text of a field as it stands, or null. A field that is there twice says its first text. */
export function findLatex(
  { fields }: FieldRecord, name: string,
): { readonly latex: string; readonly isOnly: boolean } | null {
  const value = fields.get(name);
  const first: unknown = Array.isArray(value) ? value[0] : value;
  if (typeof first !== 'string' || first.trim() === '') return null;
  return { latex: first, isOnly: first === value };
}

/** Plain text; braces that keep the case of letters say something in titles alone. */
export function readText(
  record: FieldRecord, name: string, hasCase: boolean,
): RowValue | undefined {
  const found = findLatex(record, name);
  if (found === null) return undefined;
  const { text, hasMarkup, hasGroups } = decodeLatex(found.latex);
  if (text === '') return undefined;
  const isCaseLost = hasCase && hasGroups && encodeTitle(text) !== foldLatexBlanks(found.latex);
  return found.isOnly && !hasMarkup && !isCaseLost ? whole(text) : part(text);
}

// `The left hand`: as it is, it is written small already.
const IN_SENTENCE_CASE = /^\P{Ll}[^\p{Lu}\p{Lt}]*$/u;
// `Emma: a novel`, `“a thing”`: pandoc writes such a letter large. Bounded, so that it is linear.
const RAISED_LETTER = /(?:^|[:?!.]\s{1,9})[^\p{L}\p{N}]{0,9}\p{Ll}/u;

/** Text of a title, in braces where a style or a program would change the case of its letters. */
export function encodeTitle(text: string): string {
  const latex = encodeLatex(text);
  const isAsWritten = IN_SENTENCE_CASE.test(latex) && !RAISED_LETTER.test(text);
  return latex === '' || isAsWritten ? latex : `{${latex}}`;
}

/** `date`, or `year`, `month` and `day`, which classic BibTeX has. */
export function readDateFields(record: FieldRecord): RowValue | undefined {
  const found = findLatex(record, 'date');
  const classicDate = readClassicDate(record);
  if (found === null) return classicDate;
  // A tie is no blank here: it says that the date is about right.
  const date = readDate(foldLatexBlanks(found.latex));
  if (date === undefined) return classicDate === undefined ? undefined : part(classicDate.value);
  const isSame = classicDate === undefined
    || (classicDate.isWhole && String(date.value).startsWith(String(classicDate.value)));
  return found.isOnly && isSame ? date : part(date.value);
}

function readClassicDate(record: FieldRecord): RowValue | undefined {
  const year = readDate(decodeField(record, 'year'));
  if (year === undefined) return undefined;
  const day = decodeField(record, 'day');
  const dayNumber = /^[0-9]{1,2}$/.test(day) ? day : '';
  const date = addMonth(String(year.value), decodeField(record, 'month'), dayNumber);
  const isOnly = ['year', 'month', 'day'].every((name) => !Array.isArray(record.fields.get(name)));
  return isOnly && year.isWhole && day === dayNumber ? date : part(date.value);
}

/** A month is `jan`, `January` or `1`; `5 jan`, `jan 5` and `January~5` say the day too. */
function addMonth(year: string, month: string, day: string): RowValue {
  if (month === '') return day === '' ? whole(year) : part(year);
  if (year.length > 4) return part(year);
  const isNumber = /^[0-9]{1,2}$/.test(month);
  const pieces = isNumber ? [year, month, day] : [day, month, year];
  const text = pieces.filter((piece) => piece !== '').join(isNumber ? '-' : ' ');
  return readDate(text) ?? part(year);
}

export function decodeField(record: FieldRecord, name: string): string {
  return decodeLatex(findLatex(record, name)?.latex ?? '').text;
}

/** `{xii, 320}` is no number, and `320 p.` says one. */
export function readPages(record: FieldRecord, name: string): RowValue | undefined {
  const text = decodeField(record, name);
  const count = parsePageCount(text);
  if (count === null) return undefined;
  return String(count) === text && findLatex(record, name)?.isOnly === true
    ? whole(count) : part(count);
}

/** More than a book may have: what follows is refused in any case. */
const KEYWORDS_MAX = 200;

/** Keywords between commas, or between semicolons where there is no comma. */
export function readKeywords(record: FieldRecord): RowValue | undefined {
  const found = findLatex(record, 'keywords');
  if (found === null) return undefined;
  const byComma = splitOutsideBraces(found.latex, ',');
  const pieces = byComma.length > 1 ? byComma : splitOutsideBraces(found.latex, ';');
  const words = pieces.slice(0, KEYWORDS_MAX).map((piece) => decodeLatex(piece).text)
    .filter((word) => word !== '');
  if (words.length === 0) return undefined;
  const isAll = found.isOnly && pieces.length <= KEYWORDS_MAX;
  return isAll && !decodeLatex(found.latex).hasMarkup ? whole(words) : part(words);
}

export function writeKeywords(keywords: readonly string[]): string {
  return keywords.map((word) => encodeLatex(word)).filter((word) => word !== '')
    .map((word) => /[,;]/.test(word) ? `{${word}}` : word).join(', ');
}
