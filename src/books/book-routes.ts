/** The HTTP routes of the catalog: those of every resource, the list with its queries, imports. */
import { AppError } from '../base/errors.ts';
import { quote } from '../base/text/error-message.ts';
import { checkMediaType } from '../server/exchange/read-body.ts';
import { problemResponses } from '../server/problem.ts';
import { parseQuery } from '../server/query.ts';
import type { IdempotencyKeys } from '../resources/idempotency-keys.ts';
import { pagedListResponse } from '../resources/route-specs.ts';
import { resourceRoutes } from '../resources/resource-routes.ts';
import type { ResponseSpec, Handler, ParameterSpec, HttpRoute } from '../server/http-route.ts';
import { aggregateRoutes } from './aggregates/aggregate-routes.ts';
import { bookSchema } from './book.ts';
import type { Catalog } from './catalog.ts';
import { bookResource } from './book-resource.ts';
import type { AggregateOptions } from './aggregates/match-scan.ts';
import { JSON_LINES, importSchema } from './transfer/import-record.ts';
import { runImport } from './transfer/import.ts';
import {
  correctionHeaders, bookQueryParameters, fieldsParameter,
} from './query/query-parameters.ts';
import { parseFields, selectMembers } from './query/select-members.ts';

const BOOKS_IMPORT_PATH = `${bookResource.path}/import`;

/**
 * `list` handles `GET /api/books`; the routes about many books scan with `scanDeps`. Without `keys`
 * an `Idempotency-Key` has no effect.
 */
export function bookRoutes(options: {
  readonly catalog: Catalog; readonly list: Handler; readonly scanDeps: AggregateOptions;
  readonly keys?: IdempotencyKeys;
}): readonly HttpRoute[] {
  const { catalog, list, scanDeps, keys = null } = options;
  return [
    listRoute(list),
    importRoute(catalog),
    ...aggregateRoutes(scanDeps),
    ...resourceRoutes({ ...bookResource, selection: BOOK_SELECTION }, catalog, keys),
  ];
}

const BOOK_SELECTION = {
  parameter: fieldsParameter,
  parse: (search: string): (bytes: Buffer) => Buffer => {
    const text = parseQuery(search, [fieldsParameter.name]).get(fieldsParameter.name);
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
  description: 'The books, streamed; with `explain=true` an object in their place',
  headers: {
    ...PAGED_LIST.headers,
    ...correctionHeaders,
  },
};

function listRoute(handle: Handler): HttpRoute {
  return {
    method: 'GET',
    path: bookResource.path,
    operationId: 'listBooks',
    summary: 'All books, or those that match, in id order or sorted, whole or page by page',
    access: 'read',
    parameters: bookQueryParameters,
    responses: [
      BOOK_LIST_RESPONSE,
      ...problemResponses(400, 503),
    ],
    handle,
  };
}

const IMPORT_MEDIA_TYPES = [JSON_LINES, 'application/x-ndjson', 'application/json-lines'] as const;

const IMPORT_PARAMETERS: readonly ParameterSpec[] = [
  {
    name: 'replace', in: 'query', schema: { kind: 'boolean' },
    description: 'Replace a book whose id is taken, instead of skipping the new one.',
  },
  {
    name: 'dryRun', in: 'query', schema: { kind: 'boolean' },
    description: 'Check and answer as if, and store nothing.',
  },
];

const IMPORT_RESPONSE: ResponseSpec = {
  status: 200,
  description: 'JSON Lines, streamed while the body is read: for each book that came, in order, '
    + '`{"line":1,"status":"imported","id":"…"}`, where `status` is `imported`, `replaced` or '
    + '`skipped`; a skipped one says why in `detail` and, for broken rules, in `errors`. The last '
    + 'line is the count: `{"imported":2,"skipped":1,"replaced":0,"existing":1,"dryRun":false}`, '
    + 'with `error` when the import ended early; what it counts is stored even then. Read while '
    + 'you send: after 8 MiB of answer that nobody takes, the body waits.',
  mediaType: JSON_LINES,
};

/** A short book: each record is one line, also where the documentation shows it. */
const IMPORT_EXAMPLE = { title: 'Emma', authors: [{ name: 'Jane Austen' }] };

function importRoute(catalog: Catalog): HttpRoute {
  return {
    method: 'POST',
    path: BOOKS_IMPORT_PATH,
    operationId: 'importBooks',
    summary: 'Import books, one JSON object a line, of any number; no events are fired',
    access: 'write',
    parameters: IMPORT_PARAMETERS,
    body: { mediaTypes: IMPORT_MEDIA_TYPES, schema: importSchema, example: IMPORT_EXAMPLE },
    responses: [IMPORT_RESPONSE, ...problemResponses(400, 415)],
    handle(exchange) {
      const query = parseQuery(exchange.search, ['replace', 'dryRun']);
      const mode = {
        isReplacing: isTrue(query, 'replace'), isDryRun: isTrue(query, 'dryRun'),
      };
      checkMediaType(exchange.request, IMPORT_MEDIA_TYPES);
      // The response begins at once: what breaks the body is told in its last line, in no problem.
      return runImport(catalog, exchange, mode);
    },
  };
}

function isTrue(query: ReadonlyMap<string, string>, name: string): boolean {
  const text = query.get(name) ?? 'false';
  if (text === 'true' || text === 'false') return text === 'true';
  throw new AppError('malformed', `\`${name}\` must be true or false, not ${quote(text)}`);
}
