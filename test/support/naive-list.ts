/** What a query must answer, the slow and obvious way: to compare with. Shares no code with src. */
import { isDeepStrictEqual } from 'node:util';

export type NaiveBook = {
  readonly id: string;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly title: string;
  readonly subtitle?: string;
  readonly authors: readonly { readonly name: string }[];
  readonly isbn?: string;
  readonly datePublished?: string;
  readonly inLanguage?: string;
  readonly keywords?: readonly string[];
  readonly metadata?: unknown;
};

export type NaiveQuery = Readonly<Record<string, string | number | undefined>>;

export function naiveList(books: readonly NaiveBook[], query: NaiveQuery): NaiveBook[] {
  const matching = books.filter((book) => naiveMatches(book, query));
  const sort = String(query['sort'] ?? 'id');
  const key = sort.replace('-', '');
  const isDescending = sort.startsWith('-');
  const keyOf = (book: NaiveBook): string | undefined => {
    if (key === 'title') return naiveFold(book.title);
    if (key === 'datePublished') return book.datePublished;
    return key === 'updatedAt' ? book.updatedAt : book.id;
  };
  return matching.sort((left, right) => {
    const [first, second] = [keyOf(left), keyOf(right)];
    const byId = left.id < right.id ? -1 : 1;
    if (first === second) return byId;
    if (first === undefined) return 1;
    if (second === undefined) return -1;
    const order = Buffer.compare(Buffer.from(first), Buffer.from(second));
    return isDescending ? -order : order;
  });
}

/** Knows the letters that the tests use. */
export function naiveFold(text: string): string {
  return text.toLowerCase().normalize('NFD').replace(/[\u0300-\u036f]/g, '')
    .replaceAll('ł', 'l').replaceAll('ß', 'ss').replaceAll('ø', 'o').normalize('NFC');
}

function naiveMatches(book: NaiveBook, query: NaiveQuery): boolean {
  const names = book.authors.map(({ name }) => name);
  const texts = [
    book.title, book.subtitle ?? '', ...names, ...book.keywords ?? [], book.isbn ?? '',
  ];
  const { q, author, isbn, inLanguage, keyword, publishedFrom, publishedTo } = query;
  const date = book.datePublished;
  return hasWords(texts, String(q ?? '')) && hasWords(names, String(author ?? ''))
    && (isbn === undefined || book.isbn === String(isbn).replaceAll('-', ''))
    && (inLanguage === undefined || hasLanguage(book.inLanguage, String(inLanguage)))
    && (keyword === undefined || (book.keywords ?? []).some((one) =>
      isDeepStrictEqual(one.toLowerCase(), String(keyword).toLowerCase())))
    && (publishedFrom === undefined || (date !== undefined
      && date.slice(0, String(publishedFrom).length) >= String(publishedFrom)))
    && (publishedTo === undefined || (date !== undefined
      && date.slice(0, String(publishedTo).length) <= String(publishedTo)));
}

function hasLanguage(tag: string | undefined, range: string): boolean {
  return `${tag ?? ''}-`.toLowerCase().startsWith(`${range}-`.toLowerCase());
}

/** Words are runs of letters and digits; every Chinese character begins one. */
function hasWords(texts: readonly string[], query: string): boolean {
  const runs = texts.flatMap((text) => naiveFold(text).match(/[\p{L}\p{N}]+/gu) ?? []);
  return (naiveFold(query).match(/[\p{L}\p{N}]+/gu) ?? []).every((word) => runs.some((run) =>
    /\p{Script=Han}/u.test(word) ? run.includes(word) : run.startsWith(word)));
}
