/** Reads and writes fields of BibTeX that hold more than text: dates, lists, titles. */
import { decodeLatex, decodeLatexUrl, encodeLatex, foldLatexBlanks } from '../grammars/latex.ts';
import { combineDates, readDate } from '../mapping/date-text.ts';
import { LIST_LENGTH_MAX, listTexts } from '../mapping/field-text.ts';
import type { FieldTexts } from '../mapping/field-text.ts';
import { part, whole } from '../mapping/format-table.ts';
import type { FieldRecord, RowValue, WrittenFields } from '../mapping/format-table.ts';
import { splitOutsideBraces } from './bibtex-names.ts';

const TITLE_FIELDS: ReadonlySet<string> =
  new Set(['title', 'subtitle', 'booktitle', 'maintitle']);

/**
 * The texts of a field without LaTeX. They are not all of it where it has markup, or a title braces
 * that keep the case of letters.
 */
export function listDecodedTexts(record: FieldRecord, name: string): FieldTexts {
  const { texts: latexTexts, isWhole } = listTexts(record, name);
  if (name === 'url') return { texts: latexTexts.map(decodeLatexUrl).filter(isText), isWhole };
  const decodedTexts = latexTexts.map(decodeLatex);
  const isPlain = decodedTexts.every(({ text, hasMarkup, hasGroups }, index) => !hasMarkup
    && !(hasGroups && TITLE_FIELDS.has(name)
      && encodeTitle(text) !== foldLatexBlanks(latexTexts[index] ?? '')));
  const texts = decodedTexts.map(({ text }) => text).filter(isText);
  return { texts, isWhole: isWhole && isPlain };
}

function isText(text: string): boolean {
  return text !== '';
}

/** The value of the first text of a field as it stands; part where it has others. */
export function readFirstLatex(
  record: FieldRecord, name: string, read: (latex: string) => RowValue | undefined,
): RowValue | undefined {
  const { texts: [first, ...others], isWhole } = listTexts(record, name);
  const value = first === undefined ? undefined : read(first);
  return value === undefined || (isWhole && others.length === 0) ? value : part(value.value);
}

/** A field of a value; none where there is no text. */
export function encodeField(
  name: string, value: string | number | readonly string[],
): WrittenFields {
  const latex =
    typeof value === 'object' ? encodeKeywords(value) : encodeText(name, String(value));
  return latex === '' ? [] : [[name, latex]];
}

function encodeText(name: string, text: string): string {
  // An address is verbatim; a brace in it would end the field.
  if (name === 'url') {
    return foldLatexBlanks(text).replaceAll('{', '%7B').replaceAll('}', '%7D');
  }
  if (TITLE_FIELDS.has(name)) return encodeTitle(text);
  const latex = encodeLatex(text);
  // BibLaTeX takes an `and` in it for the end of one of several.
  return name === 'publisher' && /\sand\s/i.test(latex) ? `{${latex}}` : latex;
}

// `The left hand`: as it is, it is written small already.
const IN_SENTENCE_CASE = /^\P{Ll}[^\p{Lu}\p{Lt}]*$/u;
// `Emma: a novel`, `“a thing”`: pandoc writes such a letter large. Bounded, so that it is linear.
const RAISED_LETTER = /(?:^|[:?!.]\s{1,9})[^\p{L}\p{N}]{0,9}\p{Ll}/u;

/** Text of a title, in braces where a style or a program would change the case of its letters. */
function encodeTitle(text: string): string {
  const latex = encodeLatex(text);
  const isAsWritten = IN_SENTENCE_CASE.test(latex) && !RAISED_LETTER.test(text);
  return latex === '' || isAsWritten ? latex : `{${latex}}`;
}

/** `date`, and `year`, `month` and `day`, which classic BibTeX has. */
export function readDateFields(record: FieldRecord): RowValue | undefined {
  // A tie is no blank here: it says that the date is about right.
  const dates = listTexts(record, 'date').texts.map((latex) => readDate(foldLatexBlanks(latex)));
  const hasYear = listTexts(record, 'year').texts.length > 0;
  return combineDates(hasYear ? [...dates, readClassicDate(record)] : dates);
}

function readClassicDate(record: FieldRecord): RowValue | undefined {
  const [year, month, day] =
    ['year', 'month', 'day'].map((name) => listDecodedTexts(record, name));
  const yearDate = readDate(year?.texts[0] ?? '');
  if (yearDate === undefined) return undefined;
  const dayText = day?.texts[0] ?? '';
  const dayNumber = /^[0-9]{1,2}$/.test(dayText) ? dayText : '';
  const date = addMonth(String(yearDate.value), month?.texts[0] ?? '', dayNumber);
  const areSingle = [year, month, day].every((field) => (field?.texts.length ?? 0) < 2);
  return areSingle && yearDate.isWhole && dayText === dayNumber ? date : part(date.value);
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

/** Keywords between commas, or between semicolons where there is no comma. */
export function readKeywords(latex: string): RowValue | undefined {
  const byComma = splitOutsideBraces(latex, /,/);
  const pieces = byComma.length > 1 ? byComma : splitOutsideBraces(latex, /;/);
  const words = pieces.slice(0, LIST_LENGTH_MAX).map((piece) => decodeLatex(piece).text)
    .filter((word) => word !== '');
  if (words.length === 0) return undefined;
  return decodeLatex(latex).hasMarkup ? part(words) : whole(words);
}

function encodeKeywords(keywords: readonly string[]): string {
  return keywords.map((word) => encodeLatex(word)).filter((word) => word !== '')
    .map((word) => /[,;]/.test(word) ? `{${word}}` : word).join(', ');
}
