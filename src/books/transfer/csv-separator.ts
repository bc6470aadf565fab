/**
 * The separators between cells of delimited text. Apart from `csv-rows.ts`, as the recognition of
 * formats needs it, too, without the reader.
 */

export const CSV_SEPARATORS = [',', ';', '\t'] as const;
export type CsvSeparator = (typeof CSV_SEPARATORS)[number];

// A spreadsheet that saves the file again may put the line in quotes, or blank cells behind it.
const SEPARATOR_LINE = /^"?sep=([,;\t])"?\1*$/i;

/** The separator that a first line such as `sep=;` says; null for another line. */
export function parseSeparatorLine(line: string): CsvSeparator | null {
  const stated = SEPARATOR_LINE.exec(line)?.[1];
  return CSV_SEPARATORS.find((separator) => separator === stated) ?? null;
}
