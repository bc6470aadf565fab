/** The HTTP routes of the catalog: those of every resource, the list with its queries, imports. */
import type { IncomingMessage } from 'node:http';
import { AppError } from '../base/errors.ts';
import { lazyImport } from '../base/lazy-import.ts';
import type { Schema } from '../base/schema.ts';
import { ANY_TYPE } from '../server/accept.ts';
import { checkNotCompressed, parseJsonBody, readMediaType } from '../server/exchange/read-body.ts';
import { problemResponses } from '../server/problem.ts';
import {
  REPETITIONS_MAX, parseQuery, parseRepeatableQuery, readParameters, type readQuery,
} from '../server/query.ts';
import { createPrecondition } from '../resources/conditional-request.ts';
import {
  IDEMPOTENCY_PARAMETER, REPLAYED_HEADERS, serveOnce, type IdempotencyKeys,
} from '../resources/idempotency-keys.ts';
import {
  JSON_OBJECT, JSON_TYPE, TEXT, arraySchema, pagedListResponse,
} from '../resources/route-specs.ts';
import {
  WRITE_CONDITIONS, createKeyParameter, recordResponse, resourceRoutes, runWrite,
  type RecordFormats,
} from '../resources/resource-routes.ts';
import type {
  Exchange, HttpRoute, OtherMediaType, ParameterSpec, ResponseSpec,
} from '../server/http-route.ts';
import { aggregateRoutes, type Aggregates } from './aggregates/aggregate-routes.ts';
import { bookSchema } from './book.ts';
import type { Catalog } from './catalog.ts';
import { bookResource } from './book-resource.ts';
import type { BookList } from './list/book-list.ts';
import { mergeSchema } from './merge-books.ts';
import { parseColumnMap } from './transfer/csv-columns.ts';
import type { ImportBody } from './transfer/import.ts';
import { FILE_TYPES, JSON_LINES_TYPES, FORMATS, WRITTEN_FORMATS } from './transfer/format-list.ts';
import {
  MATCH_LIST, ON_MATCH, isContradictory, parseMatches, type ImportMode,
} from './transfer/import-mode.ts';
import { JSON_LINES, importSchema } from './transfer/import-record.ts';
import {
  FORMAT, SPREADSHEET, correctionHeaders, bookQueryParameters, fieldsParameter,
} from './query/query-parameters.ts';
import { selectFormat } from './transfer/select-format.ts';
import { parseFields, selectMembers } from './query/select-members.ts';

const BOOKS_IMPORT_PATH = `${bookResource.path}/import`;

/** Without `keys` an `Idempotency-Key` has no effect. */
export function bookRoutes(options: {
  readonly catalog: Catalog; readonly list: BookSender; readonly aggregates: Aggregates;
  readonly keys?: IdempotencyKeys;
}): readonly HttpRoute[] {
  const { catalog, list, aggregates, keys = null } = options;
  return [
    listRoute(list),
    importRoute(catalog),
    mergeRoute(catalog, keys),
    ...aggregateRoutes(aggregates),
    ...resourceRoutes(
      { ...bookResource, selection: BOOK_SELECTION, formats: RECORD_FORMATS }, catalog, keys),
  ];
}

type BookSender = Pick<BookList, 'sendJson' | 'sendAs'>;

const FORMAT_PARAMETER: ParameterSpec = {
  name: FORMAT, in: 'query',
  schema: { kind: 'string', values: WRITTEN_FORMATS.map(({ name }) => name) },
  description: 'The format of the answer, whatever `Accept` says. Default: the one that `Accept` '
    + 'wants most, else json.',
};

const SPREADSHEET_PARAMETER: ParameterSpec = {
  name: SPREADSHEET, in: 'query', schema: { kind: 'boolean' },
  description: "True is csv for a spreadsheet: with a byte order mark, a `'` before formulas, and "
    + 'a hyphen in each ISBN, which is no number then. An import takes all of it off again.',
};

