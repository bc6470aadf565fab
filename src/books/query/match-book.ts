/** Whether a stored book matches a query. Pure. */
import { foldCase } from '../../base/text/fold.ts';
import { tokenize } from '../../base/text/words.ts';
import type { BookFilter } from './parse-query.ts';
import { matchesWords } from './words.ts';

/** The members that are searched for words and keywords. */
type SearchableBook = {
  readonly title: string;
  readonly subtitle?: string;
  readonly authors?: readonly { readonly name: string }[];
  readonly keywords?: readonly string[];
  readonly isbn?: string;
};

/** `published` is a number of `encodeDate`, or 0 for a book without a date, which never matches. */
export function matchesDate(filter: BookFilter, published: number): boolean {
  const { publishedFrom, publishedTo } = filter;
  return published > 0 && published >= (publishedFrom ?? 0)
    && published <= (publishedTo ?? Infinity);
}

/** Checks the conditions that need the parsed book. */
export function matchesText(filter: BookFilter, book: SearchableBook): boolean {
  const { keyword, authorWords, words } = filter;
  if (keyword !== null && !(book.keywords ?? []).some((one) => foldCase(one) === keyword)) {
    return false;
  }
  const authors = (book.authors ?? []).flatMap(({ name }) => tokenize(name));
  if (!matchesWords(authorWords, authors)) return false;
  if (words.length === 0) return true;
  const texts = [book.title, book.subtitle ?? '', ...book.keywords ?? [], book.isbn ?? ''];
  return matchesWords(words, [...authors, ...texts.flatMap(tokenize)]);
}

/** Whether there is a condition that is read from a book's bytes without parsing them. */
export function hasMemberConditions(filter: BookFilter): boolean {
  const { isbn, language, publishedFrom, publishedTo } = filter;
  return isbn !== null || language !== null || publishedFrom !== null || publishedTo !== null;
}

/** Whether there is a condition that `matchesText` checks. */
export function hasTextConditions(filter: BookFilter): boolean {
  return filter.keyword !== null || filter.words.length > 0 || filter.authorWords.length > 0;
}

/** A stored book, with the type of the members that are searched. */
export function decodeSearchable(bytes: Buffer): SearchableBook {
  const book: SearchableBook = JSON.parse(bytes.toString());
  return book;
}

/** Basic filtering (RFC 4647 §3.3.1): the range, or the range and a hyphen, begins the tag. */
export function matchesLanguage(range: string, tag: string | null): boolean {
  if (tag === null) return false;
  if (range === '*') return true;
  const lower = tag.toLowerCase();
  return lower === range || (lower.startsWith(range) && lower[range.length] === '-');
}
