/**
 * JSON-LD (W3C JSON-LD 1.1) with schema.org's Book, from which our model has its names. One book is
 * an object, several are the `@graph` of one, with `https://schema.org` as the context; nothing is
 * written that schema.org does not define for the type.
 *
 * Where it is read, a field has the name that it has in the file; those that a row reads have
 * schema.org's, at every depth. A field that schema.org has under another name in the file, as
 * `schema:genre`, is written under its own.
 */
import { isJsonObject } from '../../../base/fields.ts';
import { encodeJson } from '../../../base/json/encode.ts';
import type { JsonObject, JsonValue } from '../../../base/schema.ts';
import { BOOK_FORMATS, decodeBook } from '../../book.ts';
import type { Author, Book } from '../../book.ts';
import type { BookWriter, FormatCodec, WriterOptions } from '../format-codec.ts';
import { JsonNodeSplitter } from '../grammars/nested-json.ts';
import type { JsonNode } from '../grammars/nested-json.ts';
import { readBookFormat } from '../mapping/book-format.ts';
import { readDate, readIsbn, readKeywords, readPages } from '../mapping/field-text.ts';
import { whole } from '../mapping/format-table.ts';
import type {
  BookMember, BrokenRecord, FieldRecord, FieldSplitter, FormatTable, MemberRow, RowValue,
} from '../mapping/format-table.ts';
import { readLanguage } from '../mapping/language.ts';
import { MappedSplitter } from '../mapping/mapped-splitter.ts';
import { writeRecord } from '../mapping/write-record.ts';
import { ContextTerms } from './jsonld-terms.ts';
import { isBookProperty } from './schema-org.ts';

