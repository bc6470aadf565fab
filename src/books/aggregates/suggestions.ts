/**
 * Suggestions: the titles, authors and keywords that a text may be the beginning of, for a search
 * box while somebody types. Titles and keywords are found by their beginning, authors by any of
 * their words. Case, accents and punctuation do not count.
 */
import { tokenize } from '../../base/text/words.ts';
import type { Exchange } from '../../server/http-route.ts';
import { malformed, parseQuery } from '../../server/query.ts';
import type { Steps } from '../../base/turns.ts';
import { narrowSearch } from '../list/match-search.ts';
import type { MatchSearch } from '../list/match-search.ts';
import { createExchangeCaller } from '../list/search-books.ts';
import type { SearchDeps } from '../list/search-books.ts';
import { ID_SORT } from '../query/book-sort.ts';
import { NO_CORRECTIONS, formatCorrectionHeader } from '../query/corrections.ts';
import { createSearchFilter, searchClausesOf } from '../query/book-filter.ts';
import { cutTitleStart } from '../query/book-values.ts';
import type { BookValue } from '../query/book-values.ts';
import { parseTypos } from '../query/parse-query.ts';
import { readAuthorNames, readKeywords, readTitle } from '../query/stored-fields.ts';
import { compareValueCounts } from '../query/value-count.ts';
import type { ValueCount } from '../query/value-count.ts';
import { joinWords, matchesWords, parseClauses } from '../query/words.ts';
import { countMatches, searchMatches } from './match-scan.ts';
import { findSuggestionColumns, findTopAuthors, findTopKeywords } from './table-answers.ts';
import type { SuggestionColumns } from './table-answers.ts';
import { ValueCounts } from './value-counts.ts';

type Suggestion = ValueCount & { readonly member: 'title' | 'authors' | 'keywords' };

const SUGGESTIONS_MAX = 10;
const ASCII = /^[\x00-\x7f]*$/;
/** Asks the column of titles for those that may begin so. */
const TITLE_START_ROW = {
  name: 'title',
  accepts: (wanted: BookValue, start: BookValue): boolean =>
    String(start).startsWith(String(wanted)),
};

/** Handles `GET /api/books/suggest`. Throws `malformed`. */
export async function sendSuggestions(deps: SearchDeps, exchange: Exchange): Promise<void> {
  const values = parseQuery(exchange.search, ['q', 'typos']);
  const text = values.get('q') ?? '';
  if (text.trim() === '') {
    throw malformed('`q` must not be empty: give it the beginning of a title, of a keyword or of a '
      + 'word in an author\'s name');
  }
  const words = parseClauses(text, '`q`');
  const mayCorrect = parseTypos(values.get('typos') ?? 'on');
  // Signs alone begin nothing.
  if (joinWords(text) === '') {
    exchange.sendJson(200, []);
    return;
  }
  // Every book with a suggestion matches all words.
  const query = {
    filter: createSearchFilter(words), sort: ID_SORT, corrections: NO_CORRECTIONS, mayCorrect,
  };
  const columns = findSuggestionColumns(deps.indexes);
  const { result, query: { corrections }, changes } = await searchMatches(
    deps, query, createExchangeCaller(exchange),
    (search) => findSuggestions(search, joinWords(text, search.query.corrections), columns),
    ({ length }) => length === 0);
  changes.stop();
  exchange.sendJson(200, result, formatCorrectionHeader(corrections));
}

function* findSuggestions(
  search: MatchSearch, beginning: string, columns: SuggestionColumns | null,
): Steps<readonly Suggestion[]> {
  const counts = columns === null ? null : yield* countTitles(search, beginning, columns);
  const { titles, authors, keywords } = counts ?? (yield* countAll(search, beginning));
  // The sort is stable: of ties that have the same text, titles come first.
  return [
    ...titles.map((count): Suggestion => ({ member: 'title', ...count })),
    ...authors.map((count): Suggestion => ({ member: 'authors', ...count })),
    ...keywords.map((count): Suggestion => ({ member: 'keywords', ...count })),
  ].sort(compareValueCounts).slice(0, SUGGESTIONS_MAX);
}

type MemberCounts = {
  readonly titles: readonly ValueCount[];
  readonly authors: readonly ValueCount[];
  readonly keywords: readonly ValueCount[];
};

/** Counts titles in their books, and takes the others from the columns; null where one fails. */
function* countTitles(
  search: MatchSearch, beginning: string, columns: SuggestionColumns,
): Steps<MemberCounts | null> {
  const { indexes, title: titleStarts, author, keyword } = columns;
  const begun = yield* narrowSearch(search, indexes, titleStarts,
    { row: TITLE_START_ROW, wanted: [cutTitleStart(beginning)] });
  if (begun === null) return null;
  const titles = new ValueCounts({ topMax: SUGGESTIONS_MAX });
  yield* countMatches(begun, [titles], (bytes) => {
    titles.add([readTitle(bytes)].filter((title) => isBegun(title, beginning)));
  });
  yield* indexes.settle();
  const words = searchClausesOf(search.query.filter);
  const authors = yield* indexes.attempt([author],
    () => findTopAuthors(author, words, SUGGESTIONS_MAX));
  const keywords = yield* indexes.attempt([keyword],
    () => findTopKeywords(keyword, beginning, SUGGESTIONS_MAX));
  return authors === null || keywords === null ? null : { titles: titles.top, authors, keywords };
}

function* countAll(search: MatchSearch, beginning: string): Steps<MemberCounts> {
  const words = searchClausesOf(search.query.filter);
  const titles = new ValueCounts({ topMax: SUGGESTIONS_MAX });
  const authors = new ValueCounts({ topMax: SUGGESTIONS_MAX });
  const keywords = new ValueCounts({ topMax: SUGGESTIONS_MAX, isCaseless: true });
  yield* countMatches(search, [titles, authors, keywords], (bytes) => {
    titles.add([readTitle(bytes)].filter((title) => isBegun(title, beginning)));
    authors.add(readAuthorNames(bytes).filter((name) => matchesWords(words, tokenize(name))));
    keywords.add(readKeywords(bytes).filter((keyword) => isBegun(keyword, beginning)));
  });
  return { titles: titles.top, authors: authors.top, keywords: keywords.top };
}

function isBegun(value: string, beginning: string): boolean {
  // To compare letters takes a tenth of the time.
  if (ASCII.test(beginning) && value.toLowerCase().startsWith(beginning)) return true;
  return joinWords(value).startsWith(beginning);
}
