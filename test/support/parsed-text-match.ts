/** Whether the texts of a book match, the slow way: the book is parsed and its texts are cut. */
import { tokenizeWithSigns } from '../../src/base/text/words.ts';
import type { TextToken } from '../../src/base/text/words.ts';
import type { BookFilter } from '../../src/books/query/book-filter.ts';
import type { WordsPlace } from '../../src/books/query/conditions.ts';
import { matchesWords } from '../../src/books/query/words.ts';
import type { Clause } from '../../src/books/query/words.ts';

/** The members that are searched for words. */
type SearchableBook = {
  readonly title: string;
  readonly subtitle?: string;
  readonly authors?: readonly { readonly name: string }[];
  readonly keywords?: readonly string[];
  readonly publisher?: string;
  readonly isbn?: string;
  readonly series?: readonly { readonly name: string }[];
  readonly reading?: { readonly shelves?: readonly string[]; readonly review?: string };
  readonly metadata?: object;
};

/** Checks the conditions on words. */
export function matchesParsedText(filter: BookFilter, bytes: Buffer): boolean {
  const book: SearchableBook = JSON.parse(bytes.toString());
  const names = tokenizeNames(book);
  const tokens: Readonly<Record<WordsPlace, readonly TextToken[]>> = {
    anyText: [...names, ...tokenizeTexts(book)], author: names,
    publisher: tokenizeWithSigns(book.publisher ?? ''),
    review: tokenizeWithSigns(book.reading?.review ?? ''),
    metadata: Object.values(book.metadata ?? {}).filter((value) => typeof value === 'string')
      .flatMap(tokenizeWithSigns),
  };
  return filter.words.every(({ row: { place }, wanted }) => matchesAny(wanted, tokens[place]));
}

function tokenizeNames({ authors = [] }: SearchableBook): TextToken[] {
  return authors.flatMap(({ name }) => tokenizeWithSigns(name));
}

/** The tokens of the texts that `q` looks at besides the authors. */
function tokenizeTexts(
  { title, subtitle = '', keywords = [], isbn = '', series = [], reading = {} }: SearchableBook,
): TextToken[] {
  const { shelves = [] } = reading;
  return [title, subtitle, ...keywords, isbn, ...series.map(({ name }) => name), ...shelves]
    .flatMap(tokenizeWithSigns);
}

/** Whether all clauses of one of the alternatives match. */
function matchesAny(
  alternatives: readonly (readonly Clause[])[], tokens: readonly TextToken[],
): boolean {
  return alternatives.some((clauses) => matchesWords(clauses, tokens));
}
