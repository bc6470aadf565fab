/**
 * The exports of LibraryThing: tab-separated text, in which quotes are text, or JSON, which is one
 * object with a member for each book, named by its id. Names are `Family, Given`; in the text those
 * of `Secondary Author` and its roles have `|` between them. `Publication` is the publisher, the
 * year in brackets and what is known of the edition: `Ace (1987), Edition: 2nd, 304 pages`; from a
 * library's catalog also `New York : Ace Books, 1969`, where the place is what stands before the
 * colon. `Summary` is made of title, author and year.
 */
import { isJsonNumber } from '../../../base/exact-number.ts';
import { foldBlanks } from '../../../base/text/fold-blanks.ts';
import { isJsonObject } from '../../../base/fields.ts';
import type { JsonObject } from '../../../base/schema.ts';
import { ByteCollector } from '../../../base/structures/byte-collector.ts';
import type { FormatCodec } from '../format-codec.ts';
import { createDelimitedTextSplitter } from '../grammars/delimited-text.ts';
import { KeyedObjectSplitter } from '../grammars/nested-json.ts';
import { readBookFormat } from '../mapping/book-format.ts';
import { readDate } from '../mapping/date-text.ts';
import {
  listOf, readKeywords, readPages, textOf,
} from '../mapping/field-text.ts';
import { part, whole } from '../mapping/format-table.ts';
import type {
  BookMember, BrokenRecord, FieldRecord, FieldSplitter, FormatTable, MemberRow, RowValue,
} from '../mapping/format-table.ts';
import { readIsbn } from '../mapping/isbn-text.ts';
import { readLanguage } from '../mapping/language.ts';
import { createTableCodec } from '../mapping/mapped-splitter.ts';
import { createAuthor, isAuthorRole, splitInvertedName } from '../mapping/person-name.ts';

/** A row for a member that is a text in both exports, under a name in each. */
function makeRows(
  member: BookMember, names: readonly string[], read: (text: string) => RowValue | undefined,
): readonly MemberRow[] {
  return names.map((name) => ({
    member, from: [name],
    read(record) {
      const text = textOf(record, name);
      return text === '' ? undefined : read(text);
    },
  }));
}

/** A row for the fields that name the first author, and the others with `|` between them. */
function makeAuthorsRow(
  first: string, firstRole: string, others: string, otherRoles: string,
): MemberRow {
  return {
    member: 'authors', from: [first, firstRole, others, otherRoles],
    read(record) {
      const names = [textOf(record, first), ...splitBars(textOf(record, others))];
      const roles = [textOf(record, firstRole), ...splitBars(textOf(record, otherRoles))];
      const count = Math.max(names.length, roles.length);
      return readPersons(Array.from({ length: count }, (_, index) =>
        ({ invertedName: names[index] ?? '', name: '', role: roles[index] ?? '' })));
    },
  };
}

const librarythingTable: FormatTable = {
  name: 'librarything',
  ownIdFields: ['Book Id', 'books_id'],
  restField: null,
  isBook: () => true,
  rows: [
    ...makeRows('title', ['Title', 'title'], whole),
    makeAuthorsRow('Primary Author', 'Primary Author Role', 'Secondary Author',
      'Secondary Author Roles'),
    { member: 'authors', from: ['authors'], read: (record) => readPersons(readAuthors(record)) },
    makeAuthorsRow('primaryauthor', 'primaryauthorrole', 'secondaryauthor', 'secondaryauthorroles'),
    {
      member: 'isbn', from: ['ISBN', 'ISBNs'],
      read: (record) =>
        readIsbn([textOf(record, 'ISBN'), ...textOf(record, 'ISBNs').split(',')]),
    },
    {
      member: 'isbn', from: ['originalisbn', 'isbn'],
      read: (record) => readIsbn([textOf(record, 'originalisbn'), ...textsOf(record, 'isbn')]),
    },
    { member: 'publisher', from: ['Publication', 'publication'], read: readPublisher },
    ...makeRows('bookEdition', ['Publication', 'publication'], readEdition),
    ...makeRows('datePublished', ['Date', 'date'], readDate),
    ...makeRows('numberOfPages', ['Page Count', 'pages'], readPages),
    ...makeRows('inLanguage', ['Languages'], readLanguageName),
    { member: 'inLanguage', from: ['language', 'language_codeA'], read: readLanguages },
    ...makeRows('bookFormat', ['Media'], readBookFormat),
    { member: 'bookFormat', from: ['format'], read: readMedia },
    ...makeRows('keywords', ['Tags'], readKeywords),
    { member: 'keywords', from: ['tags'], read: readTags },
  ],
};

