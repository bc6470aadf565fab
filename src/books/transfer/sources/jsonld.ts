/**
 * JSON-LD (W3C JSON-LD 1.1) with schema.org's Book, from which our model has its names: the table.
 * `jsonld-node.ts` makes fields of a node by its contexts (`jsonld-terms.ts`) and of those that it
 * refers to (`jsonld-references.ts`), `jsonld-values.ts` and `jsonld-reading.ts` read their values,
 * and `jsonld-writer.ts` writes nodes.
 */
import type { FormatCodec } from '../format-codec.ts';
import { readBookFormat } from '../mapping/book-format.ts';
import { readDate } from '../mapping/date-text.ts';
import { readFirst, readPages } from '../mapping/field-text.ts';
import { whole } from '../mapping/format-table.ts';
import type { FieldRecord, FormatTable, RowValue } from '../mapping/format-table.ts';
import { readIsbn } from '../mapping/isbn-text.ts';
import { readLanguage } from '../mapping/language.ts';
import { createRowMaker } from '../mapping/member-rows.ts';
import { createTableCodec } from '../mapping/table-codec.ts';
import { JsonldSplitter } from './jsonld-node.ts';
import {
  TEXT, findTexts, readKeywordList, readName, readPeople, writePerson,
} from './jsonld-values.ts';
import {
  readReviewRating, readReviewText, readSeries, writeReview, writeSeries,
} from './jsonld-reading.ts';
import { createNodeWriter } from './jsonld-writer.ts';
import { BOOK_TYPES } from './schema-org.ts';

const ORGANIZATION = 'Organization';
const SCHEMA_ORG = 'https://schema.org/';

/** Fields whose value is no address of an object. */
const TEXT_FIELDS: ReadonlySet<string> =
  new Set(['name', 'headline', 'alternativeHeadline', 'bookEdition', 'description']);

const { textRows, listRow, recordRow } = createRowMaker(
  ({ fields }, name) => findTexts(fields.get(name), TEXT_FIELDS.has(name) ? TEXT : ''),
  (name, value) => [[name, typeof value === 'object' ? [...value] : value]]);

const ROWS: FormatTable['rows'] = [
  textRows('title', ['name', 'headline']),
  textRows('subtitle', 'alternativeHeadline'),
  recordRow('authors', ['author'], ({ fields }) => readPeople(fields.get('author')),
    ({ authors }) => authors.length === 0 ? [] : [['author', authors.map(writePerson)]]),
  recordRow('authors', ['creator'], ({ fields }) => readPeople(fields.get('creator'))),
  listRow('isbn', ['isbn'], readIsbn),
  recordRow('isbn', ['@id'], readIdIsbn),
  recordRow('publisher', ['publisher'],
    ({ fields }) => readFirst(findTexts(fields.get('publisher'), ORGANIZATION), readName),
    ({ publisher }) => publisher === undefined
      ? [] : [['publisher', { '@type': ORGANIZATION, name: publisher }]]),
  recordRow('series', ['isPartOf', 'position'],
    ({ fields }) => readSeries(fields.get('isPartOf'), fields.get('position')),
    ({ series = [] }) => writeSeries(series)),
  // One field says both: a review that the model refuses stays there, whatever its rating is.
  recordRow('reading.review', ['review'], ({ fields }) => readReviewText(fields.get('review')),
    ({ reading = {} }) => writeReview(reading)),
  recordRow('reading.rating', ['review'], ({ fields }) => readReviewRating(fields.get('review'))),
  textRows('datePublished', 'datePublished', readDate),
  textRows('inLanguage', 'inLanguage', readLanguage),
  // A tag such as `und` names no language.
  textRows('inLanguage', 'inLanguage'),
  textRows('numberOfPages', 'numberOfPages', readPages),
  textRows('bookEdition', 'bookEdition'),
  recordRow('bookFormat', ['bookFormat'],
    ({ fields }) => readFirst(findTexts(fields.get('bookFormat')), readFormatName),
    ({ bookFormat }) =>
      bookFormat === undefined ? [] : [['bookFormat', `${SCHEMA_ORG}${bookFormat}`]]),
  recordRow('bookFormat', [],
    ({ type }) => type === 'Audiobook' ? whole('AudiobookFormat') : undefined),
  recordRow('keywords', ['keywords'], ({ fields }) => readKeywordList(fields.get('keywords')),
    ({ keywords }) => keywords === undefined ? [] : [['keywords', [...keywords]]]),
  textRows('description', 'description'),
  textRows('url', 'url'),
  textRows('image', 'image'),
].flat();

const READ_FIELDS = ROWS.flatMap(({ from }) => from);

const jsonldTable: FormatTable = {
  name: 'jsonld',
  rows: ROWS,
  ownIdFields: ['@id'],
  bookIdPrefix: 'urn:uuid:',
  // A node without a type, in a file of books, is one.
  isBook: (type) => type === '' || BOOK_TYPES.includes(type),
};

export const jsonldCodec: FormatCodec = {
  ...createTableCodec(jsonldTable, () => new JsonldSplitter(READ_FIELDS)),
  createWriter: (options) => createNodeWriter(jsonldTable, options),
};

function readFormatName(text: string): RowValue | undefined {
  return readBookFormat(text.startsWith(SCHEMA_ORG) ? text.slice(SCHEMA_ORG.length) : text);
}

function readIdIsbn({ key }: FieldRecord): RowValue | undefined {
  const [, isbn] = /^urn:isbn:(.+)$/i.exec(key ?? '') ?? [];
  return isbn === undefined ? undefined : readIsbn([isbn]);
}
