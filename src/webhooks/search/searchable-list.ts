/**
 * Sends a list that can be searched. With `q` or `where` in its query it is a search, which ends a
 * page when that is full or its time is over. Such a page has `X-Search-Complete`; while it is
 * `false`, also `X-Search-Until`, the time of the last record that was looked at, and a `Link` to
 * the page that goes on from there, even if no record has matched. Nobody knows how many match, so
 * there is no `X-Total-Count`.
 */
import { AppError } from '../../base/errors.ts';
import { streamRecords } from '../../resources/json-array-stream.ts';
import { pagedListResponse } from '../../resources/route-specs.ts';
import type { Schema } from '../../base/schema.ts';
import type { Exchange, ResponseSpec } from '../../server/http-route.ts';
import {
  encodeItem, formatNextLink, parseListQuery, sendFilteredList, type FilteredList,
} from '../records/list-route.ts';
import type { FactSource } from '../filters/facts.ts';
import { parseSearchQuery, splitSearchParameters, type SearchParameters } from './search-query.ts';
import type { SearchWalk, Searches } from './searches.ts';

/** The items of a page without `limit`. */
const PAGE_ITEMS = 100;

type SearchableList<Item, Filter> = FilteredList<Item, Filter> & {
  /** Lists the facts that conditions of `where` may read of the items that match the filter. */
  listSources(filter: Filter): readonly FactSource[];
  /** Opens a walk through the items that match the filter, from behind the id `before`. */
  openWalk(
    filter: Filter, before: string | null,
  ): SearchWalk<Item> | Promise<SearchWalk<Item>>;
};

/** Describes the response of a list that can be searched. */
export function searchableListResponse(description: string, items: Schema): ResponseSpec {
  const response = pagedListResponse(description, items,
    'How many match, on all pages; absent from a search');
  return {
    ...response,
    headers: {
      ...response.headers,
      'X-Search-Complete': 'Of a search: `true` on its last page, else `false`',
      'X-Search-Until': 'Of a search that is not complete: the time of the record that it has come '
        + 'to',
    },
  };
}

export async function sendSearchableList<Item, Filter>(
  exchange: Exchange, list: SearchableList<Item, Filter>, searches: Searches,
): Promise<void> {
  const search = splitSearchParameters(exchange.search);
  const isSearch = search.text !== '' || search.conditions.length > 0;
  return isSearch ? sendSearch(exchange, list, searches, search)
    : sendFilteredList(exchange, list, search.rest);
}

async function sendSearch<Item, Filter>(
  exchange: Exchange, list: SearchableList<Item, Filter>, searches: Searches,
  search: SearchParameters,
): Promise<void> {
  const listQuery = parseListQuery(search.rest, list);
  if (listQuery.order === 'oldest') {
    throw new AppError('malformed', '`order` must be newest, or absent, beside `q` and `where`: a '
      + 'search begins with the newest');
  }
  const query = parseSearchQuery(search, list.listSources(listQuery.filter));
  const limit = listQuery.limit ?? PAGE_ITEMS;
  const walk = await list.openWalk(listQuery.filter, listQuery.from);
  const page = await searches.findPage(
    walk, query, limit, () => !exchange.response.destroyed);
  if (page === null) throw new AppError('timeout', 'the client left before the page was found');
  const { stoppedAt } = page;
  const headers = [
    'Content-Type', 'application/json', 'X-Search-Complete', String(stoppedAt === null),
  ];
  if (stoppedAt !== null) {
    headers.push('X-Search-Until', stoppedAt.at, 'Link', formatNextLink(exchange, list.path, {
      limit, parameters: [...listQuery.parameters, ...search.parameters], lastId: stoppedAt.id,
    }));
  }
  const items = [...page.items];
  return exchange.sendStream(200, headers, streamRecords(() => {
    const item = items.shift();
    return item === undefined ? null : encodeItem(list, item);
  }));
}
