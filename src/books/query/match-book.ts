/** Whether a stored book matches a query. Pure. */
import { foldCase } from '../../base/text/fold.ts';
import { hasWord, tokenizeWithSigns } from '../../base/text/words.ts';
import type { TextToken } from '../../base/text/words.ts';
import { createDateRange, isWithin } from './date-range.ts';
import type { BookFilter } from './parse-query.ts';
import { readBookFormat, readDatePublished, readIsbn, readLanguage } from './stored-fields.ts';
import { matchesWords } from './words.ts';
import type { Clause } from './words.ts';

/** The members that are searched for words and keywords. */
type SearchableBook = {
  readonly title: string;
  readonly subtitle?: string;
  readonly authors?: readonly { readonly name: string }[];
  readonly keywords?: readonly string[];
  readonly publisher?: string;
  readonly isbn?: string;
};

/** Checks the conditions that are read from a book's bytes without parsing them. */
export function matchesMembers(filter: BookFilter, bytes: Buffer): boolean {
  const { bookFormats, languages } = filter;
  return matchesIsbn(filter, bytes) && matchesDate(filter, bytes)
    && (languages.length === 0 || matchesLanguages(languages, readLanguage(bytes)))
    && (bookFormats.length === 0 || bookFormats.includes(readBookFormat(bytes) ?? ''));
}

/** Whether there is a condition that `matchesMembers` checks. */
function hasMemberConditions(filter: BookFilter): boolean {
  const { isbns, languages, bookFormats, hasIsbn, publishedFrom, publishedTo } = filter;
  return [isbns, languages, bookFormats].some(({ length }) => length > 0)
    || hasIsbn !== null || publishedFrom !== null || publishedTo !== null;
}

/** Checks the conditions on words and keywords, which are those that the word index knows. */
export function matchesText(filter: BookFilter, book: SearchableBook): boolean {
  const { keywords, excludedKeywords, authors, publishers, words } = filter;
  const bookKeywords = book.keywords ?? [];
  if (keywords.length > 0 && !hasKeyword(bookKeywords, keywords)) return false;
  if (hasKeyword(bookKeywords, excludedKeywords)) return false;
  if (publishers.length > 0
    && !matchesAny(publishers, tokenizeWithSigns(book.publisher ?? ''))) return false;
  if (authors.length === 0 && words.length === 0) return true;
  const names = tokenizeNames(book);
  if (authors.length > 0 && !matchesAny(authors, names)) return false;
  return words.length === 0 || matchesWords(words, [...names, ...tokenizeTexts(book)]);
}

/** Whether a word of the book, in any text that `q` looks at, begins with the word. */
export function hasBookWord(book: SearchableBook, text: string): boolean {
  return hasWord([...tokenizeNames(book), ...tokenizeTexts(book)], { text, isUnspaced: false });
}

/** Whether there is a condition that `matchesText` checks. */
export function hasTextConditions(filter: BookFilter): boolean {
  const { words, authors, publishers, keywords, excludedKeywords } = filter;
  return [words, authors, publishers, keywords, excludedKeywords].some(({ length }) => length > 0);
}

/** Whether there is any condition: else every book matches. */
export function hasConditions(filter: BookFilter): boolean {
  return hasMemberConditions(filter) || hasTextConditions(filter);
}

/** A stored book, with the type of the members that are searched. */
export function decodeSearchable(bytes: Buffer): SearchableBook {
  const book: SearchableBook = JSON.parse(bytes.toString());
  return book;
}

function tokenizeNames({ authors = [] }: SearchableBook): TextToken[] {
  return authors.flatMap(({ name }) => tokenizeWithSigns(name));
}

/** The tokens of the texts that `q` looks at besides the authors. */
function tokenizeTexts(
  { title, subtitle = '', keywords = [], isbn = '' }: SearchableBook,
): TextToken[] {
  return [title, subtitle, ...keywords, isbn].flatMap(tokenizeWithSigns);
}

function matchesIsbn({ isbns, hasIsbn }: BookFilter, bytes: Buffer): boolean {
  if (isbns.length === 0 && hasIsbn === null) return true;
  const isbn = readIsbn(bytes);
  if (hasIsbn !== null && hasIsbn !== (isbn !== null)) return false;
  return isbns.length === 0 || (isbn !== null && isbns.includes(isbn));
}

/** A book without a date never matches. */
function matchesDate({ publishedFrom, publishedTo }: BookFilter, bytes: Buffer): boolean {
  if (publishedFrom === null && publishedTo === null) return true;
  const published = readDatePublished(bytes);
  return published !== null && isWithin(published, createDateRange(publishedFrom, publishedTo));
}

/** Whether all clauses of one of the alternatives match. */
function matchesAny(
  alternatives: readonly (readonly Clause[])[], tokens: readonly TextToken[],
): boolean {
  return alternatives.some((clauses) => matchesWords(clauses, tokens));
}

function hasKeyword(bookKeywords: readonly string[], foldedKeywords: readonly string[]): boolean {
  return bookKeywords.some((keyword) => foldedKeywords.includes(foldCase(keyword)));
}

/**
 * Basic filtering (RFC 4647 §3.3.1): one of the ranges, or the range and a hyphen, begins the tag.
 */
export function matchesLanguages(ranges: readonly string[], tag: string | null): boolean {
  if (tag === null) return false;
  const lower = tag.toLowerCase();
  return ranges.some((range) => range === '*' || lower === range
    || (lower.startsWith(range) && lower[range.length] === '-'));
}
