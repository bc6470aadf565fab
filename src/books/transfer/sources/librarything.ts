/**
 * The exports of LibraryThing: tab-separated text, in which quotes are text, or JSON, which is one
 * object with a member for each book, named by its id. Names are `Family, Given`; in the text those
 * of `Secondary Author` and its roles have `|` between them. `Publication` is the publisher, the
 * year in brackets and what is known of the edition: `Ace (1987), Edition: 2nd, 304 pages`; from a
 * library's catalog also `New York : Ace Books, 1969`, where the place is what stands before the
 * colon. `Summary` is made of title, author and year. The text has dates of days in brackets,
 * `[2007-05-08]`, and `[Return]` where a line of a review ends. What became of a book is said by
 * its collections, or by these dates alone.
 */
import { isJsonNumber } from '../../../base/exact-number.ts';
import { foldBlanks } from '../../../base/text/fold-blanks.ts';
import { isJsonObject } from '../../../base/fields.ts';
import { skipSpace } from '../../../base/json/parse.ts';
import type { JsonObject } from '../../../base/schema.ts';
import type { FormatCodec } from '../format-codec.ts';
import { createDelimitedTextSplitter } from '../grammars/delimited-text.ts';
import { createKeyedObjectSplitter } from '../grammars/nested-json.ts';
import { readBookFormat } from '../mapping/book-format.ts';
import { readDate } from '../mapping/date-text.ts';
import {
  listItems, listTrimmedTexts, readAlike, readKeywords, readPages, readWords, splitPieces,
  textOf,
} from '../mapping/field-text.ts';
import { part, whole } from '../mapping/format-table.ts';
import type {
  BrokenRecord, FieldRecord, FieldSplitter, FormatTable, MemberRow, RowValue,
} from '../mapping/format-table.ts';
import { readHtml } from '../mapping/html-text.ts';
import { readIsbn } from '../mapping/isbn-text.ts';
import { readLanguage } from '../mapping/language.ts';
import { createRowMaker } from '../mapping/member-rows.ts';
import { createNamedAuthor, isAuthorRole } from '../mapping/person-name.ts';
import { findStatus, readRating, splitShelves } from '../mapping/reading-text.ts';
import type { StatusWords } from '../mapping/reading-text.ts';
import { createTableCodec } from '../mapping/table-codec.ts';

const { textRows, listRow, recordRow } = createRowMaker(listTrimmedTexts);

const COLLECTION_FIELDS = ['Collections', 'collections'] as const;
/** The collections that say a status; a book in several has the first. */
const STATUSES: StatusWords = new Map([
  ['currently reading', 'reading'], ['read but unowned', 'read'], ['to read', 'to-read'],
]);
const OWNED = 'your library';
const UNOWNED = 'read but unowned';

/** A row for the fields that name the first author, and the others with `|` between them. */
function makeAuthorsRow(
  first: string, firstRole: string, others: string, otherRoles: string,
): MemberRow {
  return recordRow('authors', [first, firstRole, others, otherRoles], (record) => {
    const names = [textOf(record, first), ...splitBars(textOf(record, others))];
    const roles = [textOf(record, firstRole), ...splitBars(textOf(record, otherRoles))];
    const count = Math.max(names.length, roles.length);
    return readPersons(Array.from({ length: count }, (_, index) =>
      ({ invertedName: names[index] ?? '', name: '', role: roles[index] ?? '' })));
  });
}

// The names of the text export come first, then those of the JSON export.
const librarythingTable: FormatTable = {
  name: 'librarything',
  ownIdFields: ['Book Id', 'books_id'],
  exportOf: (name) => /^[a-z]/.test(name) ? 'json' : 'text',
  rows: [
    textRows('title', ['Title', 'title']),
    makeAuthorsRow('Primary Author', 'Primary Author Role', 'Secondary Author',
      'Secondary Author Roles'),
    recordRow('authors', ['authors'], (record) => readPersons(readAuthors(record))),
    makeAuthorsRow('primaryauthor', 'primaryauthorrole', 'secondaryauthor', 'secondaryauthorroles'),
    listRow('isbn', ['ISBN', 'ISBNs'], readIsbn),
    listRow('isbn', ['originalisbn', 'isbn'], readIsbn),
    recordRow('publisher', ['Publication', 'publication'], readPublisher),
    textRows('bookEdition', ['Publication', 'publication'], readEdition),
    textRows('datePublished', ['Date', 'date'], readDate),
    textRows('numberOfPages', ['Page Count', 'pages'], readPages),
    textRows('numberOfPages', ['Publication', 'publication'], readPublicationPages),
    textRows('inLanguage', 'Languages', readLanguage),
    listRow('inLanguage', ['language', 'language_codeA'],
      (texts) => readAlike(texts, readLanguage)),
    textRows('bookFormat', 'Media', readBookFormat),
    recordRow('bookFormat', ['format'], readMedia),
    textRows('keywords', 'Tags', readKeywords),
    listRow('keywords', ['tags'], readWords),
    listRow('series', ['series'], readSeries),
    recordRow('reading.status', COLLECTION_FIELDS, readStatus),
    textRows('reading.status', ['Date Read', 'dateread'], readReadStatus),
    recordRow('reading.owned', COLLECTION_FIELDS, readOwned),
    recordRow('reading.shelves', COLLECTION_FIELDS, readShelves),
    textRows('reading.rating', ['Rating', 'rating'], readRating),
    // An end before the start is refused, so the start comes first.
    textRows('reading.startedOn', ['Date Started', 'datestarted'], readDay),
    textRows('reading.finishedOn', ['Date Read', 'dateread'], readDay),
    textRows('reading.review', 'Review', (text) => readHtml(text.replaceAll('[Return]', '\n'))),
    textRows('reading.review', 'review', readHtml),
  ].flat(),
};

