/**
 * What a stranger sends is read in time proportional to its length. Every regular expression of the
 * program is run against inputs made from it, and every parser against inputs that have hurt
 * parsers. The bounds stand far from both sides: what is linear takes a thousandth of them.
 */
import assert from 'node:assert/strict';
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { readFileSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { parseHops } from '../src/base/webhook-chain.ts';
import { parseIpAddresses, normalizeHost } from '../src/base/network/ip-address.ts';
import { parseJson, parseJsonStrictly } from '../src/base/json/parse.ts';
import { hideSecretText, isSecretName, redactText } from '../src/base/log.ts';
import { findNearest } from '../src/base/text/nearest.ts';
import { listPemBlocks } from '../src/base/text/pem.ts';
import { escapeControls } from '../src/base/text/printable.ts';
import { CsvRowSplitter } from '../src/books/transfer/csv-rows.ts';
import { createCsvReader } from '../src/books/transfer/csv.ts';
import { CSV_COLUMNS } from '../src/books/transfer/csv-columns.ts';
import type { FormatCodec } from '../src/books/transfer/format-codec.ts';
import { readDate } from '../src/books/transfer/mapping/date-text.ts';
import { readPages } from '../src/books/transfer/mapping/field-text.ts';
import { readIsbn } from '../src/books/transfer/mapping/isbn-text.ts';
import { readHtml } from '../src/books/transfer/mapping/html-text.ts';
import { splitNames } from '../src/books/transfer/mapping/person-name.ts';
import {
  readSeriesOfTitle, readTitleBeforeSeries,
} from '../src/books/transfer/mapping/series-title.ts';
import { bookwyrmCodec } from '../src/books/transfer/sources/bookwyrm.ts';
import { calibreCodec } from '../src/books/transfer/sources/calibre.ts';
import { goodreadsCodec } from '../src/books/transfer/sources/goodreads.ts';
import { isbnCodec } from '../src/books/transfer/sources/isbn-list.ts';
import { librarythingCodec } from '../src/books/transfer/sources/librarything.ts';
import { openlibraryCodec } from '../src/books/transfer/sources/openlibrary.ts';
import { storygraphCodec } from '../src/books/transfer/sources/storygraph.ts';
import { encodeLatex } from '../src/books/transfer/grammars/latex.ts';
import { bibtexCodec } from '../src/books/transfer/sources/bibtex.ts';
import { parseIsbn } from '../src/books/isbn.ts';
import { createAuthorKey } from '../src/books/query/author-key.ts';
import { NO_CONDITIONS } from '../src/books/query/book-filter.ts';
import { ID_SORT } from '../src/books/query/book-sort.ts';
import { decodeCursor } from '../src/books/query/cursor.ts';
import { parseBookQuery } from '../src/books/query/parse-query.ts';
import { parsePartialDate } from '../src/books/partial-date.ts';
import { tokenize } from '../src/base/text/words.ts';
import { parseClauses } from '../src/books/query/words.ts';
import { parseAccept } from '../src/server/accept.ts';
import { createProxyBypass } from '../src/client/policy/proxy.ts';
import { parseRetryAfter } from '../src/client/policy/retry.ts';
import { createClientAddressResolver } from '../src/server/exchange/client-address.ts';
import { evaluateConditions } from '../src/resources/conditional-request.ts';
import { parseHostName } from '../src/access/host-check.ts';
import { parseQuery } from '../src/server/query.ts';
import { readRequestId } from '../src/server/routing/dispatcher.ts';
import { createFixedVerifier, getGrant } from '../src/access/token-verifier.ts';
import { loadSettings } from '../src/settings/load-settings.ts';
import { SETTING_ROWS } from '../src/settings/setting-table.ts';
import { decodePayload } from '../src/webhooks/actions/action-payload.ts';
import { findSecretProblem } from '../src/webhooks/outgoing/outgoing-signature.ts';
import { parseTemplate } from '../src/webhooks/outgoing/payload-template.ts';
import { findHeaderProblems, isTargetUrl } from '../src/webhooks/members/target-rules.ts';
import {
  hideQuerySecrets, hideUrlSecrets, restoreUrlSecrets,
} from '../src/webhooks/members/url-credentials.ts';
import { IS_LONG } from './support/long.ts';
import { parseBook } from './support/parse-book.ts';
import { redact } from './support/redact.ts';
import { attacksOn, expressionsOf, type Attack } from './support/regular-expressions.ts';

const SOURCE = resolve(import.meta.dirname, '../src');
const SCREEN_LENGTH = 800;
const SCREEN_MS = 0.15;
const ATTACK_LENGTH = 8000;
// A quadratic one takes twice that there, and what is slow in the screening; a linear one takes a
// twentieth of a millisecond.
const ATTACK_MS_MAX = 8;
const EXPRESSIONS_MIN = 100;

test('no regular expression takes more than linear time', () => {
  const files = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'));
  // The same one in several files is tried once.
  const places = new Map(files.flatMap((file) =>
    expressionsOf(readFileSync(join(SOURCE, file), 'utf8')).map((expression) =>
      [String(expression), { file, expression }])));
  assert.ok(places.size >= EXPRESSIONS_MIN, String(places.size));
  const slow = [...places.values()].filter(({ expression }) => isSlow(expression))
    .map(({ file, expression }) => `${file}: ${expression}`);
  assert.deepEqual(slow, []);
});

test('an expression of quadratic time is found', () => {
  const known = [
    /^[0-9][0-9-]*-[0-9-]*[0-9x]$/i, /\/+$/, /\s*\n\s*/, /^([^:\s]+):\s*(.*?)\s*$/,
    /^\s*for\s*=\s*"?([^"]*)"?\s*$/i,
  ];
  for (const expression of known) {
    assert.ok(isSlow(expression), String(expression));
  }
});

