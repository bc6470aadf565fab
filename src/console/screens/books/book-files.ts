/** The files of books that the console reads and writes, in the formats of `book:import`. */
import { formatBooksCsv, parseCsvBooks } from './book-csv.ts';

type BookRecords = readonly Readonly<Record<string, unknown>>[];

/** Formats the text of a file. `loadColumns` resolves with the names of the members of a book. */
type FormatBooks = (
  books: BookRecords, loadColumns: () => Promise<readonly string[]>,
) => Promise<string>;

/** The export formats by file name; null: the response of the API as it is. */
export const FORMATS: Readonly<Record<string, FormatBooks | null>> = {
  'books.json': null,
  'books.jsonl': async (books) => books.map((book) => `${JSON.stringify(book)}\n`).join(''),
  'books.csv': async (books, loadColumns) => formatBooksCsv(await loadColumns(), books),
};

/** The endings of the files that an import takes. */
export const FILE_ENDINGS: readonly string[] = ['.json', '.jsonl', '.ndjson', '.csv'];

/** A book to send, and its position in the file: `Line 7`. */
export type FileBook = { readonly json: string; readonly label: string };

/** Splits a file of CSV, JSON Lines or one JSON array, by its name and its first character. */
export function parseFile(name: string, text: string): FileBook[] {
  if (name.toLowerCase().endsWith('.csv')) {
    return parseCsvBooks(text).map(({ line, json }) => ({ json, label: `Line ${line}` }));
  }
  if (!text.trimStart().startsWith('[')) {
    return text.split('\n').map((json, index) => ({ json, label: `Line ${index + 1}` }))
      .filter(({ json }) => json.trim() !== '');
  }
  const books: unknown = JSON.parse(text);
  return (Array.isArray(books) ? books : []).map((book, index) =>
    ({ json: JSON.stringify(book), label: `Book ${index + 1}` }));
}
