/**
 * BibTeX and BibLaTeX files (`.bib`): which fields say what of a book. Other fields, the key and a
 * type other than `book` stay in `metadata.source.bibtex`, and come out again as they stood.
 * The field `x-hookshelf` has the id of the book and the members that no other field says, as JSON.
 */
import type { JsonValue } from '../../../base/schema.ts';
import { decodeBook } from '../../book.ts';
import type { Book } from '../../book.ts';
import type { BookWriter, FormatCodec } from '../format-codec.ts';
import { BibtexSplitter } from '../grammars/bibtex.ts';
import { encodeBibtexEntry } from '../grammars/bibtex-encoder.ts';
import { TYPE_FIELD } from '../grammars/bibtex-entry.ts';
import { decodeLatexUrl, encodeLatex, foldLatexBlanks } from '../grammars/latex.ts';
import { part, whole } from '../mapping/format-table.ts';
import type { FormatTable, MemberRow } from '../mapping/format-table.ts';
import { readIsbn } from '../mapping/isbn-text.ts';
import { createTableCodec } from '../mapping/mapped-splitter.ts';
import { readLanguage } from '../mapping/language.ts';
import { createMappedWriter } from '../mapping/mapped-writer.ts';
import { findOwnId, findSource } from '../mapping/metadata-source.ts';
import { writeRecord } from '../mapping/write-record.ts';
import { MONTHS } from '../month-names.ts';
import {
  decodeField, encodeTitle, findLatex, readDateFields, readKeywords, readPages, readText,
  writeKeywords,
} from './bibtex-fields.ts';
import { CitationKeys, isMadeKey } from './bibtex-keys.ts';
import { readNames, writeNames } from './bibtex-names.ts';

/** Types that are whole books by BibLaTeX's manual (2.1); others are parts of one, or no books. */
const BOOK_TYPES: ReadonlySet<string> = new Set([
  'book', 'mvbook', 'booklet', 'collection', 'mvcollection', 'proceedings', 'mvproceedings',
  'reference', 'mvreference',
]);

const ROWS: readonly MemberRow[] = [
  {
    member: 'authors', from: ['author'],
    read(record) {
      const found = findLatex(record, 'author');
      const names = found === null ? undefined : readNames(found.latex);
      return names === undefined || found?.isOnly === true ? names : part(names.value);
    },
    write: ({ authors }) => writeField('author', writeNames(authors)),
  },
  createTextRow('title', 'title', { hasCase: true }),
  // Of a record that has no title of its own, or inherits none under that name.
  { member: 'title', from: ['booktitle'], read: (record) => readText(record, 'booktitle', true) },
  { member: 'title', from: ['maintitle'], read: (record) => readText(record, 'maintitle', true) },
  createTextRow('subtitle', 'subtitle', { hasCase: true }),
  createTextRow('bookEdition', 'edition', { hasCase: false }),
  createTextRow('publisher', 'publisher', { hasCase: false, isList: true }),
  {
    member: 'datePublished', from: ['date', 'year', 'month', 'day'],
    read: readDateFields,
    write: ({ datePublished = '' }) => writeDate(datePublished),
  },
  {
    member: 'isbn', from: ['isbn'],
    read(record) {
      const isbn = readIsbn([decodeField(record, 'isbn')]);
      return isbn === undefined || findLatex(record, 'isbn')?.isOnly === true
        ? isbn : part(isbn.value);
    },
    write: ({ isbn = '' }) => writeField('isbn', isbn),
  },
  {
    member: 'inLanguage', from: ['langid'],
    read: (record) => readLanguage(decodeField(record, 'langid')),
    write: ({ inLanguage = '' }) => writeField('langid', LANGUAGE_IDS.get(inLanguage) ?? ''),
  },
  {
    member: 'inLanguage', from: ['language'],
    read: (record) => readLanguage(decodeField(record, 'language')),
    write: ({ inLanguage = '' }) =>
      writeField('language', LANGUAGE_IDS.has(inLanguage) ? '' : inLanguage),
  },
  createPagesRow('pagetotal'),
  { ...createPagesRow('numpages'), write: () => [] },
  {
    member: 'keywords', from: ['keywords'], read: readKeywords,
    write: ({ keywords = [] }) => writeField('keywords', writeKeywords(keywords)),
  },
  {
    member: 'url', from: ['url'],
    read(record) {
      const found = findLatex(record, 'url');
      if (found === null) return undefined;
      const url = decodeLatexUrl(found.latex);
      return found.isOnly ? whole(url) : part(url);
    },
    write: ({ url = '' }) => writeField('url', encodeUrl(url)),
  },
  createTextRow('description', 'abstract', { hasCase: false }),
];

const REST_FIELD = 'x-hookshelf';

const bibtexTable: FormatTable = {
  name: 'bibtex', rows: ROWS, ownIdFields: ['citationkey'], restField: REST_FIELD,
  bookIdPrefix: '', bookIdField: REST_FIELD,
  isBook: (type) => BOOK_TYPES.has(type),
};

export const bibtexCodec: FormatCodec = {
  ...createTableCodec(bibtexTable, () => new BibtexSplitter(NAMES_READ)),
  createWriter: createBibtexWriter,
  canBeEmpty: true,
  isMadeOwnId: (bytes, key) => isMadeKey(decodeBook(bytes), key),
};