/** What is slow in a short screening is tried at length; the best of three, as others run too. */
function isSlow(expression: RegExp): boolean {
  for (const attacks of attacksOn(expression)) {
    const texts = attacks.map((attack) => attack(SCREEN_LENGTH));
    // By the wall clock, which tells no less: to ask for the time of the processor costs more.
    const startedAt = performance.now();
    for (const text of texts) text.search(expression);
    const ms = performance.now() - startedAt;
    if (ms > SCREEN_MS && attacks.some((attack) => isSlowAtLength(expression, attack))) return true;
  }
  return false;
}

function isSlowAtLength(expression: RegExp, attack: Attack): boolean {
  const text = attack(ATTACK_LENGTH);
  const times = [1, 2, 3].map(() => msOf(() => text.search(expression)));
  return Math.min(...times) > ATTACK_MS_MAX;
}

// Of the processor: on a busy machine the wall clock tells of others' work.
function msOf(run: () => unknown): number {
  const before = process.cpuUsage();
  run();
  return process.cpuUsage(before).user / 1000;
}

const NAMES = ['title', 'subtitle', 'authors', 'datePublished', 'inLanguage'];
const clientAddress = createClientAddressResolver(true);
const bypass = createProxyBypass(['.example.com', '10.0.0.0/8', '[::1]:80']);
const version = { etag: '"a"', updatedAtMs: 0, changedAtMs: 0, isObserved: true };

function requestWith(name: string, value: string): IncomingMessage {
  const request = new IncomingMessage(new Socket());
  request.headers[name] = value;
  return request;
}

function csv(text: string): void {
  const splitter = new CsvRowSplitter();
  splitter.push(Buffer.from(text));
  splitter.end();
}

/** A file whose one record has the text in each of its fields. */
function exportOf(codec: FormatCodec, columns: readonly string[], text: string): void {
  const reader = codec.createReader({ hasAllTypes: false });
  const cell = `"${text.replaceAll('"', '""')}"`;
  reader.push(Buffer.from(`${columns.join()}\n${columns.map(() => cell).join()}\n`));
  reader.end();
}

/** A table of a person's own, whose one row has the text in each cell. */
function ownTable(text: string): void {
  const reader = createCsvReader();
  const cell = `"${text.replaceAll('"', '""')}"`;
  reader.push(Buffer.from(`${CSV_COLUMNS.join()}\n${CSV_COLUMNS.map(() => cell).join()}\n`));
  reader.end();
}

