/** Compares two books member by member. Pure. */
import { separateMembers } from '../../base/dotted-members.ts';
import { encodeJson, isContainer, parseJson } from '../../base/json-text.ts';
import type { Book } from '../../../books/book.ts';
import {
  COMBINED_MEMBERS, METADATA, chooseValues, type MergeChoice,
} from '../../../books/merge-choice.ts';

export type ComparedMember = {
  /** Names of members, and positions in lists from 0 on: `['authors', 0, 'name']`. */
  readonly path: MemberPath;
  /** The value of each book; undefined: it has none. */
  readonly values: readonly [first: unknown, second: unknown];
  readonly isDifferent: boolean;
};

export type MemberPath = readonly (string | number)[];

/**
 * All members of both but those that the service gives, in the order of the first book, and then
 * what the second alone has. Members of objects stand for themselves; a list of texts is one value,
 * and an empty one is none.
 */
export function compareBooks(first: Book, second: Book): readonly ComparedMember[] {
  return compareValues(listValues([], omitGiven(first)), listValues([], omitGiven(second)))
    .map(({ key, ...values }) => ({ path: parseJson(key), ...values }));
}

/** A member in which two books differ, and of which a value has to be chosen for a merge. */
type ComparedChoice = {
  /** The API's name: `reading.rating`. */
  readonly name: string;
  readonly path: MemberPath;
  /** Undefined: the book has none. */
  readonly values: readonly [own: unknown, others: unknown];
  readonly initial: MergeChoice;
  readonly canCombine: boolean;
};

/**
 * The members that can be chosen, those of `reading` one by one; an empty list is none. Of books
 * that differ the metadata are among them, which may keep what is not chosen.
 */
export function listMergeChoices(target: Book, duplicate: Book): readonly ComparedChoice[] {
  const [members, otherMembers] = [listMembers(target), listMembers(duplicate)];
  const choices = chooseValues(Object.fromEntries(members), Object.fromEntries(otherMembers));
  const differences = compareValues(members, otherMembers).filter(({ isDifferent }) => isDifferent);
  const metadata = { key: METADATA, values: [target.metadata, duplicate.metadata] as const };
  const compared = differences.length === 0 ? []
    : [...differences.filter(({ key }) => key !== METADATA), metadata];
  return compared.map(({ key: name, values }) => ({
    name, path: name.split('.'), values, initial: choices.get(name) ?? 'own',
    canCombine: name === METADATA
      || (COMBINED_MEMBERS.includes(name) && !values.includes(undefined)),
  }));
}

function listMembers(book: Book): readonly KeyedValue[] {
  return Object.entries(separateMembers(omitGiven(book), ['reading']))
    .filter(([, value]) => !Array.isArray(value) || value.length > 0);
}

type KeyedValue = readonly [key: string, value: unknown];

/** The keys of the first, and then those that the second alone has, each with both values. */
function compareValues(
  first: readonly KeyedValue[], second: readonly KeyedValue[],
): readonly (Omit<ComparedMember, 'path'> & { readonly key: string })[] {
  const [firstValues, secondValues] = [new Map(first), new Map(second)];
  return [...new Set([...firstValues.keys(), ...secondValues.keys()])].map((key) => {
    const values = [firstValues.get(key), secondValues.get(key)] as const;
    const [firstText, secondText] = values.map((value) => encodeJson(value));
    return { key, values, isDifferent: firstText !== secondText };
  });
}

function omitGiven({ id, createdAt, updatedAt, mergedIds, ...book }: Book) {
  return book;
}

/** The values that are no objects, each with its path as JSON, by which a map can find it. */
function listValues(path: MemberPath, value: unknown): KeyedValue[] {
  if (Array.isArray(value)) {
    if (value.every((item) => typeof item === 'string')) {
      return value.length === 0 ? [] : [[encodeJson(path), value]];
    }
    return value.flatMap((item, index) => listValues([...path, index], item));
  }
  if (!isContainer(value)) return [[encodeJson(path), value]];
  return Object.entries(value).flatMap(([name, member]) => listValues([...path, name], member));
}