export const librarythingCodec: FormatCodec =
  createTableCodec(librarythingTable, () => new LibrarythingSplitter());

const LINE_FEED = 0x0a;
const TAB = 0x09;
const BRACE = 0x7b;
const BRACKET = 0x5b;
const BLANKS: ReadonlySet<number> = new Set([LINE_FEED, TAB, 0x0d, 0x20]);
// The header of a text export has some 700 bytes.
const HEAD_BYTES_MAX = 64 * 1024;

/** Reads whichever of the exports the start of a file shows it to be. */
class LibrarythingSplitter implements FieldSplitter {
  #splitter: FieldSplitter | null = null;
  /** The bytes until it is known. */
  readonly #head = new ByteCollector();
  /** The first byte that is no blank; null: none has come. */
  #firstByte: number | null = null;
  #hasTabs = false;

  push(chunk: Buffer): readonly (FieldRecord | BrokenRecord)[] {
    if (this.#splitter !== null) return this.#splitter.push(chunk).map(withKey);
    const isEnough = this.#endsFirstLine(chunk) || this.#head.length > HEAD_BYTES_MAX;
    this.#head.add(chunk);
    return isEnough ? this.#start() : [];
  }

  end(): readonly (FieldRecord | BrokenRecord)[] {
    const records = this.#splitter === null ? this.#start() : [];
    const lastRecords = [...this.#splitter?.end() ?? []].filter((record) => record !== null);
    return [...records, ...lastRecords.map(withKey)];
  }

  /** Whether the first line that is not blank ends in the chunk. */
  #endsFirstLine(chunk: Buffer): boolean {
    for (const byte of chunk) {
      if (byte === LINE_FEED && this.#firstByte !== null) return true;
      if (byte === TAB) this.#hasTabs = true;
      if (!BLANKS.has(byte)) this.#firstByte ??= byte;
    }
    return false;
  }

  #start(): readonly (FieldRecord | BrokenRecord)[] {
    const isJson = this.#firstByte === BRACE || this.#firstByte === BRACKET;
    this.#splitter = isJson ? new KeyedObjectSplitter() : createTextSplitter(this.#hasTabs);
    return this.#splitter.push(this.#head.take()).map(withKey);
  }
}

/** A file without tabs has been saved by a spreadsheet, which writes quotes. */
function createTextSplitter(hasTabs: boolean): FieldSplitter {
  return createDelimitedTextSplitter({
    title: 'a LibraryThing export',
    syntax: hasTabs ? { separator: '\t', hasQuotes: false } : { separator: null, hasQuotes: true },
    requiredColumns: [['Book Id'], ['Title'], ['Primary Author']],
    keyColumns: ['Book Id'],
    isEmpty: (_column, text) => text === '[]',
  });
}

/** Records of an array are named by their own id, as those of an object are by its members. */
function withKey(record: FieldRecord | BrokenRecord): FieldRecord | BrokenRecord {
  if (record.key !== null || 'problem' in record) return record;
  const id = record.fields.get('books_id');
  return typeof id === 'string' || isJsonNumber(id) ? { ...record, key: String(id) } : record;
}

/** The texts among the items of a list. */
function textsOf(record: FieldRecord, name: string): readonly string[] {
  return listOf(record, name).filter((item) => typeof item === 'string')
    .map((item) => item.trim());
}

type Person = { readonly invertedName: string; readonly name: string; readonly role: string };

function splitBars(text: string): readonly string[] {
  return text.split('|').map((piece) => piece.trim());
}

/** The authors of the JSON export; one who is not there is an empty list. */
function readAuthors(record: FieldRecord): readonly Person[] {
  return listOf(record, 'authors').filter((item) => isJsonObject(item)).map((item) => ({
    invertedName: memberText(item, 'lf'), name: memberText(item, 'fl'),
    role: memberText(item, 'role'),
  }));
}

function memberText(value: JsonObject, name: string): string {
  const text = value[name];
  return typeof text === 'string' ? text.trim() : '';
}

/** The first person, whatever the role, and the others who are authors; all else is kept. */
function readPersons(persons: readonly Person[]): RowValue | undefined {
  const named = persons.filter(({ invertedName, name }) => invertedName !== '' || name !== '');
  const authors = named.filter(({ role }, index) => index === 0 || isAuthor(role));
  if (authors.length === 0) return undefined;
  const value = authors.map(readPerson);
  // Also the role of somebody without a name is kept.
  return persons.every(({ role }) => isAuthor(role)) ? whole(value) : part(value);
}

function isAuthor(role: string): boolean {
  return role === '' || isAuthorRole(role);
}

function readPerson({ invertedName, name }: Person): JsonObject {
  const displayName = foldBlanks(name);
  const author = createAuthor(splitInvertedName(foldBlanks(invertedName)));
  const isSameName = displayName === '' || author['name'] === displayName;
  if (invertedName.includes(',') && isSameName) return author;
  return { name: displayName === '' ? foldBlanks(invertedName) : displayName };
}

const YEAR_IN_BRACKETS = /\((?:c|©)?[0-9]{4}\b[^()]*\)/i;
const YEAR_AT_END = /[,;]? ?\[?(?:c|©|ca\.)? ?[0-9]{4}\??\]?\.?$/i;
const EDITION = /(?:^|, )Edition: ([^,]+)/i;
const PAGES_OR_EDITION = /^(?:Edition:.*|[0-9]+ (?:pages|p\.?))$/i;

function readPublisher(record: FieldRecord): RowValue | undefined {
  const text = foldBlanks(textOf(record, 'Publication') || textOf(record, 'publication'));
  const date = textOf(record, 'Date') || textOf(record, 'date');
  const yearStart = YEAR_IN_BRACKETS.exec(text)?.index;
  const start = yearStart === undefined ? cutEdition(text) : text.slice(0, yearStart);
  const colon = start.indexOf(' : ');
  const publisher = trimSigns(colon < 0 ? start : start.slice(colon + 3));
  if (publisher === '') return undefined;
  const isAll = text === publisher || text === `${publisher} (${date})`;
  return isAll ? whole(publisher) : part(publisher);
}

/** The text without the signs at its end that led to what stood behind it. */
function trimSigns(text: string): string {
  let end = text.length;
  while (end > 0 && ' ,;:'.includes(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end).trim();
}

/** A publication that has no year in brackets, without what stands behind the publisher. */
function cutEdition(text: string): string {
  const pieces = text.split(', ');
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

const TIME_IN_BRACKETS = /^([^()]+) \(([^()]+)\)$/;

/** Languages of other times are named `Greek (Ancient)`. */
function readLanguageName(text: string): RowValue | undefined {
  return readLanguage(text) ?? readLanguage(text.replace(TIME_IN_BRACKETS, '$2 $1'));
}

function readLanguages(record: FieldRecord): RowValue | undefined {
  const names = textsOf(record, 'language');
  const codes = textsOf(record, 'language_codeA');
  const read = readLanguageName(names.join(', ')) ?? readLanguage(codes.join(', '));
  if (read === undefined || !read.isWhole || codes.length === 0) return read;
  return readLanguage(codes.join(', '))?.value === read.value ? read : part(read.value);
}

/** The medium, whose code is kept. */
function readMedia(record: FieldRecord): RowValue | undefined {
  const [first] = listOf(record, 'format');
  const read = isJsonObject(first) ? readBookFormat(memberText(first, 'text')) : undefined;
  return read === undefined ? undefined : part(read.value);
}

function readTags(record: FieldRecord): RowValue | undefined {
  const tags = textsOf(record, 'tags').filter((tag) => tag !== '');
  if (tags.length === 0) return undefined;
  const list = record.fields.get('tags');
  return Array.isArray(list) && list.length > tags.length ? part(tags) : whole(tags);
}