function bibtex(text: string): void {
  const reader = bibtexCodec.createReader({ hasAllTypes: true });
  const fields =
    ['title', 'author', 'keywords', 'date', 'year', 'month', 'isbn', 'url', 'crossref'];
  reader.push(Buffer.from(`@book{a, ${fields.map((name) => `${name} = {${text}},`).join('\n')}}`));
  reader.push(Buffer.from(text));
  reader.end();
}

const inSettings = (text: string): void => {
  for (const { variable } of SETTING_ROWS) loadSettings({ environment: { [variable]: text } });
};

/** What reads a stranger's text. */
const PARSERS: Readonly<Record<string, (text: string) => unknown>> = {
  'X-Forwarded-For': (text) => clientAddress(requestWith('x-forwarded-for', text), '127.0.0.1'),
  Forwarded: (text) => clientAddress(requestWith('forwarded', text), '127.0.0.1'),
  'Forwarded, with for': (text) =>
    clientAddress(requestWith('forwarded', `for=${text}`), '127.0.0.1'),
  Authorization: (text) =>
    getGrant(requestWith('authorization', `Bearer ${text}`), createFixedVerifier(['t'])),
  'If-Match': (text) => evaluateConditions({ 'if-match': text }, version, false),
  'If-None-Match': (text) => evaluateConditions({ 'if-none-match': text }, version, true),
  'If-Modified-Since': (text) => evaluateConditions({ 'if-modified-since': text }, version, true),
  Host: (text) => parseHostName(text),
  'X-Request-Id': (text) => readRequestId(requestWith('x-request-id', text)),
  'X-Hookshelf-Chain': parseHops,
  Accept: (text) => [parseAccept(text), parseAccept(`text/csv;${text}`)],
  'Retry-After': (text) => parseRetryAfter(text, 0),
  'a query string': (text) => parseQuery(text, NAMES),
  'a query of books': (text) => parseBookQuery(`q=${encodeURIComponent(text)}`),
  'q=': (text) => parseClauses(text, 'q'),
  'the words of a text': tokenize,
  'isbn=': parseIsbn,
  'the name of an author': (text) => createAuthorKey({ name: text, familyName: text }),
  'sort=': (text) => parseBookQuery(`sort=${encodeURIComponent(text)}`),
  'fields=': (text) => parseBookQuery(`fields=${encodeURIComponent(text)}`),
  'publishedFrom=': parsePartialDate,
  'inLanguage=': (text) => parseBookQuery(`inLanguage=${encodeURIComponent(text)}`),
  'cursor=': (text) => decodeCursor(text, '', ID_SORT, NO_CONDITIONS),
  JSON: (text) => parseJson(Buffer.from(text)),
  'JSON, a string': (text) => parseJson(Buffer.from(`{"a":"${text}`)),
  'JSON without names twice': (text) => parseJsonStrictly(Buffer.from(`[${text}`)),
  'a payload': (text) => decodePayload(Buffer.from(text)),
  'a book': (text) => parseBook({ title: text, isbn: text, url: `http://${text}`, [text]: text,
    inLanguage: text, datePublished: text, keywords: [text] }),
  'a URL of a book': (text) => parseBook({ title: 'A', url: `http://a/${text}` }),
  'a URL of a target': (text) => isTargetUrl(`http://${text}`),
  'a URL with secrets': (text) => [hideUrlSecrets(`http://${text}`), hideQuerySecrets(text),
    restoreUrlSecrets(`http://${text}`, `http://${text}`)],
  headers: (text) => findHeaderProblems({ [text]: text }),
  'a secret': (text) => findSecretProblem(`whsec_${text}`),
  'a template': (text) => parseTemplate(JSON.stringify(text)),
  'csv': csv,
  'a table of one\'s own': ownTable,
  'a Goodreads export': (text) => exportOf(goodreadsCodec, ['Title', 'Author', 'Author l-f',
    'Additional Authors', 'ISBN', 'Year Published', 'Number of Pages', 'Binding', 'Bookshelves',
    'Date Read', 'My Rating', 'My Review'], text),
  'a title with its series': (text) => [readSeriesOfTitle(`A (${text} #1)`),
    readSeriesOfTitle(`${text} (B, #1; C)`), readTitleBeforeSeries(`A (${text}, #1)`)],
  'a StoryGraph export': (text) => exportOf(storygraphCodec, ['Title', 'Authors', 'Contributors',
    'ISBN/UID', 'Tags', 'Dates Read', 'Star Rating', 'Review'], text),
  'a LibraryThing export': (text) => exportOf(librarythingCodec, ['Title', 'Primary Author',
    'Secondary Author', 'Secondary Author Roles', 'Publication', 'Date', 'ISBNs',
    'Languages', 'Collections', 'Date Started', 'Rating', 'Review'], text),
  'a Calibre catalog': (text) => exportOf(calibreCodec,
    ['title', 'authors', 'author_sort', 'identifiers', 'pubdate', 'comments', 'formats', 'series',
      'series_index', 'rating'], text),
  'a BookWyrm export': (text) => exportOf(bookwyrmCodec, ['title', 'author_text', 'remote_id',
    'isbn_13', 'shelf', 'shelf_name', 'start_date', 'review_content'], text),
  'an Open Library reading log': (text) => exportOf(openlibraryCodec,
    ['Work ID', 'Title', 'Authors', 'First Publish Year', 'Bookshelf', 'My Ratings'], text),
  'a list of ISBNs': (text) => exportOf(isbnCodec, [text], text),
  'HTML': (text) => [readHtml(text), readHtml(`<a${text}`), readHtml(`<!--${text}`)],
  'a field': (text) => [splitNames(text), readIsbn([text]), readDate(text), readPages(text)],
  BibTeX: bibtex,
  'text that becomes LaTeX': encodeLatex,
  'an address': (text) => [parseIpAddresses(text), normalizeHost(text), bypass(text, 80)],
  'a log line': (text) => [redactText(text), redactText(`http://${text}`), escapeControls(text)],
  'a name in a log': (text) => [isSecretName(text), redact({ [text]: text })],
  'a response with a token': (text) => hideSecretText(text, `a0${'a'.repeat(1000)}`),
  PEM: listPemBlocks,
  'a misspelt name': (text) => findNearest(text, NAMES),
  'a setting': inSettings,
};