export const librarythingCodec: FormatCodec =
  createTableCodec(librarythingTable, createSplitter);

const JSON_START: ReadonlySet<number> = new Set([...'{['].map((sign) => sign.charCodeAt(0)));

/** Reads whichever of the exports the first sign of a file shows it to be. */
function createSplitter(): FieldSplitter {
  const json = createKeyedObjectSplitter();
  const text = createDelimitedTextSplitter(librarythingTable, {
    // A file without tabs has been saved by a spreadsheet, which writes quotes.
    syntax: { separator: null, hasPlainTabs: true },
    requiredColumns: [['Book Id'], ['Title'], ['Primary Author']],
    isEmpty: (_column, cell) => cell === '[]',
  });
  /** Null: nothing but blanks has come, of which both count the lines. */
  let isJson: boolean | null = null;
  return {
    push(chunk) {
      const first = isJson === null ? chunk[skipSpace(chunk, 0)] : undefined;
      if (first !== undefined) isJson = JSON_START.has(first);
      const jsonItems = isJson === false ? [] : json.push(chunk);
      const textItems = isJson === true ? [] : text.push(chunk);
      return [...jsonItems, ...textItems].map(withKey);
    },
    *end() {
      for (const item of (isJson === true ? json : text).end()) {
        if (item !== null) yield withKey(item);
      }
    },
  };
}

/** Records of an array are named by their own id, as those of an object are by its members. */
function withKey(item: FieldRecord | BrokenRecord): FieldRecord | BrokenRecord {
  if (item.key !== null || 'problem' in item) return item;
  const id = item.fields.get('books_id');
  return typeof id === 'string' || isJsonNumber(id) ? { ...item, key: String(id) } : item;
}

/** `Discworld (4)`: the place of the book stands in brackets behind the name. */
const SERIES_WITH_PLACE = /^(.+) \(([0-9]{1,3}(?:\.[0-9]{1,2})?)\)$/s;

function readSeries(texts: readonly string[]): RowValue | undefined {
  if (texts.length === 0) return undefined;
  return whole(texts.map((text) => {
    const [, name, place] = SERIES_WITH_PLACE.exec(text) ?? [];
    return name === undefined ? { name: text } : { name, position: Number(place) };
  }));
}

type Person = { readonly invertedName: string; readonly name: string; readonly role: string };

function splitBars(list: string): readonly string[] {
  return splitPieces(list, '|').map((piece) => piece.trim());
}

/** The authors of the JSON export; one who is not there is an empty list. */
function readAuthors(record: FieldRecord): readonly Person[] {
  return listItems(record, 'authors').filter((item) => isJsonObject(item)).map((item) => ({
    invertedName: memberText(item, 'lf'), name: memberText(item, 'fl'),
    role: memberText(item, 'role'),
  }));
}

function memberText(value: JsonObject, name: string): string {
  const member = value[name];
  return typeof member === 'string' ? member.trim() : '';
}

/** The first person, whatever the role, and the others who are authors; all else is kept. */
function readPersons(persons: readonly Person[]): RowValue | undefined {
  const namedPersons = persons
    .filter(({ invertedName, name }) => invertedName !== '' || name !== '');
  const authors = namedPersons.filter(({ role }, index) => index === 0 || isAuthor(role));
  if (authors.length === 0) return undefined;
  const value = authors.map(({ name, invertedName }) => createNamedAuthor(name, invertedName));
  // Also the role of somebody without a name is kept.
  return persons.every(({ role }) => isAuthor(role)) ? whole(value) : part(value);
}

function isAuthor(role: string): boolean {
  return role === '' || isAuthorRole(role);
}

