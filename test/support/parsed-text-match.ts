/** Whether the texts of a book match, the slow way: the book is parsed and its texts are cut. */
import { foldCase } from '../../src/base/text/fold.ts';
import { tokenizeWithSigns } from '../../src/base/text/words.ts';
import type { TextToken } from '../../src/base/text/words.ts';
import type { BookFilter } from '../../src/books/query/parse-query.ts';
import { matchesWords } from '../../src/books/query/words.ts';
import type { Clause } from '../../src/books/query/words.ts';

/** The members that are searched for words and keywords. */
type SearchableBook = {
  readonly title: string;
  readonly subtitle?: string;
  readonly authors?: readonly { readonly name: string }[];
  readonly keywords?: readonly string[];
  readonly publisher?: string;
  readonly isbn?: string;
};

/** Checks the conditions on words and keywords, which are those that the word index knows. */
export function matchesParsedText(filter: BookFilter, bytes: Buffer): boolean {
  const book: SearchableBook = JSON.parse(bytes.toString());
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

function tokenizeNames({ authors = [] }: SearchableBook): TextToken[] {
  return authors.flatMap(({ name }) => tokenizeWithSigns(name));
}

/** The tokens of the texts that `q` looks at besides the authors. */
function tokenizeTexts(
  { title, subtitle = '', keywords = [], isbn = '' }: SearchableBook,
): TextToken[] {
  return [title, subtitle, ...keywords, isbn].flatMap(tokenizeWithSigns);
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
