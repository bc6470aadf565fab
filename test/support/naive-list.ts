/** What a query must answer, the slow and obvious way: to compare with. Shares no code with src. */

export type NaiveAuthor = {
  readonly name: string;
  readonly givenName?: string;
  readonly familyName?: string;
};

export type NaiveBook = {
  readonly id: string;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly title: string;
  readonly subtitle?: string;
  readonly authors: readonly NaiveAuthor[];
  readonly isbn?: string;
  readonly publisher?: string;
  readonly datePublished?: string;
  readonly inLanguage?: string;
  readonly numberOfPages?: number;
  readonly bookEdition?: string;
  readonly bookFormat?: string;
  readonly keywords?: readonly string[];
  readonly series?: readonly { readonly name: string; readonly position?: number }[];
  readonly reading?: {
    readonly status?: string;
    readonly rating?: number;
    readonly finishedOn?: string;
    readonly shelves?: readonly string[];
    readonly review?: string;
    readonly owned?: boolean;
  };
  readonly metadata?: unknown;
};

/** A list holds the values of a parameter that stands several times. */
export type NaiveQuery =
  Readonly<Record<string, string | number | readonly string[] | undefined>>;

export function naiveList(books: readonly NaiveBook[], query: NaiveQuery): NaiveBook[] {
  const matching = books.filter((book) => naiveMatches(book, query));
  const keys = [...String(query['sort'] ?? 'id').split(','), 'id'];
  // No key after an id decides, not even between two versions of a book.
  const decisiveKeys = keys.slice(0, keys.findIndex((key) => /^-?id$/.test(key)) + 1);
  const keyed = matching.map((book) => ({
    book,
    parts: decisiveKeys.map((key) => naiveKey(book, key)?.map((part) =>
      part === null ? null : Buffer.from(part))),
  }));
  keyed.sort((left, right) => {
    for (const [index, key] of decisiveKeys.entries()) {
      const order = naiveCompare(left.parts[index], right.parts[index], key.startsWith('-'));
      if (order !== 0) return order;
    }
    return 0;
  });
  return keyed.map(({ book }) => book);
}

/** The book with the members that `fields` names, in the order in which the book has them. */
export function naiveSelect(book: NaiveBook, fields: string): object {
  const names = ['id', ...fields.split(',')];
  return Object.fromEntries(Object.entries(book).filter(([name]) => names.includes(name)));
}

/** Knows the letters that the tests use. */
export const naiveFold = remember((text) =>
  text.toLowerCase().normalize('NFD').replace(/[\u0300-\u036f]/g, '')
    .replaceAll('ł', 'l').replaceAll('ß', 'ss').replaceAll('ø', 'o').normalize('NFC'));