const YEAR_IN_BRACKETS = /\((?:c|©)?[0-9]{4}\b[^()]*\)/i;
const YEAR_AT_END = /[,;]? ?\[?(?:c|©|ca\.)? ?[0-9]{4}\??\]?\.?$/i;
/** As libraries write it: `1961. 200 p.`, `1989, c1988`, `1979-`. */
const YEAR_INSIDE = /[,;] ?\[?(?:c|©|ca\.)? ?[0-9]{4}\??\]?[-.,]/i;
const EDITION = /(?:^|, )Edition: ([^,]+)/i;
const PAGES = '[0-9]+ (?:pages|pp?\\.?|S\\.)';
const PAGES_AT_END = new RegExp(`, (${PAGES})$`, 'i');
const PAGES_OR_EDITION = new RegExp(`^(?:Edition:.*|${PAGES})$`, 'i');

function readPublisher(record: FieldRecord): RowValue | undefined {
  const publication =
    foldBlanks(textOf(record, 'Publication') || textOf(record, 'publication'));
  const date = textOf(record, 'Date') || textOf(record, 'date');
  const yearStart = YEAR_IN_BRACKETS.exec(publication)?.index;
  const start = yearStart === undefined
    ? cutEdition(publication) : publication.slice(0, yearStart);
  const colon = start.indexOf(' : ');
  const publisher = trimSigns(colon < 0 ? start : start.slice(colon + 3));
  if (publisher === '') return undefined;
  const isAll = publication === publisher || publication === `${publisher} (${date})`;
  return isAll ? whole(publisher) : part(publisher);
}

/** The text without the signs at its end that led to what stood behind it. */
function trimSigns(start: string): string {
  let end = start.length;
  while (end > 0 && ' ,;:'.includes(start.charAt(end - 1))) end -= 1;
  return start.slice(0, end).trim();
}

/** A publication that has no year in brackets, without what stands behind the publisher. */
function cutEdition(publication: string): string {
  const text = publication.slice(0, YEAR_INSIDE.exec(publication)?.index);
  const pieces = [...splitPieces(text, ', ')];
  while (pieces.length > 1) {
    const last = pieces.at(-1) ?? '';
    if (!PAGES_OR_EDITION.test(last) && readBookFormat(last) === undefined) break;
    pieces.pop();
  }
  const publisher = pieces.join(', ');
  return YEAR_AT_END.test(publisher) && !/^[0-9]+$/.test(publisher)
    ? publisher.replace(YEAR_AT_END, '') : publisher;
}

function readEdition(publication: string): RowValue | undefined {
  const [, edition = ''] = EDITION.exec(publication) ?? [];
  return edition.trim() === '' ? undefined : part(edition.trim());
}

/** `304 pages`, and as libraries write it, `512 p.` and `1002 S.` */
function readPublicationPages(publication: string): RowValue | undefined {
  const [, text = ''] = PAGES_AT_END.exec(publication) ?? [];
  const pages = readPages(text.replace(/ S\.$/i, ''));
  return pages === undefined ? undefined : part(pages.value);
}

/** The medium, whose code is kept. */
function readMedia(record: FieldRecord): RowValue | undefined {
  const [first] = listItems(record, 'format');
  const read = isJsonObject(first) ? readBookFormat(memberText(first, 'text')) : undefined;
  return read === undefined ? undefined : part(read.value);
}

/** The names of the collections; those of the text export have commas between them. */
function listCollections(record: FieldRecord): readonly string[] {
  return [...splitShelves(textOf(record, 'Collections')),
    ...listTrimmedTexts(record, 'collections').texts];
}

/** Collections say several things in one field, which is kept. */
function readStatus(record: FieldRecord): RowValue | undefined {
  const statuses = listCollections(record).map((name) => findStatus(STATUSES, name));
  const status = [...STATUSES.values()].find((one) => statuses.includes(one));
  return status === undefined ? undefined : part(status);
}

/** A book that somebody has read to its end; the day is that of the reading. */
function readReadStatus(date: string): RowValue | undefined {
  return readDay(date) === undefined ? undefined : part('read');
}

function readOwned(record: FieldRecord): RowValue | undefined {
  const names = listCollections(record).map((name) => name.toLowerCase());
  if (names.includes(OWNED)) return part(true);
  return names.includes(UNOWNED) ? part(false) : undefined;
}

function readShelves(record: FieldRecord): RowValue | undefined {
  const shelves = listCollections(record).filter((name) =>
    findStatus(STATUSES, name) === undefined && name.toLowerCase() !== OWNED);
  return shelves.length === 0 ? undefined : part(shelves);
}

/** A day, with brackets around it in the text export. */
function readDay(text: string): RowValue | undefined {
  return readDate(text.startsWith('[') && text.endsWith(']') ? text.slice(1, -1) : text);
}
