/** The file formats of books, for tests of all that offers them. */
import type { BookFileFormat } from '../../../src/books/transfer/formats.ts';

/** By name, so that the type demands each format. */
const FORMATS: Readonly<Record<BookFileFormat, true>> = { json: true, jsonl: true, csv: true };

export const BOOK_FILE_FORMATS = Object.keys(FORMATS) as readonly BookFileFormat[];