/** Runs of letters and digits, folded, with the signs of `c++` and `c#`. */
export const naiveWords = remember((text): readonly string[] =>
  naiveFold(text).match(/[\p{L}\p{N}]+(?:\+\++|[+#]+(?![\p{L}\p{N}+#]))?/gu) ?? []);

/** Initials that stand together, such as `j.r.r.`, joined: `jrr`. */
export const naiveInitials = remember((text): readonly string[] => {
  const words = naiveFold(text).replaceAll(/(?<=\.) (?=\p{L}\.)/gu, '').split(/[^\p{L}\p{N}.]+/u);
  return words.flatMap((word) => {
    const letters = word.split('.');
    const end = letters.findIndex((letter) => letter.length !== 1);
    const count = end < 0 ? letters.length : end;
    return count < 2 ? [] : [letters.slice(0, count).join('')];
  });
});

/** Words that a dot begins, such as `.net`. */
const naiveDotted = remember((text): readonly string[] =>
  naiveFold(text).split(/\s/u).filter((word) => /^\.\p{L}+$/u.test(word)));

const naiveRuns = remember((text): readonly string[] =>
  [...naiveWords(text), ...naiveInitials(text), ...naiveDotted(text)]);

/** Tests ask of the same texts again and again: to find their words took a third of the time. */
function remember<Value>(compute: (text: string) => Value): (text: string) => Value {
  const values = new Map<string, Value>();
  return (text) => {
    const value = values.get(text) ?? compute(text);
    values.set(text, value);
    return value;
  };
}

/** null: what comes last, either way. */
type NaiveKey = readonly (Buffer | null)[] | undefined;

function naiveCompare(
  left: NaiveKey, right: NaiveKey, isDescending: boolean,
): number {
  if (left === undefined && right === undefined) return 0;
  if (left === undefined) return 1;
  if (right === undefined) return -1;
  for (const [index, part] of left.entries()) {
    const other = right[index] ?? null;
    if (part === null || other === null) {
      if (part === other) continue;
      return part === null ? 1 : -1;
    }
    const order = Buffer.compare(part, other);
    if (order !== 0) return isDescending ? -order : order;
  }
  return 0;
}

function naiveKey(book: NaiveBook, key: string): readonly (string | null)[] | undefined {
  const { datePublished, series: [series] = [] } = book;
  const { rating, finishedOn } = book.reading ?? {};
  switch (key.replace('-', '')) {
    case 'title': return [naiveTitle(book.title)];
    case 'author': return book.authors[0] === undefined ? undefined : naiveName(book.authors[0]);
    case 'datePublished': return datePublished === undefined ? undefined : [datePublished];
    case 'rating': return rating === undefined ? undefined : [rating.toFixed(2)];
    case 'finishedOn': return finishedOn === undefined ? undefined : [finishedOn];
    case 'series': return series === undefined ? undefined
      : [naiveTitle(series.name), series.position?.toFixed(3).padStart(12, '0') ?? null];
    case 'updatedAt': return [book.updatedAt];
    case 'createdAt': return [book.createdAt];
    default: return [book.id];
  }
}

/** Numbers by their value. Knows the quotes and brackets that the tests use. */
function naiveTitle(title: string): string {
  return naiveFold(title).replace(/^["(«“ ]+/u, '')
    .replaceAll(/[0-9]+/g, (digits) => digits.padStart(30, '0'));
}

/** The family name and the rest. Knows the forms of names that the tests use. */
function naiveName({ name, familyName, givenName }: NaiveAuthor): readonly string[] {
  const text = naiveFold(name);
  let [family, rest] = ['', ''];
  const words = text.split(' ');
  if (familyName !== undefined) {
    family = naiveFold(familyName);
    rest = text.replace(family, '').replace(',', '');
  } else if (text.includes(',')) [family = '', rest = ''] = text.split(',');
  else if (/[\p{Script=Han}\p{Script=Hangul}\p{Script=Katakana}]/u.test(text)) family = text;
  else {
    const last = words.findLast((word) => !['jr.', 'sr.', 'iii'].includes(word)) ?? '';
    family = last;
    rest = words.filter((word) => word !== last).join(' ');
  }
  return [family, (givenName === undefined ? rest : naiveFold(givenName)).trim()];
}

function naiveMatches(book: NaiveBook, query: NaiveQuery): boolean {
  const names = book.authors.map(({ name }) => name);
  const texts = [
    book.title, book.subtitle ?? '', ...names, ...book.keywords ?? [], book.isbn ?? '',
    ...(book.series ?? []).map(({ name }) => name), ...book.reading?.shelves ?? [],
  ];
  const { status = '', rating, finishedOn, shelves = [], review = '', owned } = book.reading ?? {};
  const isAmong = (wanted: string, list: readonly string[]): boolean =>
    list.some((one) => one.toLowerCase() === wanted.toLowerCase());
  const placeTexts: Readonly<Record<string, readonly string[] | undefined>> = {
    review: [review],
    metadata: Object.values(book.metadata ?? {}).filter((value) => typeof value === 'string'),
  };
  const { hasIsbn } = query;
  const hasKeyword = (keyword: string): boolean => (book.keywords ?? []).some((one) =>
    one.toLowerCase() === keyword.toLowerCase());
  return holdsForAny(query, 'q', (words) =>
    hasWords(placeTexts[String(query['in'])] ?? texts, words))
    && holdsForAny(query, 'status', (wanted) => wanted === status)
    && holdsForAny(query, 'shelf', (wanted) => isAmong(wanted, shelves))
    && holdsForAny(query, 'series', (wanted) =>
      isAmong(wanted, (book.series ?? []).map(({ name }) => name)))
    && holdsForAny(query, 'owned', (wanted) => wanted === String(owned))
    && holdsForAny(query, 'ratingFrom', (from) => rating !== undefined && rating >= Number(from))
    && holdsForAny(query, 'ratingTo', (to) => rating !== undefined && rating <= Number(to))
    && isWithin(finishedOn, query['finishedFrom'], query['finishedTo'])
    && holdsForAny(query, 'author', (words) => hasWords(names, words))
    && holdsForAny(query, 'publisher', (words) => hasWords([book.publisher ?? ''], words))
    && holdsForAny(query, 'isbn', (isbn) => book.isbn === isbn.replaceAll('-', ''))
    && holdsForAny(query, 'inLanguage', (range) => hasLanguage(book.inLanguage, range))
    && holdsForAny(query, 'bookFormat', (format) => book.bookFormat === format)
    && holdsForAny(query, 'keyword', hasKeyword)
    && !valuesOf(query, 'keyword.not').some(hasKeyword)
    && (hasIsbn === undefined || (book.isbn !== undefined) === (hasIsbn === 'true'))
    && isWithin(book.datePublished, query['publishedFrom'], query['publishedTo']);
}

function isWithin(
  date: string | undefined, from: NaiveQuery[string], to: NaiveQuery[string],
): boolean {
  return (from === undefined || (date !== undefined && firstDay(date) >= firstDay(String(from))))
    && (to === undefined || (date !== undefined && lastDay(date) <= lastDay(String(to))));
}

function firstDay(date: string): string {
  return date.padEnd('YYYY-MM-DD'.length, '-01');
}

function lastDay(date: string): string {
  if (date.length === 'YYYY-MM-DD'.length) return date;
  const [year = 0, month = 12] = date.split('-').map(Number);
  const end = new Date(0);
  end.setUTCFullYear(year, month, 0);
  return `${date.padEnd('YYYY-MM'.length, '-12')}-${end.getUTCDate()}`;
}

function holdsForAny(
  query: NaiveQuery, name: string, holds: (value: string) => boolean,
): boolean {
  const values = valuesOf(query, name);
  return values.length === 0 || values.some(holds);
}

function valuesOf(query: NaiveQuery, name: string): readonly string[] {
  const value = query[name];
  if (value === undefined) return [];
  return typeof value === 'object' ? value : [String(value)];
}

function hasLanguage(tag: string | undefined, range: string): boolean {
  return `${tag ?? ''}-`.toLowerCase().startsWith(`${range}-`.toLowerCase());
}

/** Whether each word of the query begins one; every character of Chinese or Korean begins one. */
function hasWords(texts: readonly string[], query: string): boolean {
  const has = (word: string): boolean => {
    const isUnspaced = /[\p{Script=Han}\p{Script=Hangul}]/u.test(word);
    return texts.some((text) => naiveRuns(text)
      .some((run) => isUnspaced ? run.includes(word) : run.startsWith(word)));
  };
  if (naiveWords(query).length === 0) {
    return query.split(' ').every((signs) => texts.some((text) => naiveFold(text).includes(signs)));
  }
  const parts = query.replace(/(?<=(?<!\p{L})\p{L}\.) (?=\p{L}\.)/gu, '').split(' ');
  return parts.every((part) => {
    const dotted = naiveDotted(part);
    if (dotted.length > 0) return dotted.every(has);
    return naiveWords(part).every(has)
      || (naiveInitials(part).length > 0 && naiveInitials(part).every(has));
  });
}
