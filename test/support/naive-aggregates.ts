/**
 * Facets, statistics, suggestions and duplicates, the slow and obvious way. Shares no code with
 * src.
 */
import { naiveFold, naiveList, naiveSelect, naiveWords } from './naive-list.ts';
import type { NaiveBook, NaiveQuery } from './naive-list.ts';

type NaiveCount = { readonly value: string; readonly count: number };

/** The parameters that a facet ignores. */
const OWN_PARAMETERS: Readonly<Record<string, readonly string[]>> = {
  author: ['author'], keyword: ['keyword'], inLanguage: ['inLanguage'], publisher: ['publisher'],
  decade: ['publishedFrom', 'publishedTo'], bookFormat: ['bookFormat'],
  status: ['status'], rating: ['ratingFrom', 'ratingTo'], shelf: ['shelf'], series: ['series'],
  finishedYear: ['finishedFrom', 'finishedTo'],
};

export const NAIVE_FACETS = Object.keys(OWN_PARAMETERS);

export function naiveFacets(
  books: readonly NaiveBook[], query: NaiveQuery, facets: readonly string[],
): object {
  const entries = facets.map((facet) => {
    const others = Object.entries(query)
      .filter(([name]) => OWN_PARAMETERS[facet]?.includes(name) !== true);
    const matching = naiveList(books, Object.fromEntries(others));
    return [facet, naiveTop(matching.map((book) => naiveValues(book, facet)),
      ['keyword', 'shelf', 'series'].includes(facet))];
  });
  return { total: naiveList(books, query).length, facets: Object.fromEntries(entries) };
}

export const NAIVE_STATISTICS = ['year', 'month', 'status', 'rating', 'language', 'decade'];

export function naiveStatistics(
  books: readonly NaiveBook[], query: NaiveQuery, by: string,
): object {
  const counted = naiveList(books, query)
    .filter(({ reading }) => by === 'status' || reading?.status === 'read');
  const values = [...new Set(counted.map((book) => naiveStatistic(book, by)))];
  const texts = values.filter((value) => value !== null).sort();
  const rows = [...texts, ...values.filter((value) => value === null)].map((value) => {
    const group = counted.filter((book) => naiveStatistic(book, by) === value);
    const ratings = group.flatMap(({ reading }) => reading?.rating ?? []);
    const stars = ratings.reduce((sum, rating) => sum + rating, 0);
    return {
      value, books: group.length,
      pages: group.reduce((sum, { numberOfPages = 0 }) => sum + numberOfPages, 0),
      meanRating: ratings.length === 0 ? null : Math.round(100 * stars / ratings.length) / 100,
    };
  });
  return { by, total: counted.length, rows };
}

function naiveStatistic(book: NaiveBook, by: string): string | null {
  const { status = null, finishedOn = '' } = book.reading ?? {};
  switch (by) {
    case 'year': return finishedOn.slice(0, 4) || null;
    case 'month': return finishedOn.length < 7 ? null : finishedOn.slice(0, 7);
    case 'status': return status;
    case 'language': return book.inLanguage ?? null;
    default: return naiveValues(book, by)[0] ?? null;
  }
}

export function naiveSuggestions(books: readonly NaiveBook[], q: string): readonly object[] {
  const begins = (text: string): boolean => joinWords(text).startsWith(joinWords(q));
  const hasAll = (book: NaiveBook, name: string): boolean =>
    naiveList([{ ...book, authors: [{ name }] }], { author: [q] }).length > 0;
  if (joinWords(q) === '') return [];
  const lists: Readonly<Record<string, readonly (readonly string[])[]>> = {
    title: books.map(({ title }) => [title].filter(begins)),
    authors: books.map((book) => book.authors.map(({ name }) => name)
      .filter((name) => hasAll(book, name))),
    keywords: books.map(({ keywords = [] }) => keywords.filter(begins)),
  };
  return Object.entries(lists).flatMap(([member, values]) =>
    naiveTop(values, member === 'keywords').map((count) => ({ member, ...count })))
    .sort(naiveCountOrder).slice(0, 10);
}