const CONTEXT = 'https://schema.org';
const BOOK_TYPES: readonly string[] = ['Book', 'Audiobook'];

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
    read: ({ fields }) => readIsbn(readTexts(fields.get('isbn')).map(({ text }) => text)),
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
    read: ({ fields }) => pickFirst(readTexts(fields.get('publisher'), ORGANIZATION)),
    write: ({ publisher }) => publisher === undefined
      ? [] : [['publisher', { '@type': ORGANIZATION, name: publisher }]],
  },
  {
    member: 'datePublished', from: ['datePublished'],
    read: ({ fields }) => pickFirst(readTexts(fields.get('datePublished')), readDate),
    write: ({ datePublished }) =>
      datePublished === undefined ? [] : [['datePublished', datePublished]],
  },
  {
    member: 'inLanguage', from: ['inLanguage'],
    read: ({ fields }) => pickFirst(readTexts(fields.get('inLanguage')), readLanguage),
  },
  // Such as `und`: a tag that names no language.
  textRow('inLanguage', 'inLanguage'),
  {
    member: 'numberOfPages', from: ['numberOfPages'],
    read: ({ fields }) => pickFirst(readTexts(fields.get('numberOfPages')), readPages),
    write: ({ numberOfPages }) =>
      numberOfPages === undefined ? [] : [['numberOfPages', numberOfPages]],
  },
  textRow('bookEdition', 'bookEdition'),
  {
    member: 'bookFormat', from: ['bookFormat'],
    read: ({ fields }) => pickFirst(readTexts(fields.get('bookFormat')), findBookFormat),
    write: ({ bookFormat }) =>
      bookFormat === undefined ? [] : [['bookFormat', `${CONTEXT}/${bookFormat}`]],
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

const jsonldTable: FormatTable = {
  name: 'jsonld',
  rows: ROWS,
  ownIdFields: ['@id'],
  restField: null,
  // A node without a type, in a file of books, is one.
  isBook: (type) => type === '' || BOOK_TYPES.includes(type),
};

export const jsonldCodec: FormatCodec = {
  createReader: ({ hasAllTypes }) =>
    new MappedSplitter(createJsonldSplitter(), jsonldTable, hasAllTypes),
  createWriter: createNodeWriter,
  ownIdFields: jsonldTable.ownIdFields,
};

const READ_FIELDS: ReadonlySet<string> =
  new Set(['@id', '@type', ...ROWS.flatMap(({ from }) => from)]);

function createJsonldSplitter(): FieldSplitter {
  const splitter = new JsonNodeSplitter();
  const read = (item: JsonNode | BrokenRecord): FieldRecord | BrokenRecord =>
    'problem' in item ? item : readNode(item);
  return {
    push: (chunk) => splitter.push(chunk).map(read),
    end: () => splitter.end().map(read),
  };
}

function readNode({ line, node, contexts }: JsonNode): FieldRecord {
  const terms = ContextTerms.schemaOrg.with([...contexts, node['@context'] ?? []]);
  const fields = new Map<string, JsonValue>();
  for (const [name, value] of Object.entries(node)) {
    if (name === '@context') continue;
    const known = terms.resolve(name);
    if (known !== null && READ_FIELDS.has(known) && !fields.has(known)) {
      fields.set(known, resolveNames(value, terms, known));
    } else {
      // The rows must take neither another vocabulary's name nor a second one for schema.org's.
      const ownName = READ_FIELDS.has(name) ? terms.expand(name) : name;
      if (ownName !== null) fields.set(ownName, value);
    }
  }
  const types = readTexts(fields.get('@type')).map(({ text }) => text);
  const type = types.find((name) => BOOK_TYPES.includes(name)) ?? types[0] ?? '';
  if (types.length <= 1) fields.delete('@type');
  const [id] = readTexts(fields.get('@id'));
  // The name of a blank node holds within its file alone.
  const hasId = id !== undefined && id.text !== '' && !id.text.startsWith('_:');
  fields.delete('@id');
  if (hasId) fields.set('@id', id.text);
  return { line, key: hasId ? id.text : null, type, fields };
}

/** Fields whose texts are names of schema.org, perhaps with a prefix. */
const NAME_FIELDS: ReadonlySet<string> = new Set(['@type', 'bookFormat']);

/** Members of an object that hold the value of the field itself. */
const VALUE_MEMBERS: ReadonlySet<string> = new Set(['@value', '@id', '@list', '@set']);

/** The value with schema.org's names for its members, and for what it names itself. */
function resolveNames(value: JsonValue, terms: ContextTerms, field: string): JsonValue {
  if (typeof value === 'string') {
    return NAME_FIELDS.has(field) ? terms.resolve(value) ?? value : value;
  }
  if (Array.isArray(value)) {
    return value.map((item: JsonValue) => resolveNames(item, terms, field));
  }
  if (!isJsonObject(value)) return value;
  const inner = value['@context'] === undefined ? terms : terms.with(value['@context']);
  return Object.fromEntries(Object.entries(value).filter(([name]) => name !== '@context')
    .map(([name, item]) => {
      const known = inner.resolve(name) ?? name;
      return [known, resolveNames(item, inner, VALUE_MEMBERS.has(known) ? field : known)];
    }));
}

type ReadText = {
  readonly text: string;
  /** Whether the text says all that stands there. */
  readonly isWhole: boolean;
};

/** The texts of a value: text, a number, a value object, a node by its name, or lists of these. */
function readTexts(value: JsonValue | undefined, type = ''): readonly ReadText[] {
  return listItems(value).flatMap((item) => {
    if (typeof item === 'string' || typeof item === 'number') {
      return [{ text: String(item), isWhole: true }];
    }
    if (!isJsonObject(item)) return [];
    const names = Object.keys(item);
    const name = TEXT_MEMBERS.find((member) => names.includes(member));
    const text = name === undefined ? undefined : readTexts(item[name])[0]?.text;
    if (name === undefined || text === undefined) return [];
    // The language of a text says more than our model holds; that a number is one does not.
    const isWhole = names.every((member) => member === name
      || (member === '@type' && (name === '@value' || item['@type'] === type)));
    return [{ text, isWhole }];
  });
}

/** Where an object has its text: a value, a thing's name, an image's address, a node's own id. */
const TEXT_MEMBERS = ['@value', 'name', 'contentUrl', 'url', '@id'] as const;

function listItems(value: JsonValue | undefined): readonly JsonValue[] {
  if (value === undefined || value === null) return [];
  if (Array.isArray(value)) return value.flatMap((item: JsonValue) => listItems(item));
  if (!isJsonObject(value)) return [value];
  const list = value['@list'] ?? value['@set'];
  return list === undefined ? [value] : listItems(list);
}

/** The first text that `read` takes; the others, where there are more, are not said by it. */
function pickFirst(
  texts: readonly ReadText[], read: (text: string) => RowValue | undefined = whole,
): RowValue | undefined {
  for (const { text, isWhole } of texts) {
    const value = read(text);
    if (value === undefined) continue;
    return { ...value, isWhole: isWhole && value.isWhole && texts.length === 1 };
  }
  return undefined;
}

function textRow(
  member: Extract<BookMember, 'title' | 'subtitle' | 'inLanguage' | 'bookEdition' | 'description'
    | 'url' | 'image'>, name: string,
): MemberRow {
  return {
    member, from: [name],
    read: ({ fields }) => pickFirst(readTexts(fields.get(name))),
    write: (book) => {
      const text = book[member];
      return text === undefined ? [] : [[name, text]];
    },
  };
}

const PERSON = 'Person';
const ORGANIZATION = 'Organization';
const ADDRESS = 'PostalAddress';
const PERSON_TEXTS = ['name', 'givenName', 'familyName', 'url'] as const;
const PERSON_DATES = ['birthDate', 'deathDate'] as const;
const ADDRESS_TEXTS = [
  'streetAddress', 'addressLocality', 'addressRegion', 'postalCode', 'addressCountry',
] as const;

function readPeople(value: JsonValue | undefined): RowValue | undefined {
  const people = listItems(value).map(readPerson);
  if (people.length === 0) return undefined;
  return {
    value: people.map((person) => person.value), isWhole: people.every(({ isWhole }) => isWhole),
  };
}

/** An author; one without a name, such as a reference to another node, is refused by the model. */
function readPerson(item: JsonValue): RowValue {
  if (!isJsonObject(item) || item['@value'] !== undefined) {
    const [name] = readTexts(item);
    return { value: { name: name?.text ?? '' }, isWhole: name?.isWhole === true };
  }
  const { values, isWhole } = readMembers(item, PERSON, PERSON_TEXTS);
  const person: Record<string, JsonValue> = { ...values };
  let saysAll = isWhole;
  for (const name of PERSON_DATES) {
    const date = pickFirst(readTexts(item[name]), readDate);
    if (date !== undefined) person[name] = date.value;
    saysAll &&= item[name] === undefined || date?.isWhole === true;
  }
  const [address] = listItems(item['address']);
  if (isJsonObject(address)) {
    const read = readMembers(address, ADDRESS, ADDRESS_TEXTS);
    person['address'] = read.values;
    saysAll &&= read.isWhole;
  } else if (address !== undefined) {
    saysAll = false;
  }
  const { givenName = '', familyName = '' } = values;
  person['name'] ??= `${givenName} ${familyName}`.trim();
  return { value: person, isWhole: saysAll };
}

const PERSON_MEMBERS: readonly string[] = [...PERSON_DATES, 'address'];

/** The texts of an object, and whether they say all but what stands in `PERSON_MEMBERS`. */
function readMembers(
  item: JsonObject, type: string, names: readonly string[],
): { readonly values: Readonly<Record<string, string>>; readonly isWhole: boolean } {
  const values: Record<string, string> = {};
  let isWhole = true;
  for (const [name, value] of Object.entries(item)) {
    const texts = names.includes(name) ? readTexts(value) : [];
    const [first] = texts;
    if (first !== undefined) values[name] = first.text;
    const isKnown = name === '@type' ? value === type : PERSON_MEMBERS.includes(name);
    isWhole &&= isKnown || (first?.isWhole === true && texts.length === 1);
  }
  return { values, isWhole };
}

function writePerson({ address, ...author }: Author): JsonObject {
  const person = { '@type': PERSON, ...author };
  return address === undefined ? person : { ...person, address: { '@type': ADDRESS, ...address } };
}

/** A format by schema.org's name, or by a word that other programs have for it. */
function findBookFormat(text: string): RowValue | undefined {
  const format = BOOK_FORMATS.find((name) => name.toLowerCase() === text.toLowerCase());
  return format === undefined ? readBookFormat(text) : whole(format);
}

/** One text holds keywords by commas; in a list each text is one. */
function readKeywordList(value: JsonValue | undefined): RowValue | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'string') return readKeywords(value);
  const texts = readTexts(value);
  const isWhole = texts.length === listItems(value).length
    && texts.every((text) => text.isWhole);
  return { value: texts.map(({ text }) => text), isWhole };
}

