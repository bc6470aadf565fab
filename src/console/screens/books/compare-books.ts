/** Compares two books member by member. Pure. */
import { NumberText, encodeJson, parseJson } from '../../base/json-text.ts';
import type { Book } from '../../../books/book.ts';

export type ComparedMember = {
  /** Names of members, and positions in lists from 0 on: `['authors', 0, 'name']`. */
  readonly path: MemberPath;
  /** The value of each book; undefined: it has none. */
  readonly values: readonly [first: unknown, second: unknown];
  readonly isDifferent: boolean;
};

type MemberPath = readonly (string | number)[];

/**
 * All members of both but those that the service gives, in the order of the first book, and then
 * what the second alone has. Members of objects stand for themselves; a list of texts is one value,
 * and an empty one is none.
 */
export function compareBooks(first: Book, second: Book): readonly ComparedMember[] {
  const [firstValues, secondValues] = [first, second].map(({ id, createdAt, updatedAt, ...book }) =>
    new Map(listValues([], book)));
  const keys = new Set([...firstValues?.keys() ?? [], ...secondValues?.keys() ?? []]);
  return [...keys].map((key) => {
    const values = [firstValues?.get(key), secondValues?.get(key)] as const;
    const [firstText, secondText] = values.map((value) => encodeJson(value));
    return { path: parseJson(key), values, isDifferent: firstText !== secondText };
  });
}

/** The values that are no objects, each with its path as JSON, by which a map can find it. */
function listValues(path: MemberPath, value: unknown): (readonly [key: string, value: unknown])[] {
  if (Array.isArray(value)) {
    if (value.every((item) => typeof item === 'string')) {
      return value.length === 0 ? [] : [[encodeJson(path), value]];
    }
    return value.flatMap((item, index) => listValues([...path, index], item));
  }
  if (typeof value !== 'object' || value === null || value instanceof NumberText) {
    return [[encodeJson(path), value]];
  }
  return Object.entries(value).flatMap(([name, member]) => listValues([...path, name], member));
}
