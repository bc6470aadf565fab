/**
 * Readers and writers of each file format of books. They read and write streams, so memory does
 * not grow with the file. A person adds a format by a row in `format-list.ts` and a line here;
 * a format of another program needs a table in `sources/` too, and where it shares its ending or
 * media type with others a signature in `format-signatures.ts`.
 */
import { AppError } from '../../base/errors.ts';
import { lazyImport } from '../../base/lazy-import.ts';
import type { LazyModule } from '../../base/lazy-import.ts';
import type { BookWriter, FormatCodec, WriterOptions } from './format-codec.ts';
import { FORMATS, WRITTEN_FORMATS } from './format-list.ts';
import type { FormatName } from './format-list.ts';
import type { FormatTable } from './mapping/format-table.ts';

/** Each is loaded when its first file is read or written. */
const CODECS: Readonly<Record<FormatName, LazyModule<FormatCodec>>> = {
  json: lazyImport(async () => (await import('./json.ts')).jsonCodec),
  jsonl: lazyImport(async () => (await import('./json.ts')).jsonLinesCodec),
  csv: lazyImport(async () => (await import('./csv.ts')).csvCodec),
  jsonld: lazyImport(async () => (await import('./sources/jsonld.ts')).jsonldCodec),
  goodreads: lazyImport(async () => (await import('./sources/goodreads.ts')).goodreadsCodec),
  storygraph: lazyImport(async () => (await import('./sources/storygraph.ts')).storygraphCodec),
  librarything: lazyImport(async () =>
    (await import('./sources/librarything.ts')).librarythingCodec),
  calibre: lazyImport(async () => (await import('./sources/calibre.ts')).calibreCodec),
  bookwyrm: lazyImport(async () => (await import('./sources/bookwyrm.ts')).bookwyrmCodec),
  openlibrary: lazyImport(async () => (await import('./sources/openlibrary.ts')).openlibraryCodec),
  isbn: lazyImport(async () => (await import('./sources/isbn-list.ts')).isbnCodec),
  bibtex: lazyImport(async () => (await import('./sources/bibtex.ts')).bibtexCodec),
  csl: lazyImport(async () => (await import('./sources/csl.ts')).cslCodec),
  ris: lazyImport(async () => (await import('./sources/ris.ts')).risCodec),
};

/** The endings of files that can be read, as a message says them: `.json, .jsonl or .csv`. */
export const READ_ENDINGS =
  joinEndings([...new Set(FORMATS.flatMap(({ endings }) => endings))]);
/** The same of files that can be written. */
export const WRITTEN_ENDINGS = joinEndings(WRITTEN_FORMATS.map(({ endings }) => endings[0] ?? ''));

function joinEndings(endings: readonly string[]): string {
  return `${endings.slice(0, -1).join(', ')} or ${endings.at(-1)}`;
}

/**
 * The format to write that the ending of a file's name names, or null. Of an ending that several
 * formats have it is the first in the list, our own.
 */
export function findWrittenFormat(path: string): FormatName | null {
  const name = path.toLowerCase();
  const matches = WRITTEN_FORMATS.flatMap(({ name: format, writtenEndings }) =>
    writtenEndings.filter((ending) => name.endsWith(ending)).map((ending) => ({ format, ending })));
  const [longest] = matches.toSorted((left, right) => right.ending.length - left.ending.length);
  return longest?.format ?? null;
}

/** Throws `invalid` for a format that is only read. */
export async function createBookWriter(
  format: FormatName, options: WriterOptions = {},
): Promise<BookWriter> {
  const { createWriter } = await loadCodec(format);
  if (createWriter !== undefined) return createWriter(options);
  throw new AppError('invalid', `the format ${format} is only read, not written`);
}

/** The reader and the writer of the format. */
export async function loadCodec(format: FormatName): Promise<FormatCodec> {
  return await CODECS[format]((codec) => codec);
}

/** The tables of all formats of other programs. */
export async function loadTables(): Promise<readonly FormatTable[]> {
  const codecs = await Promise.all(FORMATS.map(({ name }) => loadCodec(name)));
  return codecs.flatMap(({ table }) => table ?? []);
}
