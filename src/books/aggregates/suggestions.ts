/**
 * Suggestions: the titles, authors and keywords that a text may be the beginning of, for a search
 * box while somebody types. Titles and keywords are found by their beginning, authors by any of
 * their words. Case, accents and punctuation do not count.
 */
import { tokenize } from '../../base/text/words.ts';
import type { Exchange } from '../../server/http-route.ts';
import { malformed, parseQuery } from '../../server/query.ts';
import type { Steps } from '../../base/turns.ts';
import type { IndexHost } from '../index/index-host.ts';
import { narrowSearch } from '../list/open-search.ts';
import type { MatchSearch } from '../list/open-search.ts';
import type { SearchDeps } from '../list/search-books.ts';
import { createWordsFilter, searchClausesOf } from '../query/book-filter.ts';
import { cutTitleStart } from '../query/book-values.ts';
import type { BookValue } from '../query/book-values.ts';
import { parseTypos } from '../query/parse-query.ts';
import { readAuthorNames, readKeywords, readTitle } from '../query/stored-fields.ts';
import { compareValueCounts } from '../query/value-count.ts';
import type { ValueCount } from '../query/value-count.ts';
import { isBegun, joinWords, matchesWords, parseClauses } from '../query/words.ts';
import { answerMatches, countMatches } from './match-scan.ts';
import { findColumns, findTopAuthors, findTopKeywords } from './table-answers.ts';
import type { FoundColumns } from './table-answers.ts';
import { ValueCounts } from './value-counts.ts';

type SuggestionColumns = FoundColumns<(typeof COLUMN_NAMES)[number]>;
type Suggestion = ValueCount & { readonly member: 'title' | 'authors' | 'keywords' };

const SUGGESTIONS_MAX = 10;
/** The columns that know the titles, authors and keywords of all books. */
const COLUMN_NAMES = ['title', 'author', 'keyword'] as const;
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
  const mayCorrect = parseTypos(values.get('typos'));
  // Signs alone begin nothing.
  if (joinWords(text) === '') {
    exchange.sendJson(200, []);
    return;
  }
  const { indexes } = deps;
  const columns = findColumns(indexes, COLUMN_NAMES);
  // Every book with a suggestion matches all words.
  await answerMatches(deps, exchange, { filter: createWordsFilter(words), mayCorrect },
    (search) => findSuggestions(search,
      joinWords(text, search.query.corrections.get('anyText')), indexes, columns),
    ({ length }) => length === 0);
}

function* findSuggestions(
  search: MatchSearch, beginning: string, indexes: IndexHost | null,
  columns: SuggestionColumns | null,
): Steps<readonly Suggestion[]> {
  const counts = indexes === null || columns === null ? null
    : yield* countTitles(search, beginning, indexes, columns);
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
  search: MatchSearch, beginning: string, indexes: IndexHost,
  { title: titleStarts, author, keyword }: SuggestionColumns,
): Steps<MemberCounts | null> {
  const begun = yield* narrowSearch(search, indexes, titleStarts,
    { row: TITLE_START_ROW, wanted: [cutTitleStart(beginning)] });
  if (begun === null) return null;
  const titles = new ValueCounts({ topMax: SUGGESTIONS_MAX });
  yield* countMatches(begun, [titles], (bytes) => {
    titles.add([readTitle(bytes)].filter((title) => isBegun(title, beginning)));
  });
  yield* indexes.takeInPending();
  const words = searchClausesOf(search.query.filter);
  const authors = yield* indexes.askOrDrop([author],
    () => findTopAuthors(author, words, SUGGESTIONS_MAX));
  const keywords = yield* indexes.askOrDrop([keyword],
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
