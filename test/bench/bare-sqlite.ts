/**
 * The bare program of `queries`: node:http over `node:sqlite`, with the answers of `GET /api/books`
 * and `/api/books/facets` for queries that SQLite can answer as we do. It is written as somebody
 * who knows SQLite writes it: prepared statements, pages that go on after the last book's key and
 * number (a cursor in `Link`), and the total from an index where there is one. Checks nothing.
 * Needs BOOKS_PATH, a file of stored books.
 */
import { createServer } from 'node:http';
import type { OutgoingHttpHeaders } from 'node:http';
import type { SqlValue, StatementSync } from 'node:sqlite';
import { foldCase } from '../../src/base/text/fold.ts';
import { encodeDate, listWords, loadTables } from './bare-sqlite-tables.ts';

type Row = Readonly<Record<string, SqlValue>>;
type Condition = { readonly sql: string; readonly values: readonly SqlValue[] };
/** A table that a query needs, and how it names a book's number. */
type Source = { readonly table: string; readonly number: string };
type Selection = { readonly sources: readonly Source[]; readonly conditions: readonly Condition[] };
type Facet = {
  readonly source: string;
  readonly value: string;
  /** The parameters of its own filter, which it ignores. */
  readonly own: readonly string[];
};
type Answer = { readonly headers: OutgoingHttpHeaders; readonly body: string };

const BOOKS: Source = { table: 'books b', number: 'b.n' };
const KEYWORDS: Source = { table: 'keywords k', number: 'k.n' };
const SHELVES: Source = { table: 'shelves s', number: 's.n' };
const WORDS: Source = { table: 'words', number: 'words.rowid' };
const SORT_COLUMNS: Readonly<Record<string, string>> = {
  title: 'b.title', author: 'b.author', datePublished: 'b.published', updatedAt: 'b.updated',
  rating: 'b.rating', finishedOn: 'b.finished', series: 'b.series',
};
const VALUES_MAX = 20;
const FOLDED_FACETS = ['keyword', 'shelf'];
const FACETS: Readonly<Record<string, Facet>> = {
  author: { source: 'authors v', value: 'v.name', own: ['author'] },
  keyword: { source: 'keywords v', value: 'v.keyword', own: ['keyword'] },
  inLanguage: { source: 'books v', value: 'v.language', own: ['inLanguage'] },
  publisher: { source: 'books v', value: 'v.publisher', own: [] },
  decade: { source: 'books v', value: 'v.decade', own: ['publishedFrom', 'publishedTo'] },
  bookFormat: { source: 'books v', value: 'v.format', own: ['bookFormat'] },
  status: { source: 'books v', value: 'v.status', own: ['status'] },
  shelf: { source: 'shelves v', value: 'v.shelf', own: ['shelf'] },
};

const database = await loadTables(process.env['BOOKS_PATH'] ?? '');
const statements = new Map<string, StatementSync>();
const bookCount = Number(query('SELECT COUNT(*) AS total FROM books')[0]?.['total']);
const languages = query('SELECT DISTINCT language FROM books WHERE language IS NOT NULL')
  .map(({ language }) => String(language));

function query(sql: string, values: readonly SqlValue[] = []): readonly Row[] {
  let statement = statements.get(sql);
  if (statement === undefined) {
    statement = database.prepare(sql);
    statements.set(sql, statement);
  }
  return statement.all(...values);
}

function answerList(search: URLSearchParams): Answer {
  const selection = selectBooks(search);
  const limit = Number(search.get('limit'));
  // One more tells whether another page follows.
  const rows = findPage(search, selection, limit + 1);
  const page = rows.slice(0, limit);
  const headers: OutgoingHttpHeaders = { 'X-Total-Count': countBooks(selection) };
  const last = page.at(-1);
  if (rows.length > limit && last !== undefined) {
    search.set('cursor', encodeCursor(last));
    headers['Link'] = `</api/books?${search}>; rel="next"`;
  }
  return { headers, body: `[${page.map(({ book }) => book).join(',\n')}]\n` };
}

