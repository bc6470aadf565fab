/**
 * Lists books: `GET /api/books` and `books.list(query)`. All books in id order are sent as they are
 * laid out in the store. Every other query is answered by the indexes, or by a scan while one of
 * them is missing. Responses that are not small are streamed.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Exchange, Handler, HeaderList } from '../../server/http-route.ts';
import type { Collection, Walk } from '../../store/store-port.ts';
import { decodeBook } from '../book.ts';
import type { Book } from '../book.ts';
import { findPage, findWhole, fitsInMemory } from './find-books.ts';
import type { PageResult, PlanExplanation, WholeResult } from './find-books.ts';
import type { MatchSearch } from './open-search.ts';
import {
  createBody, createWholeCatalogCache, sourceFromSlots, sourceFromWalk, streamBuffer, streamWalk,
  writeArray, writeText,
} from './book-source.ts';
import type { BookSource, BookTextWriter } from './book-source.ts';
import { assertWanted, createExchangeCaller, searchBooks } from './search-books.ts';
import type { SearchCaller, SearchDeps } from './search-books.ts';
import { NO_CORRECTIONS, formatCorrectionHeader, listPairs } from '../query/corrections.ts';
import type { Corrections } from '../query/corrections.ts';
import { parseBookListQuery, parseBookQuery } from '../query/parse-query.ts';
import type { BookListQuery, BookQuery } from '../query/parse-query.ts';
import { encodeCursor } from '../query/cursor.ts';
import { selectMembers } from '../query/select-members.ts';
import { hasConditions } from '../query/book-filter.ts';
import { ID_SORT, isIdSort } from '../query/book-sort.ts';
import { compareId, readId } from '../query/stored-fields.ts';
import { writeQueryString } from '../query/query-parameters.ts';
import { systemClock } from '../../base/clock.ts';
import type { Clock } from '../../base/clock.ts';
import { createConcurrencyLimiter } from '../../base/turns.ts';
import type { ConcurrencyLimiter, Steps } from '../../base/turns.ts';

export type BookListing<Item = Book> = {
  readonly books: readonly Item[];
  /** How many books match, on all pages. */
  readonly total: number;
  /** The cursor of the next page; null when there is none. */
  readonly cursor: string | null;
  /**
   * The words looked for in the place of mistyped words of `q` and `author`, which are the keys;
   * folded.
   */
  readonly corrections: Readonly<Record<string, string>>;
};

/** How the books of a response are written where they are not JSON. */
type BookOutput = {
  /** `Content-Type` and what else the format needs. */
  readonly headers: HeaderList;
  readonly writer: BookTextWriter;
};

/** A book with the members that `fields` names. */
export type BookSelection = Pick<Book, 'id'> & Partial<Book>;

export interface BookList {
  /** `GET /api/books`, as JSON. */
  readonly sendJson: Handler;
  /** The same in another format. */
  readonly sendAs: (exchange: Exchange, output: BookOutput) => void | Promise<void>;
  /** Throws `malformed`. */
  list(
    query: BookListQuery & { readonly fields: string },
  ): Promise<BookListing<BookSelection>>;
  list(query?: BookListQuery): Promise<BookListing>;
  /** How `list` answers the query. Throws and waits as `list` does. */
  explain(query?: BookListQuery): Promise<BookListExplanation>;
}

/** The answer to `explain=true`, and of `books.explain(query)`. */
export type BookListExplanation = {
  /** The name of the plan. */
  readonly plan: string;
  readonly reason: string;
  /** How many books match, on all pages. */
  readonly total: number;
  /** Milliseconds from the parsed query to the books that were found; they are not sent. */
  readonly ms: number;
};

/** The program that embeds the catalog waits for its list however long that takes. */
const EMBEDDING_PROGRAM: SearchCaller = { isWanted: () => true };

// A response without limit needs some 50 bytes a book until it is sorted, and 4 from then on.
const WHOLE_SCANS_MAX = 2;

export type ExplainOptions = {
  /** Measures what an explained query takes. Default: the system's. */
  readonly clock?: Pick<Clock, 'monotonicMs'>;
  /** Throws when a caller over HTTP may not have a query explained. Default: all may. */
  readonly checkExplainer?: (exchange: Exchange) => void;
};

export function createBookList(options: SearchDeps & ExplainOptions): BookList {
  const deps: BookListDeps = {
    clock: systemClock, checkExplainer: () => {}, ...options,
    wholeScanLimiter: createConcurrencyLimiter(WHOLE_SCANS_MAX),
    findOrBuildWhole: createWholeCatalogCache(options.collection),
  };
  return {
    sendJson: (exchange) => sendList(deps, exchange),
    sendAs: (exchange, output) => sendListAs(deps, exchange, output),
    async list(values = {}) {
      const query = parseBookListQuery(values);
      const result = await answerQuery(deps, query, EMBEDDING_PROGRAM);
      try {
        const books = await deps.turns.run(decodeAll(readBooks(deps, query, result)));
        const corrections = Object.fromEntries(listPairs(result.corrections));
        return { books: books ?? [], total: result.total, cursor: result.cursor, corrections };
      } finally {
        result.close();
      }
    },
    async explain(values = {}) {
      const query = parseBookListQuery(values);
      return (await explainList(deps, query, EMBEDDING_PROGRAM)).explanation;
    },
  };
}

