/** The queries that `queries` measures, with the aims of the contract. */

export type QueryRow = {
  readonly title: string;
  /** The path with its query; a list has a `limit` too. */
  readonly path: string;
  /** The page in the middle is asked for, by its cursor; else the first. */
  readonly isMiddle: boolean;
  /** SQLite has no such answer. */
  readonly isOursAlone: boolean;
  /** It is only measured with one client: of those that count all books few run at once. */
  readonly isForOneClient: boolean;
  /** What is to be reached at the three sizes. */
  readonly aims: readonly [string, string, string];
};

const LIST = '/api/books?limit=20';
const FACETS =
  '/api/books/facets?by=author,keyword,inLanguage,publisher,decade,bookFormat';
const READ_FACETS = `${FACETS},status,shelf&status=read`;
const LEAST = { isMiddle: false, isOursAlone: false, isForOneClient: false };

const ORDERED = ['1.2 ×', '1.2 ×', '1.2 ×'] as const;
const FILTERED = ['1.0 ×', '0.7 ×', '0.3 ×'] as const;
const COMBINED = ['1.0 ×', '0.5 ×', '0.1 ×'] as const;
const SEARCHED = ['1.0 ×', '0.5 ×', '0.2 ×'] as const;

/** Five years of those in which many books were published. */
const PUBLISHED = 'publishedFrom=1990&publishedTo=1994';
const LANGUAGE = 'inLanguage=fr';
const FORMAT = 'bookFormat=EBook';
const KEYWORD = 'keyword=poetry';
const READ = 'status=read';
const FINISHED = 'finishedFrom=2023&finishedTo=2024';
const SORTS = [
  'title', 'datePublished', 'author', '-updatedAt', 'rating', '-finishedOn', 'series',
];
const Q_COMMON = 'q=winter';
const Q_WORDS = 'q=silent+riv';

/** `rareWord` stands in a thousand books at most; `shelf` is one of many. */
export function listRows(rareWord: string, shelf: string): readonly QueryRow[] {
  return [
    list('page by id', '', ORDERED),
    middle('page by id', '', ORDERED),
    ...SORTS.flatMap((key) => [
      list(`sort=${key}`, `sort=${key}`, ORDERED), middle(`sort=${key}`, `sort=${key}`, ORDERED),
    ]),
    list('published from–to', PUBLISHED, FILTERED),
    list('language', LANGUAGE, FILTERED),
    list('keyword', KEYWORD, FILTERED),
    list('format', FORMAT, FILTERED),
    list('language, format', `${LANGUAGE}&${FORMAT}`, COMBINED),
    list('published, keyword', `${PUBLISHED}&${KEYWORD}`, COMBINED),
    list('language, format, sort=title', `${LANGUAGE}&${FORMAT}&sort=title`, COMBINED),
    list('published, keyword, sort=-updatedAt', `${PUBLISHED}&${KEYWORD}&sort=-updatedAt`,
      COMBINED),
    list('author', 'author=ursula+marsh', FILTERED),
    list('read', READ, FILTERED),
    list('rated 4 and more', 'ratingFrom=4', FILTERED),
    list('finished from–to', FINISHED, FILTERED),
    list('shelf', `shelf=${shelf}`, FILTERED),
    list('owned', 'owned=true', FILTERED),
    list('read, language', `${READ}&${LANGUAGE}`, COMBINED),
    list('read, sort=-rating', `${READ}&sort=-rating`, COMBINED),
    list('finished, shelf, sort=title', `${FINISHED}&shelf=${shelf}&sort=title`, COMBINED),
    list('q, one word', Q_COMMON, FILTERED),
    list('q, two words', Q_WORDS, FILTERED),
    list('q, one word, sort=title', `${Q_COMMON}&sort=title`, FILTERED),
    list('q, two words, sort=-updatedAt', `${Q_WORDS}&sort=-updatedAt`, FILTERED),
    list('q, language, format', `${Q_COMMON}&inLanguage=en&bookFormat=Paperback`, SEARCHED),
    {
      ...LEAST, title: 'q, corrected', path: `${LIST}&q=silnet`, isOursAlone: true,
      aims: ['–', '–', '30 ms'],
    },
    {
      ...LEAST, title: 'all six facets of all books', path: FACETS, isForOneClient: true,
      aims: ['–', '–', '300 ms'],
    },
    {
      ...LEAST, title: 'all six facets of ≤ 1,000', path: `${FACETS}&q=${rareWord}`,
      isForOneClient: true, aims: ['–', '–', '10 ms'],
    },
    {
      ...LEAST, title: 'eight facets of those read', path: READ_FACETS, isForOneClient: true,
      aims: ['–', '–', '–'],
    },
    {
      ...LEAST, title: 'statistics by year', path: '/api/books/statistics?by=year',
      isOursAlone: true, isForOneClient: true, aims: ['–', '20 ms', '–'],
    },
    {
      ...LEAST, title: 'suggestions for har', path: '/api/books/suggest?q=har',
      isOursAlone: true, isForOneClient: true, aims: ['–', '–', '5 ms'],
    },
  ];
}

function list(title: string, query: string, aims: QueryRow['aims']): QueryRow {
  return { ...LEAST, title, path: query === '' ? LIST : `${LIST}&${query}`, aims };
}

function middle(title: string, query: string, aims: QueryRow['aims']): QueryRow {
  return { ...list(`${title}, in the middle`, query, aims), isMiddle: true };
}
