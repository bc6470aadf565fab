/** The file formats that write books as the catalog stores them, dates and metadata included. */
export const BOOK_FILE_FORMATS = ['json', 'jsonl', 'csv'] as const;

export type BookFileFormat = (typeof BOOK_FILE_FORMATS)[number];