function selectBooks(search: URLSearchParams): Selection {
  const conditions: Condition[] = [];
  const sources = new Set<Source>();
  const add = (source: Source, sql: string, ...values: readonly SqlValue[]): void => {
    sources.add(source);
    conditions.push({ sql, values });
  };
  const words = [
    ...listWords(search.get('q') ?? '').map((word) => `"${word}" *`),
    ...listWords(search.get('author') ?? '').map((word) => `authors : "${word}" *`),
  ];
  if (words.length > 0) add(WORDS, 'words MATCH ?', words.join(' AND '));
  const keyword = search.get('keyword');
  if (keyword !== null) add(KEYWORDS, 'k.keyword = ?', foldCase(keyword));
  const language = search.get('inLanguage');
  if (language !== null) {
    const tags = languages.filter((tag) => tag === language || tag.startsWith(`${language}-`));
    add(BOOKS, `b.language IN (${tags.map(() => '?').join(', ')})`, ...tags);
  }
  const format = search.get('bookFormat');
  if (format !== null) add(BOOKS, 'b.format = ?', format);
  const from = search.get('publishedFrom');
  if (from !== null) add(BOOKS, 'b.published >= ?', encodeDate(from, '0'));
  const to = search.get('publishedTo');
  if (to !== null) add(BOOKS, 'b.published <= ?', encodeDate(to, '9'));
  selectByReading(search, add);
  return { sources: [...sources], conditions };
}

function selectByReading(
  search: URLSearchParams, add: (source: Source, sql: string, value: SqlValue) => void,
): void {
  const shelf = search.get('shelf');
  if (shelf !== null) add(SHELVES, 's.shelf = ?', foldCase(shelf));
  const status = search.get('status');
  if (status !== null) add(BOOKS, 'b.status = ?', status);
  const ratingFrom = search.get('ratingFrom');
  if (ratingFrom !== null) add(BOOKS, 'b.rating >= ?', Number(ratingFrom));
  const finishedFrom = search.get('finishedFrom');
  if (finishedFrom !== null) add(BOOKS, 'b.finished >= ?', encodeDate(finishedFrom, '0'));
  const finishedTo = search.get('finishedTo');
  if (finishedTo !== null) add(BOOKS, 'b.finished <= ?', encodeDate(finishedTo, '9'));
  const owned = search.get('owned');
  if (owned !== null) add(BOOKS, 'b.owned = ?', Number(owned === 'true'));
}

function countBooks(selection: Selection): number {
  if (selection.conditions.length === 0) return bookCount;
  const rows = query(`SELECT COUNT(*) AS total ${writeFrom(selection)}`, valuesOf(selection));
  return Number(rows[0]?.['total']);
}

/** Books without the key come after all others. */
function findPage(
  search: URLSearchParams, selection: Selection, limit: number,
): readonly Row[] {
  const sort = search.get('sort') ?? 'id';
  const isDescending = sort.startsWith('-');
  const column = SORT_COLUMNS[sort.replace('-', '')];
  const offset = Number(search.get('offset') ?? 0);
  const after = decodeCursor(search.get('cursor'));
  // The first source has the books of one value, or of some words, in order of their numbers.
  const { number } = selection.sources[0] ?? BOOKS;
  const afterNumber = after === null ? [] : [{ sql: `${number} > ?`, values: [after.n] }];
  const read = (conditions: readonly Condition[], order: string, count: number): readonly Row[] =>
    readBooks(selection, conditions, `${column ?? 'NULL'} AS key`, order, [count, offset]);
  if (column === undefined) return read(afterNumber, number, limit);
  const keyless = { sql: `${column} IS NULL`, values: [] };
  if (after?.key === null) return read([keyless, ...afterNumber], number, limit);
  const keyed = after === null ? { sql: `${column} IS NOT NULL`, values: [] }
    : isAfter(column, isDescending, after.key, after.n);
  const rows = read([keyed], `${column}${isDescending ? ' DESC' : ''}, b.n`, limit);
  return rows.length === limit ? rows
    : [...rows, ...read([keyless], number, limit - rows.length)];
}