function createNodeWriter({ isOneBook = false }: WriterOptions): BookWriter {
  let leftOutCount = 0;
  let separator = '';
  const encode = (bytes: Buffer, context: JsonObject): string => {
    const { node, leavesOut } = writeNode(decodeBook(bytes), context);
    if (leavesOut) leftOutCount += 1;
    return encodeJson(node);
  };
  const graphWriter = {
    begin: () => `{"@context":"${CONTEXT}","@graph":[`,
    write: (books: readonly Buffer[]) => books.map((bytes) => {
      const text = `${separator}\n${encode(bytes, {})}`;
      separator = ',';
      return text;
    }).join(''),
    end: () => '\n]}\n',
  };
  const objectWriter = {
    begin: () => '',
    write: (books: readonly Buffer[]) => books.map((bytes) =>
      `${encode(bytes, { '@context': CONTEXT })}\n`).join(''),
    end: () => '',
  };
  return {
    get leftOutCount() {
      return leftOutCount;
    },
    ...isOneBook ? objectWriter : graphWriter,
  };
}

/** The node of a book. `leavesOut`: whether it lacks metadata of the book. */
function writeNode(
  book: Book, context: JsonObject,
): { readonly node: JsonObject; readonly leavesOut: boolean } {
  const { key, fields, leavesOut } = writeRecord(jsonldTable, book);
  const types = fields.get('@type') ?? 'Book';
  // Our own id where the book came with none: by it an import finds the book again.
  const node: Record<string, JsonValue> =
    { ...context, '@type': types, '@id': key ?? `urn:uuid:${book.id}` };
  let isWhole = true;
  for (const [name, value] of fields) {
    const known = ContextTerms.schemaOrg.resolve(name);
    if (known !== null && isBookProperty(known)) node[known] ??= withoutForeignNames(value);
    else isWhole &&= known === '@type';
  }
  return { node, leavesOut: leavesOut || !isWhole };
}

const OWN_NAME = /^@?[A-Za-z]+$/;

/** A value from another file without the members that are no names of schema.org by their form. */
function withoutForeignNames(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map((item: JsonValue) => withoutForeignNames(item));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).filter(([name]) => OWN_NAME.test(name))
    .map(([name, item]) => [name, withoutForeignNames(item)]));
}
