/**
 * The values of a JSON-LD node, which may be texts, numbers, objects or lists of these. A value is
 * read whole only where all of its items, and all members of them, are read.
 */
import { isJsonNumber } from '../../../base/exact-number.ts';
import { isJsonObject } from '../../../base/fields.ts';
import type { JsonObject, JsonValue } from '../../../base/schema.ts';
import type { Author } from '../../book.ts';
import { readDate } from '../mapping/date-text.ts';
import {
  LIST_LENGTH_MAX, TEXT_LENGTH_MAX, readFirst, readKeywords,
} from '../mapping/field-text.ts';
import type { FieldTexts, TextReader } from '../mapping/field-text.ts';
import { part, whole } from '../mapping/format-table.ts';
import type { RowValue } from '../mapping/format-table.ts';
import { readAuthorNames } from '../mapping/person-name.ts';

type ItemText = {
  /** Null: the item has none. */
  readonly text: string | null;
  /** Whether the text says all that the item says. */
  readonly isWhole: boolean;
};

/** The members in which an object has its text: value, name, an image's address, own id. */
const TEXT_MEMBERS = ['@value', 'name', 'contentUrl', 'url', '@id'] as const;

/** The type of a value that is a text: its address says nothing of what it is. */
export const TEXT = 'Text';
const NAME_MEMBERS = ['@value', 'name'] as const;

/** The texts of a value. An object of `type` says no more than its text. */
export function findTexts(value: JsonValue | undefined, type = ''): FieldTexts {
  const items = listItems(value).map((item) => readItem(item, type));
  return {
    texts: items.flatMap(({ text }) => text ?? []),
    isWhole: items.every(({ isWhole }) => isWhole),
  };
}

function readItem(item: JsonValue, type = ''): ItemText {
  if (typeof item === 'string' || isJsonNumber(item)) {
    const text = String(item);
    if (text.length <= TEXT_LENGTH_MAX) return { text, isWhole: true };
  }
  if (!isJsonObject(item)) return { text: null, isWhole: false };
  // An address is no name of an organization.
  const members = type === '' ? TEXT_MEMBERS : NAME_MEMBERS;
  const name = members.find((member) => Object.hasOwn(item, member));
  // An IRI is never a name.
  const text = name === undefined ? undefined
    : readFirst(findTexts(item[name], name === 'name' ? TEXT : ''));
  if (text === undefined) return { text: null, isWhole: false };
  // The language of a text says more than our model holds; that a number is one does not.
  const saysNoMore = Object.keys(item).every((member) => member === name
    || (member === '@type' && (name === '@value' || item['@type'] === type)));
  return { text: String(text.value), isWhole: text.isWhole && saysNoMore };
}

export function listItems(value: JsonValue | undefined): readonly JsonValue[] {
  if (value === undefined || value === null) return [];
  if (Array.isArray(value)) return value.flatMap((item: JsonValue) => listItems(item));
  if (!isJsonObject(value)) return [value];
  const list = value['@list'] ?? value['@set'];
  return list === undefined ? [value] : listItems(list);
}

/** One text holds keywords by commas; in a list each text is one. */
export function readKeywordList(value: JsonValue | undefined): RowValue | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'string' && value.length <= TEXT_LENGTH_MAX) return readKeywords(value);
  const { texts, isWhole } = findTexts(value, TEXT);
  if (texts.length === 0 && !Array.isArray(value)) return undefined;
  return { value: texts, isWhole };
}

const PERSON = 'Person';
const ADDRESS = 'PostalAddress';

/** How each member of an object is read. */
type MemberReaders = ReadonlyMap<string, (value: JsonValue) => RowValue | undefined>;

const ADDRESS_READERS: MemberReaders = new Map([
  'streetAddress', 'addressLocality', 'addressRegion', 'postalCode', 'addressCountry',
].map((name) => [name, makeReader('')]));

const PERSON_READERS: MemberReaders = new Map([
  ...['name', 'givenName', 'familyName'].map((name) => [name, makeReader(TEXT, readName)] as const),
  ['url', makeReader('')],
  ...['birthDate', 'deathDate'].map((name) => [name, makeReader('', readDate)] as const),
  ['address', readAddress],
]);

function makeReader(type: string, read?: TextReader): (value: JsonValue) => RowValue | undefined {
  return (value) => readFirst(findTexts(value, type), read);
}

export function readPeople(value: JsonValue | undefined): RowValue | undefined {
  const items = listItems(value);
  const people: RowValue[] = [];
  for (const item of items.slice(0, LIST_LENGTH_MAX)) {
    if (people.length < LIST_LENGTH_MAX) people.push(...readPersons(item));
  }
  if (people.length === 0) return undefined;
  const isWhole = items.length < LIST_LENGTH_MAX && people.every((person) => person.isWhole);
  return { value: people.map((person) => person.value), isWhole };
}

/** The authors of an item; of a text there may be several. */
function readPersons(item: JsonValue): readonly RowValue[] {
  const isList = typeof item === 'string' && item.length <= TEXT_LENGTH_MAX && item.includes(';');
  if (!isList) return [readPerson(item)];
  return readAuthorNames(item).map((author) => part(author));
}

/** A name; undefined for an IRI, which is none. */
export function readName(text: string): RowValue | undefined {
  return IRI.test(text) ? undefined : whole(text);
}

const IRI = /^(?:_:|https?:\/\/|urn:)\S*$/i;

/** An author; one without a name, such as a reference to another node, is refused by the model. */
function readPerson(item: JsonValue): RowValue {
  if (!isJsonObject(item) || item['@value'] !== undefined) {
    const { text, isWhole } = readItem(item);
    return { value: { name: text === null ? '' : readName(text)?.value ?? '' }, isWhole };
  }
  const { value: person, isWhole } = readMembers(item, PERSON, PERSON_READERS);
  const { givenName = '', familyName = '' } = person;
  const name = `${String(givenName)} ${String(familyName)}`.trim();
  return { value: { name, ...person }, isWhole };
}

function readAddress(value: JsonValue): RowValue | undefined {
  const [address, ...others] = listItems(value);
  if (!isJsonObject(address)) return undefined;
  const { value: members, isWhole } = readMembers(address, ADDRESS, ADDRESS_READERS);
  return { value: members, isWhole: isWhole && others.length === 0 };
}

/** The members that have a reader, and whether they say all that the object says. */
function readMembers(
  item: JsonObject, type: string, readers: MemberReaders,
): { readonly value: JsonObject; readonly isWhole: boolean } {
  const members = new Map<string, JsonValue>();
  let isWhole = true;
  for (const [name, value] of Object.entries(item)) {
    if (value === null || (name === '@type' && value === type)) continue;
    const member = readers.get(name)?.(value);
    if (member !== undefined) members.set(name, member.value);
    isWhole &&= member?.isWhole === true;
  }
  return { value: Object.fromEntries(members), isWhole };
}

export function writePerson({ address, ...author }: Author): JsonObject {
  const person = { '@type': PERSON, ...author };
  return address === undefined ? person : { ...person, address: { '@type': ADDRESS, ...address } };
}
