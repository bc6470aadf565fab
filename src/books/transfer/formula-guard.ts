/**
 * Spreadsheets run a cell of csv as a formula where it begins with one of a few characters. A `'`
 * before it makes it a text; the reader of csv takes that `'` off again. A text that begins with
 * `'` and such a character by itself gets another one, in every csv, so that no text is changed.
 */
const FORMULA = /^[=+\-@\t\r]/;
const GUARDED_TEXT = /^'+[=+\-@\t\r]/;

/** The text as a cell has it; with `isForSpreadsheet` no spreadsheet takes it for a formula. */
export function guardText(text: string, isForSpreadsheet: boolean): string {
  const needsGuard = GUARDED_TEXT.test(text) || (isForSpreadsheet && FORMULA.test(text));
  return needsGuard ? `'${text}` : text;
}

/** The text of a cell, as `guardText` was given it. */
export function unguardText(cell: string): string {
  return GUARDED_TEXT.test(cell) ? cell.slice(1) : cell;
}
