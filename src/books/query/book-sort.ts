/** The order of a list of books, as `sort` asks for it. Pure. */
import { quote, suggestName } from '../../base/text/error-message.ts';
import { malformed } from '../../server/query.ts';
import { SORT_KEYS } from './query-parameters.ts';
import type { SortKey } from './query-parameters.ts';

/**
 * Books are ordered by each of `orders` in turn, then by id. No order is by id, and none stands
 * behind it: ids decide everything. Books without a key come last in its order, either way.
 */
export type BookSort = {
  readonly orders: readonly SortOrder[];
  readonly isIdDescending: boolean;
};

export type SortOrder = {
  readonly key: Exclude<SortKey, 'id'>;
  readonly isDescending: boolean;
};

export const ID_SORT: BookSort = { orders: [], isIdDescending: false };

const KEYS_MAX = 4;

/** Parses keys such as `author,-datePublished`. Throws `malformed`. */
export function parseSort(text: string): BookSort {
  const parts = text.split(',');
  const orders: SortOrder[] = [];
  const keys = new Set<SortKey>();
  let idOrder: { readonly isDescending: boolean } | null = null;
  for (const part of parts) {
    const isDescending = part.startsWith('-');
    const key = parseKey(isDescending ? part.slice(1) : part);
    if (keys.has(key)) throw malformed(`\`sort\` has \`${key}\` twice: leave one out`);
    keys.add(key);
    if (key === 'id') idOrder = { isDescending };
    else if (idOrder === null) orders.push({ key, isDescending });
  }
  if (parts.length > KEYS_MAX) {
    throw malformed(`\`sort\` takes at most ${KEYS_MAX} keys, not ${parts.length}: leave out the `
      + 'last ones');
  }
  return { orders, isIdDescending: idOrder?.isDescending ?? false };
}

/** Whether books have text for the key; for the others they have a number. */
export function isTextKey(key: SortOrder['key']): boolean {
  return key === 'title' || key === 'author';
}

function parseKey(name: string): SortKey {
  const key = SORT_KEYS.find((candidate) => candidate === name);
  if (key !== undefined) return key;
  throw malformed('`sort` must be keys such as `title` or `author,-datePublished`, not '
    + `${quote(name)}${suggestName(name, SORT_KEYS)}`);
}
