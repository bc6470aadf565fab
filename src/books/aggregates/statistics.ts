/**
 * Statistics of reading: how many books were read in each year, and so on, with their pages and how
 * they were rated. What is counted of a book stands in columns: no book is read where the indexes
 * say which match.
 */
import { quote } from '../../base/text/error-message.ts';
import { didYouMean } from '../../base/text/nearest.ts';
import type { BitSet } from '../../base/structures/bit-set.ts';
import type { Steps } from '../../base/turns.ts';
import type { Exchange } from '../../server/http-route.ts';
import { malformed } from '../../server/query.ts';
import type { ValueColumn } from '../engine/value-column.ts';
import { NO_BOOK, findMatches } from '../list/match-search.ts';
import { settleSearch } from '../list/open-search.ts';
import type { MatchSearch } from '../list/open-search.ts';
import type { SearchDeps } from '../list/search-books.ts';
import { parseFilter } from '../query/book-filter.ts';
import type { BookFilter } from '../query/book-filter.ts';
import { COLUMN_ROWS } from '../query/book-values.ts';
import type { BookValue, ColumnName } from '../query/book-values.ts';
import { STATISTICS, STATISTIC_NAMES } from '../query/conditions.ts';
import type { Statistic, StatisticRow } from '../query/conditions.ts';
import { parseTypos } from '../query/parse-query.ts';
import { readFilterString } from '../query/query-parameters.ts';
import { answerMatches } from './match-scan.ts';
import { findColumns } from './table-answers.ts';

type StatisticsAnswer = {
  readonly by: Statistic;
  /** How many books are counted. */
  readonly total: number;
  readonly rows: readonly StatisticsRow[];
};

type StatisticsRow = {
  /** null: the books have none. */
  readonly value: string | null;
  readonly books: number;
  readonly pages: number;
  /** To two decimals; null: no book is rated. */
  readonly meanRating: number | null;
};

/** The books of one value. */
type Group = { books: number; pages: number; rated: number; stars: number };

// To count a slot takes some 50 ns.
const SLOTS_PER_YIELD = 1024;

/** Handles `GET /api/books/statistics`. Throws `malformed`. */
export async function sendStatistics(deps: SearchDeps, exchange: Exchange): Promise<void> {
  const values = readFilterString(exchange.search);
  const statistic = parseStatistic(values.get('by')?.[0]);
  const filter = parseFilter(values);
  await answerMatches(deps, exchange, {
    filter: statistic.name === 'status' ? filter : amongRead(filter),
    mayCorrect: parseTypos(values.get('typos')?.[0]),
  }, (search) => countBooks(search, statistic), ({ total }) => total === 0);
}

function parseStatistic(text = ''): StatisticRow {
  const statistic = STATISTICS.find(({ name }) => name === text);
  if (statistic !== undefined) return statistic;
  throw malformed(`\`by\` must be one of ${STATISTIC_NAMES.join(', ')}, not `
    + `${quote(text)}${didYouMean(text, STATISTIC_NAMES)}`);
}

/** The filter for those of its books that are read. */
function amongRead({ words, values }: BookFilter): BookFilter {
  const read = parseFilter(new Map([['status', ['read']]]));
  return { words, values: [...values, ...read.values] };
}

function* countBooks(search: MatchSearch, statistic: StatisticRow): Steps<StatisticsAnswer> {
  const { indexes } = search;
  const names = [statistic.column, 'numberOfPages', 'rating'] as const;
  const columns = findColumns(indexes, names);
  if (indexes !== null && columns !== null) {
    const readers = names.map((name) => createColumnReader(name, columns[name]));
    const settledSearch = yield* settleSearch(search, indexes);
    const answer = yield* indexes.askOrDrop(Object.values(columns), () =>
      countGroups(settledSearch, statistic, readers, false));
    if (answer !== null) return answer;
  }
  return yield* countGroups(search, statistic, names.map(createReader), true);
}

