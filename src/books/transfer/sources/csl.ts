/**
 * Books in CSL-JSON, the input data of the Citation Style Language (citeproc, Zotero, pandoc): an
 * array of items, or one item. What the schema has no member for stands in `custom`, which it lets
 * programs have: `custom.hookshelf` holds what no member of an item says.
 */
import { isJsonNumber } from '../../../base/exact-number.ts';
import { isDeepStrictEqual } from 'node:util';
import { isJsonObject } from '../../../base/fields.ts';
import { encodeJson } from '../../../base/json/encode.ts';
import type { JsonObject, JsonValue } from '../../../base/schema.ts';
import type { Author, Book } from '../../book.ts';
import type { FormatCodec } from '../format-codec.ts';
import { parseText } from '../grammars/nested-json.ts';
import { JsonSplitter } from '../json-splitter.ts';
import type { SplitElement } from '../json-splitter.ts';
import { createDate, readDate } from '../mapping/date-text.ts';
import {
  TEXT_LENGTH_MAX, listItems, listTexts, readKeywords, readPages, readWords,
} from '../mapping/field-text.ts';
import { mapSplitter, part, whole } from '../mapping/format-table.ts';
import type {
  BrokenRecord, FieldRecord, FormatTable, RowValue, WrittenFields,
} from '../mapping/format-table.ts';
import { readRichText } from '../mapping/html-text.ts';
import { readIsbn } from '../mapping/isbn-text.ts';
import { readLanguage } from '../mapping/language.ts';
import { parseRest } from '../mapping/map-record.ts';
import { createRowMaker } from '../mapping/member-rows.ts';
import { findSource } from '../mapping/metadata-source.ts';
import { createAuthor, splitAuthor } from '../mapping/person-name.ts';
import { createSeriesRow } from '../mapping/series-row.ts';
import { createTableCodec, createTableWriter } from '../mapping/table-codec.ts';
import type { WrittenRecord } from '../mapping/write-record.ts';
import { isCslMember, isCslType } from './csl-schema.ts';

const BOOK_TYPE = 'book';
/** `classic` is a work of antiquity; an item without a type is taken for a book. */
const BOOK_TYPES: ReadonlySet<string> = new Set(['', BOOK_TYPE, 'classic']);
const OWN_CUSTOM = 'hookshelf';
const REST_FIELD = `custom.${OWN_CUSTOM}`;

// Texts throughout, as the first version of the schema has no numbers.
const writeTexts = (name: string, value: string | number | readonly string[]): WrittenFields =>
  [[name, [value].flat().join(', ')]];
const { textRows, listRow, recordRow, titleRows } = createRowMaker(listTexts, writeTexts);

const cslTable: FormatTable = {
  name: 'csl',
  rows: [
    titleRows(['title']),
    recordRow('authors', ['author'], readAuthors,
      ({ authors }) => authors.length === 0 ? [] : [['author', authors.map(writeName)]]),
    listRow('isbn', ['ISBN'], readIsbn),
    textRows('publisher', 'publisher', readRichText),
    createSeriesRow({
      nameField: 'collection-title', positionField: 'collection-number', listTexts,
      readName: readRichText, encode: writeTexts,
    }),
    recordRow('datePublished', ['issued'], ({ fields }) => readIssued(fields.get('issued')),
      ({ datePublished }) => datePublished === undefined ? []
        : [['issued', { 'date-parts': [datePublished.split('-').map(Number)] }]]),
    textRows('inLanguage', 'language', readLanguage),
    textRows('numberOfPages', 'number-of-pages', readPages),
    textRows('bookEdition', 'edition', readRichText),
    listRow('keywords', ['keyword'], ([first = '', ...others]) =>
      others.length === 0 ? readKeywords(first) : readWords([first, ...others])),
    textRows('description', 'abstract', readRichText),
    textRows('url', 'URL'),
  ].flat(),
  ownIdFields: ['id'],
  bookIdPrefix: '',
  restField: REST_FIELD,
  keepsSpace: true,
  isBook: (type) => BOOK_TYPES.has(type),
  mayHold: (name, value) => name === 'type' || name === 'custom' || isCslMember(name, value),
};

export const cslCodec: FormatCodec = {
  ...createTableCodec(cslTable, () => mapSplitter(new JsonSplitter(), readItems)),
  createWriter: () => createTableWriter(cslTable,
    (record, book) => ({ text: `\n${encodeJson(createItem(record, book))}` }),
    { begin: '[', separator: ',', end: '\n]\n' }),
};

function readItems(element: SplitElement): readonly (FieldRecord | BrokenRecord)[] {
  const { line, json } = element;
  if (json === undefined) return [{ line, key: null, problem: element.problem }];
  const { value, problem } = parseText(json);
  if (problem !== undefined) return [{ line, key: null, problem }];
  // The web API of Zotero sends its items within an object.
  const items: readonly unknown[] = isJsonObject(value) && Array.isArray(value['items'])
    && !Object.hasOwn(value, 'title') ? value['items'] : [value];
  return items.map((item) => isJsonObject(item) ? createRecord(line, item)
    : { line, key: null, problem: 'must be an object, an item of CSL-JSON' });
}