/** The formats that a client would parse; the others are text. */
const SCHEMAS: ReadonlyMap<string, Schema> =
  new Map<string, Schema>([['jsonld', JSON_OBJECT], ['csl', arraySchema(JSON_OBJECT)]]);

const OTHER_TYPES: readonly OtherMediaType[] = WRITTEN_FORMATS
  .filter(({ name }) => name !== 'json')
  .flatMap(({ name, writtenTypes }) => writtenTypes.map((mediaType) =>
    ({ mediaType, schema: SCHEMAS.get(name) ?? TEXT })));

/**
 * Whether the request asks for JSON, or for nothing else. It is a look at a header, as nearly all
 * callers want JSON.
 */
function isPlainlyJson({ search, request: { headers: { accept } } }: Exchange): boolean {
  if (accept !== undefined && accept !== ANY_TYPE && accept !== 'application/json') return false;
  // A percent sign may hide the name of a parameter.
  return search === '' || !/format|spreadsheet|%/.test(search);
}

const RECORD_FORMATS: RecordFormats = {
  parameter: FORMAT_PARAMETER,
  otherTypes: OTHER_TYPES,
  isPlainlyJson,
  async select(exchange) {
    const format = selectFormat(exchange);
    if (format === null) return null;
    const { headers } = format;
    const writer = await format.createWriter({ isOneBook: true });
    return (bytes) => {
      const text = writer.begin() + writer.write([bytes]) + writer.end();
      return { bytes: Buffer.from(text), headers };
    };
  },
};

const BOOK_SELECTION = {
  parameter: fieldsParameter,
  parse: (search: string): (bytes: Buffer) => Buffer => {
    const text = parseQuery(search, [fieldsParameter.name, FORMAT]).get(fieldsParameter.name);
    if (text === undefined) return (bytes) => bytes;
    const fields = parseFields(text);
    return (bytes) => selectMembers(bytes, fields);
  },
};

const PAGED_LIST =
  pagedListResponse('The books, streamed', bookSchema, 'How many books match, on all pages');
// The schema is that of books alone: a choice of two would make every generated client ask which.
const BOOK_LIST_RESPONSE: ResponseSpec = {
  ...PAGED_LIST,
  description: 'The books, streamed, in the format that `format` or `Accept` asks for; with '
    + '`explain=true` an object in their place',
  otherTypes: OTHER_TYPES,
  headers: {
    ...PAGED_LIST.headers,
    ...correctionHeaders,
  },
};

function listRoute(list: BookSender): HttpRoute {
  const sendInFormat = async (exchange: Exchange): Promise<void> => {
    const format = selectFormat(exchange);
    if (format === null) return list.sendJson(exchange);
    const { headers, isForSpreadsheet } = format;
    const writer = await format.createWriter({ isForSpreadsheet });
    return list.sendAs(exchange, { headers, writer });
  };
  return {
    method: 'GET',
    path: bookResource.path,
    operationId: 'listBooks',
    summary: 'All books, or those that match, in id order or sorted, whole or page by page',
    access: 'read',
    tool: {},
    parameters: [...bookQueryParameters, FORMAT_PARAMETER, SPREADSHEET_PARAMETER],
    responses: [
      BOOK_LIST_RESPONSE,
      ...problemResponses(400, 406, 503),
    ],
    handle: (exchange) =>
      isPlainlyJson(exchange) ? list.sendJson(exchange) : sendInFormat(exchange),
  };
}

