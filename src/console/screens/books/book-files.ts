/**
 * The formats of the files of books, for the choices of an import and an export. The server alone
 * reads and writes them; a test compares these rows with its own.
 */
import type { FormatName } from '../../../books/transfer/format-list.ts';

type FileFormat = {
  readonly name: FormatName;
  /** What a file of it is called, after "reading". */
  readonly title: string;
  readonly mediaType: string;
  /** Of file names; the first is written. */
  readonly endings: readonly string[];
  /** Whether it is only read. */
  readonly isReadOnly?: true;
};

const CSV = 'text/csv';

export const FILE_FORMATS: readonly FileFormat[] = [
  { name: 'json', title: 'JSON', mediaType: 'application/json', endings: ['.json'] },
  {
    name: 'jsonl', title: 'JSON Lines', mediaType: 'application/jsonl',
    endings: ['.jsonl', '.ndjson'],
  },
  { name: 'csv', title: 'CSV', mediaType: CSV, endings: ['.csv', '.tsv'] },
  { name: 'jsonld', title: 'JSON-LD', mediaType: 'application/ld+json', endings: ['.jsonld'] },
  {
    name: 'csl', title: 'CSL-JSON', mediaType: 'application/vnd.citationstyles.csl+json',
    endings: ['.csl.json'],
  },
  { name: 'bibtex', title: 'BibTeX', mediaType: 'application/x-bibtex', endings: ['.bib'] },
  {
    name: 'ris', title: 'RIS', mediaType: 'application/x-research-info-systems',
    endings: ['.ris'],
  },
  {
    name: 'goodreads', title: 'a Goodreads export', mediaType: CSV, endings: ['.csv'],
    isReadOnly: true,
  },
  {
    name: 'storygraph', title: 'a StoryGraph export', mediaType: CSV, endings: ['.csv'],
    isReadOnly: true,
  },
  {
    name: 'librarything', title: 'a LibraryThing export',
    mediaType: 'text/tab-separated-values', endings: ['.tsv', '.json'], isReadOnly: true,
  },
  {
    name: 'calibre', title: 'a Calibre catalog', mediaType: CSV, endings: ['.csv'],
    isReadOnly: true,
  },
  {
    name: 'isbn', title: 'a list of ISBNs', mediaType: 'text/plain', endings: ['.txt'],
    isReadOnly: true,
  },
];

/** What the server is told of a file by the ending of its name; null: nothing can be told. */
export function findMediaType(fileName: string): string | null {
  const name = fileName.toLowerCase();
  let longest = '';
  let mediaType: string | null = null;
  for (const format of FILE_FORMATS) {
    for (const ending of format.endings) {
      // Of an ending that several formats have, the first says the family: the server looks.
      if (!name.endsWith(ending) || ending.length <= longest.length) continue;
      longest = ending;
      ({ mediaType } = format);
    }
  }
  return mediaType;
}
