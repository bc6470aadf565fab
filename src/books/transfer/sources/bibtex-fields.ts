/** Reads fields of BibTeX that hold more than text: dates, pages, lists. */
import type { FieldRecord, RowValue } from '../mapping/format-table.ts';
import { part, whole } from '../mapping/format-table.ts';
import { decodeLatex, encodeLatex, foldLatexBlanks } from '../grammars/latex.ts';
import { parsePageCount } from '../mapping/book-text.ts';
import { MONTHS, MONTH_NAMES } from '../month-names.ts';
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

/** A date of BibLaTeX, of which a range says its start: `2019-03-05`, `1999/2001`, `1969~`. */
const DATE = /^([0-9]{4}(?:-[0-9]{2}){0,2})(.*)$/s;
const YEAR = /(?<![0-9-])[0-9]{4}(?![0-9])/;

/** `date`, or `year`, `month` and `day`, which classic BibTeX has. */
export function readDateFields(record: FieldRecord): RowValue | undefined {
  // A tie is no blank here: it says that the date is about right.
  const date = padYear(foldLatexBlanks(findLatex(record, 'date')?.latex ?? ''));
  const classicDate = readClassicDate(record);
  const match = DATE.exec(date);
  if (match === null) {
    return date === '' || classicDate === undefined ? classicDate : part(classicDate.value);
  }
  const [, start = '', rest = ''] = match;
  const isSame = classicDate === undefined
    || (classicDate.isWhole && start.startsWith(String(classicDate.value)));
  return rest === '' && isSame && findLatex(record, 'date')?.isOnly === true
    ? whole(start) : part(start);
}

/** Some programs write the year 975 with three digits. */
function padYear(date: string): string {
  return date.replace(/^[0-9]{3}(?![0-9])/, '0$&');
}

function readClassicDate(record: FieldRecord): RowValue | undefined {
  const year = padYear(decodeField(record, 'year'));
  const [digits] = YEAR.exec(year.slice(0, 100)) ?? [];
  if (digits === undefined) return undefined;
  const isOnly = ['year', 'month', 'day'].every((name) => !Array.isArray(record.fields.get(name)));
  const isYear = isOnly && digits === year;
  const month = decodeField(record, 'month');
  const day = decodeField(record, 'day');
  if (month === '') return isYear && day === '' ? whole(digits) : part(digits);
  const monthAndDay = parseMonth(month);
  if (monthAndDay === null) return part(digits);
  const dayOfMonth = monthAndDay.day || day;
  const isDay = /^[0-9]{1,2}$/.test(dayOfMonth);
  const date = `${digits}-${monthAndDay.month}${isDay ? `-${dayOfMonth.padStart(2, '0')}` : ''}`;
  return isYear && (isDay || dayOfMonth === '') ? whole(date) : part(date);
}

/** `jan`, `January`, `1`, `5 jan`, `jan 5`, `January~5`: the month of two digits, and the day. */
function parseMonth(text: string): { readonly month: string; readonly day: string } | null {
  const words = text.slice(0, 40).toLowerCase().split(/[\s.,]+/).filter((word) => word !== '');
  if (words.length > 2) return null;
  if (words.length === 1 && /^(0?[1-9]|1[0-2])$/.test(words[0] ?? '')) {
    return { month: (words[0] ?? '').padStart(2, '0'), day: '' };
  }
  const name = words.find((word) => /^[a-z]{3}/.test(word)) ?? '';
  const index = MONTHS.indexOf(name.slice(0, 3));
  const day = words.find((word) => word !== name) ?? '';
  if (index < 0 || MONTH_NAMES[index]?.startsWith(name) !== true) return null;
  if (!/^([0-9]{1,2})?$/.test(day)) return null;
  return { month: String(index + 1).padStart(2, '0'), day };
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