const IMPORT_PARAMETERS = [
  {
    name: 'format', in: 'query',
    schema: { kind: 'string', values: FORMATS.map(({ name }) => name) },
    description: 'The format of the file, whatever its media type. Without it a media type of one '
      + 'format says it, and of a media type of several the first 64 KiB of the file.',
  },
  {
    name: 'match', in: 'query',
    schema: { kind: 'string', pattern: MATCH_LIST, mustBe: 'a list such as `isbn,title`' },
    description: 'By what a record and a book are the same, besides their id: `isbn`; `title`, '
      + 'which is title, first author and year; or `source`, the id that the source gave the '
      + 'record. A file from here has the ids of its books, which come first. Several stand in a '
      + 'list, `isbn,title`: the first by which a book is found counts. `source` is tried last, '
      + 'unless it is in the list, in formats whose records have such an id. Default: `source` in '
      + 'formats whose records have such an id, `isbn` for a list of ISBNs, else nothing.',
  },
  {
    name: 'onMatch', in: 'query', schema: { kind: 'string', values: ON_MATCH },
    description: 'What becomes of a book that a record matches: `skip` leaves it, `update` (the '
      + 'default) sets the members that the record has, but those of which it says what it said at '
      + 'its last import, `fill` only those that the book lacks, and adds keywords and shelves to '
      + 'those that it has, `replace` sets all. A book of the same id is left alone where neither '
      + '`match` nor this is named, in json, jsonl and csv: a record that says the same is '
      + 'unchanged, another is skipped.',
  },
  {
    name: 'replace', in: 'query', schema: { kind: 'boolean' },
    description: 'True is `onMatch=replace`.',
  },
  {
    name: 'allTypes', in: 'query', schema: { kind: 'boolean' },
    description: 'Take records of other types, such as articles, for books too.',
  },
  {
    name: 'dryRun', in: 'query', schema: { kind: 'boolean' },
    description: 'Check and answer as if, and store nothing.',
  },
  {
    name: 'fromMetadata', in: 'query', schema: { kind: 'boolean' },
    description: 'Take no body: read again what `metadata.source` of all books has, as an import '
      + 'of those records would, and set what a book has not yet, member by member. In the answer '
      + '`format` is `metadata`, and each book with such a source is a record, `line` its number.',
  },
  {
    name: 'verbose', in: 'query', schema: { kind: 'boolean' },
    description: 'Name each new or changed book by its `title`, in `members` what changes, and in '
      + '`values` how, in short. With `dryRun` each line has as `book` what the record says of '
      + 'title, authors, ISBN, date, language, status, rating and last day of reading.',
  },
] as const satisfies readonly ParameterSpec[];

const COLUMN = 'column';

const COLUMN_PARAMETER: ParameterSpec = {
  name: COLUMN, in: 'query',
  schema: { kind: 'array', items: { kind: 'string' }, maxItems: REPETITIONS_MAX },
  description: 'What a column of a csv holds: a member of a book, as `Written by=authors`, those '
    + 'of `reading` with a dot; `Shop=metadata.Shop` for a column of your own; or `Notes=none`, '
    + 'which leaves it out. For each column once. Default: what the name of the column says.',
};

const PREFER_PARAMETER: ParameterSpec = {
  name: 'Prefer', in: 'header', schema: { kind: 'string' },
  description: '`return=minimal` (RFC 7240): of the records only those are answered that could '
    + 'not be imported, the first 1,000. For who cannot read while sending, such as a browser.',
};