const NAMES_READ: ReadonlySet<string> =
  new Set([...ROWS.flatMap(({ from }) => from), REST_FIELD, 'crossref', 'xdata', 'xref']);

/** All keys that it writes differ; those that books brought along are kept for them. */
function createBibtexWriter(): BookWriter {
  const keys = new CitationKeys();
  const writer = createMappedWriter((book) => {
    const { key, fields, leavesOut } = writeRecord(bibtexTable, book);
    const type = fields.get(TYPE_FIELD);
    const entry = encodeBibtexEntry({
      key: keys.add(book, key), type: typeof type === 'string' ? type : 'book',
      fields: [...fields].filter(([name]) => name !== TYPE_FIELD), jsonField: REST_FIELD,
    });
    return { text: entry.text, leavesOut: leavesOut || entry.leavesOut };
  }, { begin: '', separator: '\n', end: '' });
  return Object.assign(writer, {
    prepare(books: readonly Buffer[]): void {
      for (const bytes of books) {
        const key = bytes.includes(SOURCE_MEMBER) ? findImportedKey(decodeBook(bytes)) : null;
        if (key !== null) keys.reserve(key);
      }
    },
    prepareInIdOrder(books: readonly Buffer[]): void {
      for (const book of books.map(decodeBook)) keys.assign(book, findImportedKey(book));
    },
  });
}

/** The bytes that each book that came from BibTeX has in it. */
const SOURCE_MEMBER = Buffer.from('"bibtex":');

function findImportedKey({ metadata }: Book): string | null {
  const source = findSource(bibtexTable.name, metadata);
  return source === null ? null : findOwnId(source, bibtexTable.ownIdFields);
}

function writeField(name: string, latex: string): readonly (readonly [string, JsonValue])[] {
  return latex === '' ? [] : [[name, latex]];
}

/** `isList`: BibLaTeX takes an `and` in it for the end of one of several. */
function createTextRow(
  member: 'title' | 'subtitle' | 'bookEdition' | 'publisher' | 'description', name: string,
  { hasCase, isList = false }: { readonly hasCase: boolean; readonly isList?: boolean },
): MemberRow {
  return {
    member, from: [name],
    read: (record) => readText(record, name, hasCase),
    write(book) {
      const text = book[member] ?? '';
      const latex = hasCase ? encodeTitle(text) : encodeLatex(text);
      return writeField(name, isList && /\sand\s/i.test(latex) ? `{${latex}}` : latex);
    },
  };
}

function createPagesRow(name: string): MemberRow {
  return {
    member: 'numberOfPages', from: [name],
    read: (record) => readPages(record, name),
    write: ({ numberOfPages }) => writeField(name, numberOfPages?.toString() ?? ''),
  };
}

/** A whole date needs `date`, which BibLaTeX knows; the year is for classic BibTeX besides. */
function writeDate(date: string): readonly (readonly [string, JsonValue])[] {
  const [year = '', month, day] = date.split('-');
  if (year === '') return [];
  if (day !== undefined) return [['date', date], ['year', year]];
  return month === undefined ? [['year', year]]
    : [['year', year], ['month', MONTHS[Number(month) - 1] ?? '']];
}

// An address is verbatim; a brace in it would end the field.
function encodeUrl(url: string): string {
  return foldLatexBlanks(url).replaceAll('{', '%7B').replaceAll('}', '%7D');
}

/** The names of the babel package, which BibLaTeX and pandoc know, for tags that they say whole. */
const LANGUAGE_IDS: ReadonlyMap<string, string> = new Map([
  ['af', 'afrikaans'], ['ar', 'arabic'], ['bg', 'bulgarian'], ['ca', 'catalan'], ['cs', 'czech'],
  ['cy', 'welsh'], ['da', 'danish'], ['de', 'german'], ['de-AT', 'austrian'],
  ['de-CH', 'swissgerman'], ['el', 'greek'], ['en', 'english'], ['en-AU', 'australian'],
  ['en-CA', 'canadian'], ['en-GB', 'british'], ['en-NZ', 'newzealand'], ['en-US', 'american'],
  ['es', 'spanish'], ['et', 'estonian'], ['eu', 'basque'], ['fi', 'finnish'], ['fr', 'french'],
  ['fr-CA', 'acadian'], ['ga', 'irish'], ['gl', 'galician'], ['he', 'hebrew'], ['hr', 'croatian'],
  ['hu', 'hungarian'], ['id', 'indonesian'], ['is', 'icelandic'], ['it', 'italian'],
  ['ja', 'japanese'], ['ko', 'korean'], ['la', 'latin'], ['lt', 'lithuanian'], ['lv', 'latvian'],
  ['nb', 'norsk'], ['nl', 'dutch'], ['nn', 'nynorsk'], ['pl', 'polish'], ['pt', 'portuguese'],
  ['pt-BR', 'brazilian'], ['ro', 'romanian'], ['ru', 'russian'], ['sk', 'slovak'],
  ['sl', 'slovene'], ['sr', 'serbian'], ['sv', 'swedish'], ['tr', 'turkish'], ['uk', 'ukrainian'],
  ['zh', 'chinese'],
]);