/** Repeated to any length, and then an end that fits nothing. */
const PIECES = [
  'a', '0', '-', '0-', '/', '//', ' ', '"', '\\', '\\"', ',', ';', 'for=', 'for="', ' "', '=', '&',
  'a=', '%', '%2a', ':', '1.', '.', '[', ']', '{', '{"a":', '{{', '\\{{ ', '}}', '@', '://', '?a=',
  '&token=', '\n', '\r\n', '\t', 'W/"', 'é', '中', '中a', '\u0301', 'aA', 'tokEn', 'x_', '*', '^',
  '<', '<a ', '<a>', '<!--', '<style>', '&amp;', '(', 'a (', '(a) ', '(1999', ' & ', '|', ', Jr.',
  '-----', '-----BEGIN A-----\n', '-----END A-----\n',
];
const END = '!\u0001';
// The first that takes too long ends the test: what is quadratic is found in seconds.
const LONGEST = IS_LONG ? 131_072 : 65_536;
const LENGTHS = [1024, 16_384, LONGEST];
// What is quadratic takes no longer than that when one character against another takes a sixth of a
// nanosecond.
const RUN_MS_MAX = LONGEST ** 2 / 6_000_000;

for (const [what, parse] of Object.entries(PARSERS)) {
  test(`${what} takes no time to speak of, however long it is and whatever stands in it`, () => {
    for (const piece of PIECES) {
      for (const length of LENGTHS) {
        const text = `0${piece.repeat(length / piece.length)}${END}`;
        const ms = msOf(() => attempt(() => parse(text)));
        assert.ok(ms < RUN_MS_MAX, `${JSON.stringify(piece)} × ${length}: ${Math.round(ms)} ms`);
      }
    }
  });
}

// Being refused is an answer too.
function attempt(parse: () => unknown): void {
  try {
    parse();
  } catch (thrown) {
    assert.ok(thrown instanceof Error && !(thrown instanceof RangeError), String(thrown));
  }
}