function createRecord(line: number, item: JsonObject): FieldRecord {
  const fields = new Map(Object.entries(item));
  const { id, type, custom } = item;
  if (isJsonObject(custom) && isJsonObject(custom[OWN_CUSTOM])) {
    const { [OWN_CUSTOM]: rest = null, ...others } = custom;
    fields.set('custom', others);
    fields.set(REST_FIELD, rest);
  }
  if (type === BOOK_TYPE) fields.delete('type');
  const isNamed = isJsonNumber(id) || (typeof id === 'string' && id !== '');
  return { line, key: isNamed ? String(id) : null, type: String(type ?? ''), fields };
}

/** An item of a book, under its own id: that of its source, else the catalog's. */
function createItem({ ownId, fields }: WrittenRecord, book: Book): JsonObject {
  const source = findSource(cslTable.name, book.metadata) ?? {};
  const sourceId = source['id'];
  const type = fields.get('type');
  const item: Record<string, JsonValue> = {
    id: isJsonNumber(sourceId) ? sourceId : ownId,
    type: typeof type === 'string' && isCslType(type) ? type : BOOK_TYPE,
  };
  const ownCustom = fields.get('custom');
  const custom = new Map(Object.entries(isJsonObject(ownCustom) ? ownCustom : {}));
  for (const [name, value] of fields) {
    if (isCslMember(name, value)) item[name] = value;
  }
  // Crossref sends authors with an ORCID, say: the item has them as far as it may.
  for (const [name, value] of Object.entries(source)) {
    const isDone = name === 'id' || name === 'type' || (name === 'custom' && isJsonObject(value));
    if (!isDone && !isCslMember(name, value)) custom.set(name, value);
  }
  const rest = parseRest(fields.get(REST_FIELD));
  if (rest !== null) custom.set(OWN_CUSTOM, rest);
  if (custom.size > 0) item['custom'] = Object.fromEntries(custom);
  return item;
}

/** A text, which may be written as a number; empty: there is none that a member could take. */
function textOf(value: JsonValue | undefined): string {
  const text = typeof value === 'string' || isJsonNumber(value) ? String(value) : '';
  return text.length > TEXT_LENGTH_MAX ? '' : text;
}

/** The date of numbers, or of a text; whole where it says neither a span nor a doubt. */
function readIssued(value: JsonValue | undefined): RowValue | undefined {
  if (!isJsonObject(value)) return readDate(textOf(value));
  const { 'date-parts': dates, raw, literal, edtf, ...others } = value;
  const dateText = textOf(raw) || textOf(edtf) || textOf(literal);
  const isList = Array.isArray(dates);
  const [first] = isList ? dates as readonly JsonValue[] : [];
  const date = Array.isArray(first) ? readParts(first) : readDate(dateText);
  if (date === undefined) return undefined;
  const isAlone = Object.keys(others).length === 0
    && (!isList || (dateText === '' && dates.length === 1));
  return isAlone ? date : part(date.value);
}

/** `[1969, 3, 5]`, `["1969"]`; no month or day may be 0 too. */
function readParts(parts: readonly JsonValue[]): RowValue | undefined {
  const [year = 0, month, day] = parts.map((item) => Number(textOf(item)));
  return createDate(year, month || null, day || null);
}

function readAuthors(record: FieldRecord): RowValue | undefined {
  const items = listItems(record, 'author');
  if (items.length === 0 || !Array.isArray(record.fields.get('author'))) return undefined;
  const authors = items.map(readName);
  // A name that is not written as it was read, such as an organization, is kept as it stood.
  const isAll = authors.every((author, index) =>
    isDeepStrictEqual(writeName(author), items[index]));
  return isAll ? whole(authors) : part(authors);
}

function readName(item: JsonValue): Author {
  if (!isJsonObject(item)) return { name: textOf(item) };
  const textIn = (name: string): string => textOf(item[name]);
  const literal = textIn('literal');
  if (literal !== '') return { name: literal };
  const particle = textIn('non-dropping-particle');
  // `d'` and `al-` are written without a blank.
  const glue = particle === '' || /['’-]$/.test(particle) ? '' : ' ';
  return createAuthor({
    given: textIn('given'), family: (particle + glue + textIn('family')).trim(),
    droppingParticle: textIn('dropping-particle'), suffix: textIn('suffix'),
  });
}

function writeName(author: Author): JsonObject {
  const { family, given, droppingParticle, suffix } = splitAuthor(author);
  const parts = { family, given, 'dropping-particle': droppingParticle, suffix };
  return Object.fromEntries(Object.entries(parts).filter(([, piece]) => piece !== ''));
}