const IMPORT_RESPONSE: ResponseSpec = {
  status: 200,
  description: 'JSON Lines, streamed while the body is read: first what it is taken for, '
    + '`{"format":"jsonl","encoding":"utf-8"}`, with `columns` where columns of a csv have other '
    + 'names than what they hold: `{"Titel":"title","Shop":"metadata.Shop"}`; then for each record '
    + 'that came, in order, '
    + '`{"line":1,"status":"imported","id":"…"}`, where `status` is `imported`, `updated`, '
    + '`unchanged`, `replaced`, `otherType` (with its `type`: it is no book) or `skipped`; a '
    + 'skipped one says why in `detail` and, for broken rules, in `errors`, and a bad one has its '
    + 'number, `record`, and what its source calls it, `key`. The last line is the count: '
    + '`{"imported":2,"updated":0,"replaced":0,"unchanged":0,"skipped":1,"existing":1,'
    + '"dryRun":false,"leftOut":{}}`. Each record is counted once, as new (`imported`), `updated` '
    + '(some `replaced` as a whole), `unchanged` or `skipped` (some as they are `existing`); the '
    + 'fields that did not fit into `metadata` are in `leftOut`, the records of other types in '
    + '`otherTypes`, in `replacedMembers` in how many books an update replaced what another source '
    + 'or a person had said, by member, with the first record of each in `firstReplaced`, in '
    + '`keptMembers` and `firstKept` those whose value stays, as there is no room in `metadata` to '
    + 'keep it beside what the record says, which is there instead, in `passedOver` and '
    + '`firstPassedOver` those that a fill leaves, and nothing keeps what a record of json, jsonl '
    + 'or csv says instead, in `unmatchable` how many new '
    + 'books had nothing to match by, such as an id: the same import adds them once more, '
    + '`match=isbn,title` does not; in `withoutId` those that are added again once they have '
    + 'changed in their source; in '
    + '`sameIsbn` how many books have the ISBN of another, new ones and those that alone of '
    + 'several have the own id of their record, in `sameTitle` how many others the '
    + 'title and first author, in `merged` how many of the unchanged ones are of books that were '
    + 'merged into others, in `lostLetters` how many have `?` in the place of letters of their '
    + 'books, which stay, in `withoutStatus` how many new books have a `finishedOn` and no '
    + '`status`, and in `alike` the first of each by `line`, `record`, `title` and `id`, '
    + 'with the `otherId` of that book; in `putAside` in how many records the model refused what '
    + 'they say of a member, or a date is not of the reading that the book has, by member: it is '
    + 'in `metadata.source`, of a csv in `metadata`; `firstPutAside` and `firstLeftOut` have the '
    + 'first record of each; '
    + 'in `ownColumns` in how many records of a csv a column that is no member has a text, by '
    + 'column: it is in `metadata`. '
    + '`error` is there when the import ended early; what it counts is stored even then. '
    + 'Read while you send: after 8 MiB of answer that nobody takes, the body waits.',
  mediaType: JSON_LINES,
};

/** A short book: each record is one line, also where the documentation shows it. */
const IMPORT_EXAMPLE = { title: 'Emma', authors: [{ name: 'Jane Austen' }] };

const loadImport = lazyImport(() => import('./transfer/import.ts'));

function importRoute(catalog: Catalog): HttpRoute {
  return {
    method: 'POST',
    path: BOOKS_IMPORT_PATH,
    operationId: 'importBooks',
    summary: 'Import a file of books of any length and format; no events are fired',
    access: 'write',
    tool: 'none',
    parameters: [...IMPORT_PARAMETERS, COLUMN_PARAMETER, PREFER_PARAMETER],
    body: {
      mediaTypes: JSON_LINES_TYPES, fileMediaTypes: FILE_TYPES,
      schema: importSchema, example: IMPORT_EXAMPLE, isOptional: true,
    },
    responses: [IMPORT_RESPONSE, ...problemResponses(400, 415, 422)],
    handle(exchange) {
      const { columnTexts, format, fromMetadata, ...modeParameters } =
        readImportQuery(exchange.search);
      const mode = toImportMode(modeParameters, columnTexts);
      const isBrief = prefersMinimal(exchange.request);
      if (fromMetadata === true) {
        const column = columnTexts.length === 0 ? null : columnTexts;
        checkReread(exchange, { format, column, ...modeParameters });
        return loadImport(({ runReread }) => runReread(catalog, exchange, mode, isBrief));
      }
      checkNotCompressed(exchange.request);
      const kind: ImportBody = format === null
        ? { mediaType: readMediaType(exchange.request, [...JSON_LINES_TYPES, ...FILE_TYPES]) }
        : { format };
      return loadImport(({ runImport }) => runImport(catalog, exchange, kind, mode, isBrief));
    },
  };
}

type ImportValues = ReturnType<typeof readQuery<(typeof IMPORT_PARAMETERS)[number]>>;

function readImportQuery(
  search: string,
): ImportValues & { readonly columnTexts: readonly string[] } {
  const names = [...IMPORT_PARAMETERS.map(({ name }) => name), COLUMN];
  const query = parseRepeatableQuery(search, names, [COLUMN]);
  const singleValues = new Map([...query].map(([name, [value = '']]) => [name, value] as const));
  return {
    ...readParameters(singleValues, IMPORT_PARAMETERS), columnTexts: query.get(COLUMN) ?? [],
  };
}