function readBooks(
  selection: Selection, conditions: readonly Condition[], key: string, order: string,
  limits: readonly number[],
): readonly Row[] {
  const all = {
    sources: [...new Set([...selection.sources, BOOKS])],
    conditions: [...selection.conditions, ...conditions],
  };
  return query(`SELECT b.book, b.n, ${key} ${writeFrom(all)} ORDER BY ${order} LIMIT ? OFFSET ?`,
    [...valuesOf(all), ...limits]);
}

function isAfter(
  column: string, isDescending: boolean, value: SqlValue, n: number,
): Condition {
  return isDescending
    ? { sql: `${column} <= ? AND (${column} < ? OR b.n > ?)`, values: [value, value, n] }
    : { sql: `(${column}, b.n) > (?, ?)`, values: [value, n] };
}

function writeFrom({ sources, conditions }: Selection): string {
  const [first = BOOKS, ...others] = sources;
  const joins = others.map(({ number }) => `${number} = ${first.number}`);
  const tables = [first, ...others].map(({ table }) => table).join(', ');
  const where = [...joins, ...conditions.map(({ sql }) => sql)].join(' AND ');
  return `FROM ${tables}${where === '' ? '' : ` WHERE ${where}`}`;
}

function valuesOf({ conditions }: Selection): SqlValue[] {
  return conditions.flatMap(({ values }) => values);
}

function encodeCursor({ key, n }: Row): string {
  return Buffer.from(JSON.stringify([key, n])).toString('base64url');
}

function decodeCursor(text: string | null): { key: SqlValue; n: number } | null {
  if (text === null) return null;
  const [key, n]: [SqlValue, number] = JSON.parse(Buffer.from(text, 'base64url').toString());
  return { key, n };
}

function answerFacets(search: URLSearchParams): Answer {
  const wanted = search.get('by')?.split(',') ?? [];
  const asked = Object.entries(FACETS).filter(([name]) => wanted.includes(name));
  const facets = asked.map(([name, facet]) =>
    [name, countValues(name, facet, search)]);
  const total = countBooks(selectBooks(search));
  return { headers: {}, body: JSON.stringify({ total, facets: Object.fromEntries(facets) }) };
}

function countValues(
  name: string, { source, value, own }: Facet, search: URLSearchParams,
): readonly Row[] {
  const rest = new URLSearchParams(search);
  for (const parameter of own) rest.delete(parameter);
  const selection = selectBooks(rest);
  const shown = FOLDED_FACETS.includes(name) ? 'MIN(v.spelling)' : value;
  const order = `GROUP BY ${value} ORDER BY 2 DESC, 1 LIMIT ${VALUES_MAX}`;
  const columns = `${shown} AS value, COUNT(*) AS count`;
  if (selection.conditions.length === 0) {
    return query(`SELECT ${columns} FROM ${source} WHERE ${value} IS NOT NULL ${order}`);
  }
  const { number } = selection.sources[0] ?? BOOKS;
  return query(`WITH matches AS MATERIALIZED (SELECT ${number} AS n ${writeFrom(selection)}) `
    + `SELECT ${columns} FROM matches m, ${source} WHERE v.n = m.n AND ${value} IS NOT NULL `
    + order, valuesOf(selection));
}

const server = createServer((request, response) => {
  const [path, search] = (request.url ?? '').split('?');
  const parameters = new URLSearchParams(search);
  const { headers, body } =
    path === '/api/books/facets' ? answerFacets(parameters) : answerList(parameters);
  response.writeHead(200, {
    'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body), ...headers,
  });
  response.end(body);
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  process.stdout.write(`listening on http://127.0.0.1:${port}\n`);
});
process.on('SIGTERM', () => process.exit(0));
