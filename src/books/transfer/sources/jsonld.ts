/**
 * JSON-LD (W3C JSON-LD 1.1) with schema.org's Book, from which our model has its names: the table.
 * `jsonld-node.ts` makes fields of a node by its contexts (`jsonld-terms.ts`) and of those that it
 * refers to (`jsonld-references.ts`), `jsonld-values.ts` reads their values, and `jsonld-writer.ts`
 * writes nodes.
 */
import { BOOK_FORMATS } from '../../book.ts';
import type { FormatCodec } from '../format-codec.ts';
import { readBookFormat } from '../mapping/book-format.ts';
import { readDate } from '../mapping/date-text.ts';
import { readPages } from '../mapping/field-text.ts';
import { whole } from '../mapping/format-table.ts';
import type { BookMember, FormatTable, MemberRow, RowValue } from '../mapping/format-table.ts';
import { readIsbn } from '../mapping/isbn-text.ts';
import { readLanguage } from '../mapping/language.ts';
import { createTableCodec } from '../mapping/mapped-splitter.ts';
import { JsonldSplitter } from './jsonld-node.ts';
import {
  TEXT, readAll, readFirst, readKeywordList, readName, readPeople, writePerson,
} from './jsonld-values.ts';
import { createNodeWriter } from './jsonld-writer.ts';
import { BOOK_TYPES } from './schema-org.ts';

const ORGANIZATION = 'Organization';

const ROWS: readonly MemberRow[] = [
  textRow('title', 'name'),
  { ...textRow('title', 'headline'), write: () => [] },
  textRow('subtitle', 'alternativeHeadline'),
  {
    member: 'authors', from: ['author'],
    read: ({ fields }) => readPeople(fields.get('author')),
    write: ({ authors }) => authors.length === 0 ? [] : [['author', authors.map(writePerson)]],
  },
  { member: 'authors', from: ['creator'], read: ({ fields }) => readPeople(fields.get('creator')) },
  {
    member: 'isbn', from: ['isbn'],
    read: ({ fields }) => readAll(fields.get('isbn'), readIsbn),
    write: ({ isbn }) => isbn === undefined ? [] : [['isbn', isbn]],
  },
  {
    member: 'isbn', from: ['@id'],
    read: ({ key }) => {
      const [, isbn] = /^urn:isbn:(.+)$/i.exec(key ?? '') ?? [];
      return isbn === undefined ? undefined : readIsbn([isbn]);
    },
  },
  {
    member: 'publisher', from: ['publisher'],
    read: ({ fields }) => readFirst(fields.get('publisher'), readName, ORGANIZATION),
    write: ({ publisher }) => publisher === undefined
      ? [] : [['publisher', { '@type': ORGANIZATION, name: publisher }]],
  },
  {
    member: 'datePublished', from: ['datePublished'],
    read: ({ fields }) => readFirst(fields.get('datePublished'), readDate),
    write: ({ datePublished }) =>
      datePublished === undefined ? [] : [['datePublished', datePublished]],
  },
  {
    member: 'inLanguage', from: ['inLanguage'],
    read: ({ fields }) => readFirst(fields.get('inLanguage'), readLanguage),
  },
  // Such as `und`: a tag that names no language.
  textRow('inLanguage', 'inLanguage'),
  {
    member: 'numberOfPages', from: ['numberOfPages'],
    read: ({ fields }) => readFirst(fields.get('numberOfPages'), readPages),
    write: ({ numberOfPages }) =>
      numberOfPages === undefined ? [] : [['numberOfPages', numberOfPages]],
  },
  textRow('bookEdition', 'bookEdition'),
  {
    member: 'bookFormat', from: ['bookFormat'],
    read: ({ fields }) => readFirst(fields.get('bookFormat'), findBookFormat),
    write: ({ bookFormat }) =>
      bookFormat === undefined ? [] : [['bookFormat', `https://schema.org/${bookFormat}`]],
  },
  {
    member: 'bookFormat', from: [],
    read: ({ type }) => type === 'Audiobook' ? whole('AudiobookFormat') : undefined,
  },
  {
    member: 'keywords', from: ['keywords'],
    read: ({ fields }) => readKeywordList(fields.get('keywords')),
    write: ({ keywords }) => keywords === undefined ? [] : [['keywords', [...keywords]]],
  },
  textRow('description', 'description'),
  textRow('url', 'url'),
  textRow('image', 'image'),
];

const READ_FIELDS = ROWS.flatMap(({ from }) => from);

const jsonldTable: FormatTable = {
  name: 'jsonld',
  rows: ROWS,
  ownIdFields: ['@id'],
  bookIdPrefix: 'urn:uuid:',
  restField: null,
  // A node without a type, in a file of books, is one.
  isBook: (type) => type === '' || BOOK_TYPES.includes(type),
};

export const jsonldCodec: FormatCodec = {
  ...createTableCodec(jsonldTable, () => new JsonldSplitter(READ_FIELDS)),
  createWriter: (options) => createNodeWriter(jsonldTable, options),
};

/** Members whose value may be the address of an object. */
const IRI_MEMBERS: ReadonlySet<BookMember> = new Set<BookMember>(['inLanguage', 'url', 'image']);

function textRow(
  member: Extract<BookMember, 'title' | 'subtitle' | 'inLanguage' | 'bookEdition' | 'description'
    | 'url' | 'image'>, name: string,
): MemberRow {
  return {
    member, from: [name],
    read: ({ fields }) => readFirst(fields.get(name), whole, IRI_MEMBERS.has(member) ? '' : TEXT),
    write: (book) => {
      const text = book[member];
      return text === undefined ? [] : [[name, text]];
    },
  };
}

/** A format by schema.org's name, or by a word that other programs have for it. */
function findBookFormat(text: string): RowValue | undefined {
  const format = BOOK_FORMATS.find((name) => name.toLowerCase() === text.toLowerCase());
  return format === undefined ? readBookFormat(text) : whole(format);
}