/** The first value of a book: what is counted has one at most. */
type ReadFirst = (bytes: Buffer, slot: number) => BookValue | null;

function createReader(name: ColumnName): ReadFirst {
  const { readValues } = COLUMN_ROWS[name];
  return (bytes) => readValues(bytes)[0] ?? null;
}

/** The book is read where the search had to read it. */
function createColumnReader(name: ColumnName, column: ValueColumn): ReadFirst {
  const readFirst = createReader(name);
  return (bytes, slot) => bytes === NO_BOOK ? column.firstValueAt(slot) : readFirst(bytes, slot);
}

function* countGroups(
  search: MatchSearch, statistic: StatisticRow, readers: readonly ReadFirst[], readsBooks: boolean,
): Steps<StatisticsAnswer> {
  const { isExact, unsettled, slots, changes: { changedSlots } } = search;
  if (!readsBooks && isExact && unsettled === null && slots !== null) {
    const answer = yield* countSlots(slots, statistic, readers, changedSlots);
    if (answer !== null) return answer;
  }
  const counter = new GroupCounter(statistic, readers);
  yield* findMatches(search, {
    readsBooks,
    take(bytes, slot) {
      counter.add(bytes, slot);
      return true;
    },
  });
  return counter.finish();
}

/**
 * The same of slots that all match: among 100,000 in half the time that `findMatches` takes. Null
 * where a book changes meanwhile.
 */
function* countSlots(
  slots: BitSet, statistic: StatisticRow, readers: readonly ReadFirst[],
  changedSlots: { readonly size: number },
): Steps<StatisticsAnswer | null> {
  const counter = new GroupCounter(statistic, readers);
  for (let slot = slots.next(0); slot >= 0; slot = slots.next(slot + 1)) {
    if (changedSlots.size > 0) return null;
    counter.add(NO_BOOK, slot);
    if (counter.total % SLOTS_PER_YIELD === 0) yield;
  }
  return changedSlots.size > 0 ? null : counter.finish();
}

class GroupCounter {
  total = 0;
  readonly #row: StatisticRow;
  readonly #readers: readonly ReadFirst[];
  readonly #groups = new Map<string | null, Group>();
  /** To write a value as text takes longer than all else. */
  readonly #groupsByValue = new Map<BookValue | null, Group>();

  /** `readers` are those of the value, the pages and the rating. */
  constructor(row: StatisticRow, readers: readonly ReadFirst[]) {
    this.#row = row;
    this.#readers = readers;
  }

  add(bytes: Buffer, slot: number): void {
    const [readValue = noValue, readPages = noValue, readRating = noValue] = this.#readers;
    const value = readValue(bytes, slot);
    const rating = readRating(bytes, slot);
    const group = this.#groupsByValue.get(value) ?? this.#addValue(value);
    group.books += 1;
    group.pages += Number(readPages(bytes, slot));
    group.rated += rating === null ? 0 : 1;
    group.stars += Number(rating);
    this.total += 1;
  }

  finish(): StatisticsAnswer {
    const rows = [...this.#groups].sort(compareValues).map(createRow);
    return { by: this.#row.name, total: this.total, rows };
  }

  #addValue(value: BookValue | null): Group {
    const { format = String } = this.#row;
    const text = value === null ? null : format(value);
    const group = this.#groups.get(text) ?? { books: 0, pages: 0, rated: 0, stars: 0 };
    this.#groups.set(text, group);
    this.#groupsByValue.set(value, group);
    return group;
  }
}

function noValue(): null {
  return null;
}

/** Rising; the books without a value come last. */
function compareValues(
  [left]: readonly [string | null, Group], [right]: readonly [string | null, Group],
): number {
  if (left === null || right === null) return left === null ? 1 : -1;
  return left < right ? -1 : 1;
}

function createRow(
  [value, { books, pages, rated, stars }]: readonly [string | null, Group],
): StatisticsRow {
  const meanRating = rated === 0 ? null : Math.round(stars * 100 / rated) / 100;
  return { value, books, pages, meanRating };
}