type BookListDeps = SearchDeps & Required<ExplainOptions> & {
  readonly wholeScanLimiter: ConcurrencyLimiter;
  readonly findOrBuildWhole: ReturnType<typeof createWholeCatalogCache>;
};

/** The books can be read once. */
type ListResult = {
  readonly plan: PlanExplanation;
  readonly total: number;
  readonly cursor: string | null;
  readonly corrections: Corrections;
  readonly books: ListBooks;
  /** To be called once the books have been read, or nobody wants them any more. */
  readonly close: () => void;
};

type ListBooks =
  | { readonly kind: 'source'; readonly source: BookSource }
  /** All that the walk comes to, which can be sent without reading the books one by one. */
  | { readonly kind: 'walk'; readonly walk: Walk };

async function sendList(deps: BookListDeps, exchange: Exchange): Promise<void> {
  const query = parseBookQuery(exchange.search);
  if (query.isExplained) return sendExplanation(deps, query, exchange);
  const result = await answerQuery(deps, query, createExchangeCaller(exchange));
  try {
    const headers = ['Content-Type', 'application/json', ...listHeaders(exchange, query, result)];
    const { books } = result;
    if (books.kind === 'walk' && query.fields === null) {
      const buffer = query.after === null ? deps.findOrBuildWhole() : null;
      if (buffer === null) return await exchange.sendStream(200, headers, streamWalk(books.walk));
      const headersWithLength = [...headers, 'Content-Length', String(buffer.length)];
      return await exchange.sendStream(200, headersWithLength, streamBuffer(buffer));
    }
    const body = createBody(writeArray(readBooks(deps, query, result)));
    if ('whole' in body) exchange.send(200, headers, body.whole);
    else await exchange.sendStream(200, headers, body.pull);
  } finally {
    result.close();
  }
}

async function sendListAs(
  deps: BookListDeps, exchange: Exchange, { headers, writer }: BookOutput,
): Promise<void> {
  const query = parseBookQuery(exchange.search);
  const caller = createExchangeCaller(exchange);
  await prepareWriter(writer, query, caller, async (searchedQuery) => {
    const answer = await answerQuery(deps, searchedQuery, caller);
    return { source: openSource(deps, answer), close: answer.close };
  });
  const result = await answerQuery(deps, query, caller);
  try {
    const allHeaders = [...headers, ...listHeaders(exchange, query, result)];
    const body = createBody(writeText(readBooks(deps, query, result), writer));
    if ('whole' in body) return exchange.send(200, allHeaders, body.whole);
    await exchange.sendStream(200, allHeaders, async () => {
      // To write a piece is work, and the event loop serves others too.
      await nextTurn();
      return body.pull();
    });
  } finally {
    result.close();
  }
}

/** Finds the books of a query; `close` is to be called once they have been read. */
type FindBooks = (query: BookQuery) => Promise<{
  readonly source: BookSource; readonly close: () => void;
}>;

// To look at so many takes some milliseconds at most.
const BOOKS_PER_TURN = 512;

/**
 * Shows a writer the books of a list before they are written, where its format needs that: an
 * answer of a million books is found again for it, not held. A book that is written meanwhile may
 * be shown as it was, or not at all. Throws `timeout` once the caller has left.
 */
async function prepareWriter(
  writer: BookTextWriter, query: BookQuery, caller: SearchCaller, findBooks: FindBooks,
): Promise<void> {
  if (writer.prepare === undefined) return;
  const { sort, limit, after } = query;
  const page: Buffer[] = [];
  await readEach(await findBooks(query), caller, (book) => {
    writer.prepare?.([book]);
    if (limit !== null) page.push(book);
  });
  if (isIdSort(sort)) return;
  // Only in its own order can a page, or what follows a cursor, be found again.
  if (limit !== null) {
    writer.prepareInIdOrder?.(page.sort((left, right) => compareId(left, readId(right))));
  } else if (after === null) {
    await readEach(await findBooks({ ...query, sort: ID_SORT }), caller,
      (book) => writer.prepareInIdOrder?.([book]));
  }
}

async function readEach(
  { source, close }: Awaited<ReturnType<FindBooks>>, caller: SearchCaller,
  read: (book: Buffer) => void,
): Promise<void> {
  try {
    let count = 0;
    for (const book of source) {
      read(book);
      count += 1;
      if (count % BOOKS_PER_TURN !== 0) continue;
      await nextTurn();
      assertWanted(caller.isWanted() ? true : null);
    }
  } finally {
    close();
  }
}

const VARY = ['Vary', 'Accept'] as const;

