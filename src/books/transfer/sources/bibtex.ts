/**
 * BibTeX and BibLaTeX files (`.bib`): which fields say what of a book. Other fields, the key and a
 * type other than `book` stay in `metadata.source.bibtex`, and come out again as they stood.
 * The field `x-hookshelf` has the id of the book and the members that no other field says, as JSON.
 */
import { decodeBook } from '../../book.ts';
import type { Book } from '../../book.ts';
import type { BookWriter, FormatCodec } from '../format-codec.ts';
import { BibtexSplitter } from '../grammars/bibtex.ts';
import { encodeBibtexEntry } from '../grammars/bibtex-encoder.ts';
import { TYPE_FIELD } from '../grammars/bibtex-entry.ts';
import { MONTHS } from '../mapping/date-text.ts';
import { readPages } from '../mapping/field-text.ts';
import type { FormatTable, WrittenFields } from '../mapping/format-table.ts';
import { readIsbn } from '../mapping/isbn-text.ts';
import { readLanguage } from '../mapping/language.ts';
import { createRowMaker } from '../mapping/member-rows.ts';
import { createSeriesRow } from '../mapping/series-row.ts';
import { findOwnId, findSource } from '../mapping/metadata-source.ts';
import { createTableCodec, createTableWriter } from '../mapping/table-codec.ts';
import {
  encodeField, listDecodedTexts, readDateFields, readFirstLatex, readKeywords,
} from './bibtex-fields.ts';
import { CitationKeys, isMadeKey } from './bibtex-keys.ts';
import { readNames, writeNames } from './bibtex-names.ts';

/** Types that are whole books by BibLaTeX's manual (2.1); others are parts of one, or no books. */
const BOOK_TYPES: ReadonlySet<string> = new Set([
  'book', 'mvbook', 'booklet', 'collection', 'mvcollection', 'proceedings', 'mvproceedings',
  'reference', 'mvreference',
]);

const { textRows, listRow, recordRow } = createRowMaker(listDecodedTexts, (name, value) =>
  name === 'langid' ? writeLanguage(String(value)) : encodeField(name, value));

const ROWS: FormatTable['rows'] = [
  recordRow('authors', ['author'], (record) => readFirstLatex(record, 'author', readNames),
    writeAuthors),
  // A record may have no title of its own, or inherit none under that name.
  textRows('title', ['title', 'booktitle', 'maintitle']),
  textRows('subtitle', 'subtitle'),
  textRows('bookEdition', 'edition'),
  textRows('publisher', 'publisher'),
  createSeriesRow({
    nameField: 'series', positionField: 'number', listTexts: listDecodedTexts, encode: encodeField,
  }),
  recordRow('datePublished', ['date', 'year', 'month', 'day'], readDateFields, writeDate),
  listRow('isbn', ['isbn'], readIsbn),
  textRows('inLanguage', ['langid', 'language'], readLanguage),
  textRows('numberOfPages', ['pagetotal', 'numpages'], readPages),
  recordRow('keywords', ['keywords'], (record) => readFirstLatex(record, 'keywords', readKeywords),
    ({ keywords = [] }) => encodeField('keywords', keywords)),
  textRows('url', 'url'),
  textRows('description', 'abstract'),
].flat();

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
  const writer = createTableWriter(bibtexTable, ({ key, fields }, book) => {
    const type = fields.get(TYPE_FIELD);
    return encodeBibtexEntry({
      key: keys.add(book, key), type: typeof type === 'string' ? type : 'book',
      fields: [...fields].filter(([name]) => name !== TYPE_FIELD), jsonField: REST_FIELD,
    });
  }, { separator: '\n' });
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

function writeAuthors({ authors }: Book): WrittenFields {
  const latex = writeNames(authors);
  return latex === '' ? [] : [['author', latex]];
}

/** A whole date needs `date`, which BibLaTeX knows; the year is for classic BibTeX besides. */
function writeDate({ datePublished = '' }: Book): WrittenFields {
  const [year = '', month, day] = datePublished.split('-');
  if (year === '') return [];
  if (day !== undefined) return [['date', datePublished], ['year', year]];
  return month === undefined ? [['year', year]]
    : [['year', year], ['month', MONTHS[Number(month) - 1] ?? '']];
}

function writeLanguage(tag: string): WrittenFields {
  const id = LANGUAGE_IDS.get(tag);
  return id === undefined ? [['language', tag]] : [['langid', id]];
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
