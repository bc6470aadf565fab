/** `POST /api/books/{id}/merge`: a book takes in another, with members that the caller names. */
import { createPrecondition } from '../resources/conditional-request.ts';
import {
  IDEMPOTENCY_PARAMETER, REPLAYED_HEADERS, serveOnce, type IdempotencyKeys,
} from '../resources/idempotency-keys.ts';
import {
  WRITE_CONDITIONS, createKeyParameter, recordResponse, runWrite,
} from '../resources/resource-routes.ts';
import { JSON_TYPE } from '../resources/route-specs.ts';
import { parseJsonBody } from '../server/exchange/read-body.ts';
import type { HttpRoute } from '../server/http-route.ts';
import { problemResponses } from '../server/problem.ts';
import { bookResource } from './book-resource.ts';
import type { Catalog } from './catalog.ts';
import { mergeSchema } from './merge-books.ts';

const LOST_HEADER = 'X-Merge-Lost';
const LOST_HEADERS = {
  [LOST_HEADER]: 'The members of the deleted book whose values the merged book does not have, nor '
    + 'keeps in its metadata: `title, reading.rating`; absent: none',
};

/** Without `keys` an `Idempotency-Key` has no effect. */
export function mergeRoute(catalog: Catalog, keys: IdempotencyKeys | null): HttpRoute {
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