export function naiveDuplicates(books: readonly NaiveBook[], by: string): readonly object[] {
  const sorted = [...books].sort((left, right) => left.id < right.id ? -1 : 1)
    .filter(({ isbn }) => by === 'title' || isbn !== undefined);
  const split = (group: readonly NaiveBook[], read: (book: NaiveBook) => string | undefined) => {
    const texts = [...new Set(group.map(read).filter((text) => text !== undefined))];
    const textOf = (book: NaiveBook): string | undefined => read(book) ?? texts[0];
    return [...new Set(group.map(textOf))].map((text) =>
      group.filter((book) => textOf(book) === text));
  };
  const splitTitle = ({ title }: NaiveBook) => {
    const [start, ...others] = naiveFold(title).split(': ');
    return [start?.trim(), ...others.length === 0 || by === 'isbn' ? [] : [others.join(': ')]];
  };
  const keyOf = (book: NaiveBook): string => by === 'isbn' ? String(book.isbn)
    : `${splitTitle(book)[0]}|${naiveKey(book.authors[0]?.name ?? '')}`;
  return split(sorted, keyOf)
    .flatMap((group) => split(group, (book) => splitTitle(book)[1]))
    .flatMap((group) => split(group, ({ bookEdition }) => bookEdition))
    .filter((group) => group.length > 1)
    .sort(([left], [right]) => String(left?.id) < String(right?.id) ? -1 : 1)
    .map((group) => ({ books: group.map((book) =>
      naiveSelect(book, 'title,authors,isbn,bookEdition,updatedAt')) }));
}

/** Knows the initials that the tests use. */
function naiveKey(name: string): string {
  return naiveFold(name).replace(/j\. ?r\. ?r\. ?/, 'jrr ').trim();
}

function joinWords(text: string): string {
  return naiveWords(text).join(' ');
}

/** The most frequent values, of which each item of `lists` has those of one book. */
export function naiveTop(
  lists: readonly (readonly string[])[], isCaseless: boolean, topMax = 20,
): readonly NaiveCount[] {
  const keyOf = (value: string): string =>
    isCaseless ? value.normalize('NFC').toLowerCase() : value;
  const keys = new Set(lists.flat().map(keyOf));
  return [...keys].map((key) => {
    const spellings = new Set(lists.flat().filter((value) => keyOf(value) === key));
    const [value = ''] = [...spellings].map((spelling) => ({
      value: spelling, count: lists.filter((list) => list.includes(spelling)).length,
    })).sort(naiveCountOrder).map((spelling) => spelling.value);
    return { value, count: lists.filter((list) => list.map(keyOf).includes(key)).length };
  }).sort(naiveCountOrder).slice(0, topMax);
}

function naiveCountOrder(left: NaiveCount, right: NaiveCount): number {
  return right.count - left.count || Buffer.compare(Buffer.from(left.value),
    Buffer.from(right.value));
}

function naiveValues(book: NaiveBook, facet: string): readonly string[] {
  const { status, rating, finishedOn, shelves } = book.reading ?? {};
  switch (facet) {
    case 'author': return book.authors.map(({ name }) => name);
    case 'keyword': return book.keywords ?? [];
    case 'decade': return book.datePublished === undefined
      ? [] : [`${book.datePublished.slice(0, 3)}0`];
    case 'status': return [status ?? []].flat();
    case 'rating': return rating === undefined ? [] : [String(Math.floor(rating))];
    case 'shelf': return shelves ?? [];
    case 'series': return (book.series ?? []).map(({ name }) => name);
    case 'finishedYear': return finishedOn === undefined ? [] : [finishedOn.slice(0, 4)];
    case 'inLanguage': return [book.inLanguage ?? []].flat();
    case 'publisher': return [book.publisher ?? []].flat();
    default: return [book.bookFormat ?? []].flat();
  }
}