function listHeaders(
  exchange: Exchange, { values }: BookQuery, { total, corrections, cursor }: ListResult,
): readonly string[] {
  const headers =
    ['X-Total-Count', String(total), ...formatCorrectionHeader(corrections), ...VARY];
  if (cursor === null) return headers;
  const nextValues = new Map([...values, ['cursor', [cursor]]]);
  const next = exchange.linkTo(`${exchange.route.path}?${writeQueryString(nextValues)}`);
  return [...headers, 'Link', `<${next}>; rel="next"`];
}

async function sendExplanation(
  deps: BookListDeps, query: BookQuery, exchange: Exchange,
): Promise<void> {
  deps.checkExplainer(exchange);
  const { explanation, corrections } =
    await explainList(deps, query, createExchangeCaller(exchange));
  exchange.sendJson(200, explanation, [...formatCorrectionHeader(corrections), ...VARY]);
}

async function explainList(deps: BookListDeps, query: BookQuery, caller: SearchCaller): Promise<{
  readonly explanation: BookListExplanation; readonly corrections: Corrections;
}> {
  const startedMs = deps.clock.monotonicMs();
  const { plan, total, corrections, close } = await answerQuery(deps, query, caller);
  close();
  // Whole microseconds: the clock has no more.
  const ms = Math.round((deps.clock.monotonicMs() - startedMs) * 1000) / 1000;
  return { explanation: { plan: plan.name, reason: plan.explain(), total, ms }, corrections };
}

/** The books with the members that the query asks for. */
function readBooks(deps: BookListDeps, { fields }: BookQuery, result: ListResult): BookSource {
  const source = openSource(deps, result);
  return fields === null ? source : selectFromEach(source, fields);
}

function openSource({ collection }: BookListDeps, { books }: ListResult): BookSource {
  return books.kind === 'source' ? books.source : sourceFromWalk(collection, books.walk);
}

function* selectFromEach(source: BookSource, fields: ReadonlySet<string>): BookSource {
  for (const bytes of source) yield selectMembers(bytes, fields);
}

async function answerQuery(
  deps: BookListDeps, query: BookQuery, caller: SearchCaller,
): Promise<ListResult> {
  if (asksForAll(query)) return listAll(deps.collection, query);
  const { result, query: correctedQuery, changes } = await searchBooks(deps, query, caller, {
    createSteps: findPageOrDefer,
    finish: async (found): Promise<PageResult | WholeResult> => found.kind === 'page' ? found
      : deps.wholeScanLimiter.run(async () =>
        assertWanted(await deps.turns.run(findWhole(found.search), caller.isWanted))),
    isEmpty: ({ total }) => total === 0,
  });
  if (result.kind === 'page') {
    changes.stop();
    return toResult(result, correctedQuery);
  }
  const { plan, total, slots } = result;
  return {
    plan, total, cursor: null, corrections: correctedQuery.corrections,
    // The books are still to be read: `changes` keeps them as they are found until they have been.
    books: { kind: 'source', source: sourceFromSlots(slots, changes) },
    close: () => changes.stop(),
  };
}

/** A page, or few books that match; the search itself where all of more are asked for. */
function* findPageOrDefer(
  search: MatchSearch<BookQuery>,
): Steps<PageResult | { readonly kind: 'search'; readonly search: MatchSearch<BookQuery> }> {
  const { limit } = search.query;
  return limit === null && !fitsInMemory(search) ? { kind: 'search', search }
    : yield* findPage(search, limit);
}

/** Whether all books are asked for, or all after some id, in id order and without a limit. */
function asksForAll({ filter, sort, limit }: BookQuery): boolean {
  return limit === null && isIdSort(sort) && !hasConditions(filter);
}

function listAll(collection: Collection, { after }: BookQuery): ListResult {
  return {
    plan: {
      name: 'whole',
      explain: () => `all ${collection.size} books are asked for in the order of their ids, in `
        + 'which they are stored',
    },
    total: collection.size,
    cursor: null,
    corrections: NO_CORRECTIONS,
    books: { kind: 'walk', walk: collection.walk({ after: after?.id ?? null }) },
    close: () => {},
  };
}

/** Cuts the entries to the query's limit; where there are more, the page ends with a cursor. */
function toResult(
  { entries, total, plan }: PageResult, { limit, fingerprint, corrections }: BookQuery,
): ListResult {
  const hasMore = limit !== null && entries.length > limit;
  const pageEntries = limit === null ? entries : entries.slice(0, limit);
  const last = pageEntries.at(-1);
  const cursor = hasMore && last !== undefined
    ? encodeCursor(last, fingerprint, corrections) : null;
  const source = pageEntries.map(({ bytes }) => bytes);
  return { plan, total, cursor, corrections, books: { kind: 'source', source }, close: () => {} };
}

function* decodeAll(source: BookSource): Steps<Book[]> {
  const books: Book[] = [];
  for (const bytes of source) {
    books.push(decodeBook(bytes));
    yield;
  }
  return books;
}
