/** An OpenAPI document as the tests use it, and the check of an answer against it. */
import assert from 'node:assert/strict';
import { STATUS_CODES } from 'node:http';
import type { IncomingHttpHeaders } from 'node:http';
import { validate } from './json-schema.ts';

export type Media = { readonly schema: unknown; readonly example?: unknown };
export type Content = Readonly<Record<string, Media>>;

export type Parameter = {
  readonly name: string; readonly in: string; readonly required: boolean;
  readonly description: string; readonly schema: unknown;
};

export type Described = {
  readonly description: string;
  readonly headers?: Readonly<Record<string, unknown>>;
  readonly content?: Content;
};

type Operation = {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly required: boolean; readonly content: Content };
  readonly responses: Readonly<Record<string, Described>>;
  readonly security: readonly object[];
};

export type ApiDocument = {
  readonly openapi: string;
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, unknown>> };
};

export type PlacedOperation = Operation & { readonly method: string; readonly path: string };

export type GivenAnswer = {
  readonly status: number; readonly headers: IncomingHttpHeaders; readonly text: string;
};

export function operationsOf(document: ApiDocument): readonly PlacedOperation[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) =>
      ({ ...operation, method: method.toUpperCase(), path })));
}

// Present only when there is something to tell.
const OCCASIONAL_HEADERS = [
  'Idempotency-Replayed', 'Link', 'Retry-After', 'X-Hint', 'X-Merge-Lost', 'X-Search-Complete',
  'X-Search-Corrected', 'X-Search-Until',
];

/** Asserts that the document describes the answer: status, headers, media type and body. */
export function assertDescribed(
  document: ApiDocument, operation: PlacedOperation, answer: GivenAnswer,
): void {
  const name = `${operation.operationId} ${answer.status}`;
  const described = operation.responses[answer.status];
  assert.ok(described !== undefined, `${name} is not described: ${answer.text}`);
  assert.ok(STATUS_CODES[answer.status] !== undefined && described.description !== '', name);
  assert.ok(answer.headers['x-request-id'] !== undefined, `${name} has a request id`);
  for (const header of Object.keys(described.headers ?? {})) {
    if (OCCASIONAL_HEADERS.includes(header)) continue;
    // Nobody knows how many records a search would find.
    const isSearch = answer.headers['x-search-complete'] !== undefined;
    if (isSearch && header === 'X-Total-Count') continue;
    assert.ok(answer.headers[header.toLowerCase()] !== undefined, `${name} lacks ${header}`);
  }
  const given = answer.headers['content-type']?.split(';')[0];
  if (described.content === undefined) {
    assert.deepEqual([given, answer.text], [undefined, ''], `${name} has a body`);
    return;
  }
  const media = described.content[given ?? ''] ?? described.content['*/*'];
  assert.ok(media !== undefined, `${name} is not described as ${given}`);
  const isJson = /json$/.test(given ?? '');
  const value: unknown = isJson ? JSON.parse(answer.text) : answer.text;
  const problems = validate(value, media.schema, document);
  assert.deepEqual(problems, [], `${name} ${answer.text.slice(0, 300)}`);
}
