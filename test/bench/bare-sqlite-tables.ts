/**
 * The tables of the bare program over SQLite: one row for each book, with the text that is stored,
 * what is sorted and filtered by folded as we fold it, and an index for each. Books are numbered in
 * the order of their ids, as SQLite walks and compares row numbers fastest. The words are in FTS5,
 * as our words and with indexes of their beginnings.
 */
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { DatabaseSync } from 'node:sqlite';
import { fold, foldCase } from '../../src/base/text/fold.ts';
import { tokenize } from '../../src/base/text/words.ts';
import { createAuthorKey } from '../../src/books/query/author-key.ts';

type StoredBook = {
  readonly id: string;
  readonly updatedAt: string;
  readonly title: string;
  readonly authors: readonly { readonly name: string }[];
  readonly isbn?: string;
  readonly publisher?: string;
  readonly datePublished?: string;
  readonly inLanguage?: string;
  readonly bookFormat?: string;
  readonly keywords?: readonly string[];
  readonly series?: readonly { readonly name: string; readonly position?: number }[];
  readonly reading?: Reading;
};

type Reading = {
  readonly status?: string;
  readonly rating?: number;
  readonly finishedOn?: string;
  readonly shelves?: readonly string[];
  readonly owned?: boolean;
};

const TABLES = `
  CREATE TABLE books (
    n INTEGER PRIMARY KEY, title TEXT NOT NULL, author TEXT, published INTEGER,
    updated TEXT NOT NULL, language TEXT, format TEXT, decade TEXT, publisher TEXT,
    series TEXT, status TEXT, rating REAL, finished INTEGER, owned INTEGER, book TEXT NOT NULL
  );
  CREATE TABLE shelves (
    shelf TEXT NOT NULL, n INTEGER NOT NULL, spelling TEXT NOT NULL, PRIMARY KEY (shelf, n)
  ) WITHOUT ROWID;
  CREATE TABLE keywords (
    keyword TEXT NOT NULL, n INTEGER NOT NULL, spelling TEXT NOT NULL, PRIMARY KEY (keyword, n)
  ) WITHOUT ROWID;
  CREATE TABLE authors (
    name TEXT NOT NULL, n INTEGER NOT NULL, PRIMARY KEY (name, n)
  ) WITHOUT ROWID;
  CREATE VIRTUAL TABLE words USING fts5 (
    texts, authors, content='', detail=column, prefix='2 3 4', tokenize='ascii'
  );`;

/** A book's number stands in each index too, so that it has the books of one value in order. */
const INDEXES = `
  CREATE INDEX books_by_title ON books (title);
  CREATE INDEX books_by_author ON books (author);
  CREATE INDEX books_by_published ON books (published);
  CREATE INDEX books_by_updated ON books (updated DESC);
  CREATE INDEX books_by_language ON books (language);
  CREATE INDEX books_by_format ON books (format);
  CREATE INDEX books_by_decade ON books (decade);
  CREATE INDEX books_by_publisher ON books (publisher);
  CREATE INDEX books_by_series ON books (series);
  CREATE INDEX books_by_status ON books (status);
  CREATE INDEX books_by_rating ON books (rating);
  CREATE INDEX books_by_finished ON books (finished);
  CREATE INDEX books_by_owned ON books (owned);
  CREATE INDEX shelves_by_book ON shelves (n);
  CREATE INDEX keywords_by_book ON keywords (n);
  CREATE INDEX authors_by_book ON authors (n);
  INSERT INTO words (words) VALUES ('optimize');
  ANALYZE;`;

// No name has it, and it sorts before every character of one. SQLite's own functions end a text at
// the NUL that our keys have in its place.
const SEPARATOR = '\x01';
const POSITION_WIDTH = 10;

/** A database in memory with the books of a file of JSON Lines, which stand in order of ids. */
export async function loadTables(path: string): Promise<DatabaseSync> {
  const database = new DatabaseSync(':memory:');
  database.exec(`${TABLES} BEGIN`);
  const insert = prepareInsert(database);
  let n = 0;
  for await (const line of createInterface({ input: createReadStream(path) })) {
    n += 1;
    insert(n, line);
  }
  database.exec(`COMMIT; ${INDEXES}`);
  return database;
}

/** The words of a text for FTS5, which divides them at spaces alone. */
export function listWords(text: string): readonly string[] {
  return tokenize(text).map((token) => token.text);
}

/** A date of any precision as YYYYMMDD; `rest` stands for the digits that it lacks. */
export function encodeDate(date: string, rest: '0' | '9'): number {
  return Number(date.replaceAll('-', '').padEnd(8, rest));
}

/** The name of a series and the place in it as one text that sorts as we sort them, rising. */
export function encodeSeries(name: string, position: number | undefined): string {
  const place = position === undefined ? '~' : position.toFixed(3).padStart(POSITION_WIDTH, '0');
  return `${fold(name)}${SEPARATOR}${place}`;
}

function prepareInsert(database: DatabaseSync): (n: number, line: string) => void {
  const toBooks = database.prepare(`INSERT INTO books VALUES (${'?, '.repeat(14)}?)`);
  const toKeywords = database.prepare('INSERT OR IGNORE INTO keywords VALUES (?, ?, ?)');
  const toShelves = database.prepare('INSERT OR IGNORE INTO shelves VALUES (?, ?, ?)');
  const toAuthors = database.prepare('INSERT OR IGNORE INTO authors VALUES (?, ?)');
  const toWords = database.prepare('INSERT INTO words (rowid, texts, authors) VALUES (?, ?, ?)');
  return (n, line) => {
    const book: StoredBook = JSON.parse(line);
    const { title, authors, isbn = '', publisher, datePublished, keywords = [] } = book;
    const { series = [], reading: { status, rating, finishedOn, shelves = [], owned } = {} } = book;
    const [author] = authors;
    const [firstSeries] = series;
    const names = authors.map(({ name }) => name);
    toBooks.run(n, fold(title),
      author === undefined ? null : Buffer.from(createAuthorKey(author), 'latin1').toString()
        .replace('\0', SEPARATOR),
      datePublished === undefined ? null : encodeDate(datePublished, '0'),
      book.updatedAt, book.inLanguage ?? null, book.bookFormat ?? null,
      datePublished === undefined ? null : `${datePublished.slice(0, 3)}0`, publisher ?? null,
      firstSeries === undefined ? null : encodeSeries(firstSeries.name, firstSeries.position),
      status ?? null, rating ?? null, finishedOn === undefined ? null : encodeDate(finishedOn, '0'),
      owned === undefined ? null : Number(owned), line);
    for (const keyword of keywords) toKeywords.run(foldCase(keyword), n, keyword);
    for (const shelf of shelves) toShelves.run(foldCase(shelf), n, shelf);
    for (const name of names) toAuthors.run(name, n);
    const texts = [title, ...keywords, ...series.map(({ name }) => name), ...shelves, isbn];
    toWords.run(n, listWords(texts.join(' ')).join(' '), listWords(names.join(' ')).join(' '));
  };
}