/** Throws `malformed` for a body, and for what is said of a file. */
function checkReread(
  { request: { headers } }: Exchange,
  values: Omit<ImportValues, 'fromMetadata'> & { readonly column: readonly string[] | null },
): void {
  const { dryRun, verbose, ...ofFile } = values;
  const names = Object.entries(ofFile).flatMap(([name, value]) => value === null ? [] : [name]);
  if (names.length > 0) {
    throw new AppError('malformed',
      `\`fromMetadata=true\` reads no file: leave out \`${names.join('`, `')}\``);
  }
  if (headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) === 0) {
    return;
  }
  throw new AppError('malformed', '`fromMetadata=true` takes no body: send none');
}

function prefersMinimal({ headers }: IncomingMessage): boolean {
  const preferences = [headers['prefer'] ?? []].flat().join().split(/[,;]/);
  return preferences.some((one) =>
    one.replace(/[\s"]/g, '').toLowerCase() === 'return=minimal');
}

function toImportMode(
  { onMatch: named, match, replace, allTypes, dryRun, verbose }:
  Omit<ImportValues, 'format' | 'fromMetadata'>,
  columnTexts: readonly string[],
): ImportMode {
  if (isContradictory(named, replace === true)) {
    throw new AppError('malformed', `\`replace=true\` contradicts \`onMatch=${named}\``);
  }
  const matches = match === null ? [] : parseMatches(match);
  if (typeof matches === 'string') throw new AppError('malformed', `\`match\` ${matches}`);
  const columns = parseColumnMap(columnTexts);
  if (typeof columns === 'string') throw new AppError('malformed', `\`${COLUMN}\` ${columns}`);
  return {
    matches,
    onMatch: replace === true ? 'replace' : named,
    hasAllTypes: allTypes === true, columns, isDryRun: dryRun === true,
    isVerbose: verbose === true,
  };
}

const LOST_HEADER = 'X-Merge-Lost';
const LOST_HEADERS = {
  [LOST_HEADER]: 'The members of the deleted book whose values the merged book does not have, nor '
    + 'keeps in its metadata: `title, reading.rating`; absent: none',
};

/** Without `keys` an `Idempotency-Key` has no effect. */
function mergeRoute(catalog: Catalog, keys: IdempotencyKeys | null): HttpRoute {
  const response = recordResponse(bookResource, 200, 'The book as stored');
  return {
    method: 'POST',
    path: `${bookResource.path}/{id}/merge`,
    operationId: 'mergeBooks',
    summary: 'Merge a book into this one: the members that are named become as it has them, and it '
      + 'is deleted',
    access: 'write',
    parameters: [createKeyParameter(bookResource), ...WRITE_CONDITIONS, IDEMPOTENCY_PARAMETER],
    body: { mediaTypes: [JSON_TYPE], schema: mergeSchema },
    responses: [
      { ...response, headers: { ...response.headers, ...REPLAYED_HEADERS, ...LOST_HEADERS } },
      ...problemResponses(400, 404, 409, 412, 413, 415, 422, 503, 507),
    ],
    handle: (exchange) => serveOnce(keys, exchange, (body, keepResponse) =>
      runWrite(exchange, bookResource, ({ hops }) => catalog.merge({
        id: exchange.params[0] ?? '', body: parseJsonBody(body),
        precondition: createPrecondition(exchange, bookResource.noun),
        hops,
        onMerged: (transaction, { representation: { headerText, bytes }, lostNames }) =>
          keepResponse(transaction, {
            status: 200, headers: headerText + formatLostNames(lostNames), body: bytes,
          }),
      }))),
  };
}

/** Names of members are our own texts. */
function formatLostNames(names: readonly string[]): string {
  return names.length === 0 ? '' : `${LOST_HEADER}: ${names.join(', ')}\r\n`;
}
