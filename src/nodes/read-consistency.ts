/**
 * Read consistency among nodes that share a log: a read that names the sequence of a write sees
 * that write, at whichever node it is served. A node that cannot keep this responds with 503,
 * never with older records.
 *
 * The response to a write names the sequence that holds it (`Hookshelf-Sequence`). A read that
 * bears the header waits until that sequence is applied here. Every read waits as well while this
 * process is behind after a pause, and fails while the records are being reloaded. That is checked
 * again after each wait, as a reload may have begun meanwhile.
 */
import { AppError } from '../base/errors.ts';
import { HttpExchange } from '../server/exchange/http-exchange.ts';
import { formatHeaders } from '../server/exchange/header-text.ts';
import { problemResponses } from '../server/problem.ts';
import type {
  HeaderList, HeaderText, HttpRoute, ParameterSpec, Pull, ResponseSpec,
} from '../server/http-route.ts';
import type { ReadConsistency } from '../server/routing/dispatcher.ts';
import type { Replica } from '../store/store-port.ts';

const SEQUENCE_HEADER = 'Hookshelf-Sequence';
const WAIT_MS_MAX = 2000;
const RETRY_S = 1;
const READ_METHODS = ['GET', 'HEAD'];
const SAFE_METHODS = [...READ_METHODS, 'OPTIONS'];
/**
 * The `operationId`s of routes that respond without reading records, so that they need not wait:
 * with the state of this process, its metrics, log and settings, and with the nodes. They must be
 * served even when the engine is away.
 */
const OPERATIONS_WITHOUT_RECORDS = [
  'getStatus', 'getStatistics', 'getMetrics', 'listLogLines', 'listSettings', 'listNodes',
  'listPlaces',
];

const SEQUENCE_DESCRIPTION = 'Sequence of the log that holds what was written, for reads at '
  + 'other nodes; of an import in a trailer';
const SEQUENCE_PARAMETER: ParameterSpec = {
  name: SEQUENCE_HEADER, in: 'header',
  description: 'From the answer to a write: the node waits up to 2 s until it has applied that',
  schema: { kind: 'integer', minimum: 0, maximum: 999_999_999_999_999 },
};

export function createReadConsistency(replica: Replica): ReadConsistency {
  class SequencedExchange extends HttpExchange {
    override send(
      status: number, headers: HeaderList | HeaderText, body?: Buffer | string,
    ): void {
      if (!mayWrite(this)) return super.send(status, headers, body);
      const sequenceHeader = [SEQUENCE_HEADER, String(replica.sequence)];
      return super.send(status, typeof headers === 'string'
        ? headers + formatHeaders(sequenceHeader) : [...headers, ...sequenceHeader], body);
    }

    /** An import responds while it writes: its last sequence comes in a trailer. */
    override sendStream(status: number, headers: HeaderList, pull: Pull): Promise<void> {
      if (!mayWrite(this)) return super.sendStream(status, headers, pull);
      return super.sendStream(status, [...headers, 'Trailer', SEQUENCE_HEADER], async () => {
        const pieces = await pull();
        const trailers = { [SEQUENCE_HEADER]: String(replica.sequence) };
        if (pieces === null) this.response.addTrailers(trailers);
        return pieces;
      });
    }
  }
  const assertNotReloading = (exchange: HttpExchange): void => {
    if (!replica.isReloading || !readsRecords(exchange.route)) return;
    throw new AppError('unavailable', 'what this node holds is being loaded anew, as the log of '
      + 'the engine is not the one that it had followed: ask another node, or come again',
    { retryAfterS: RETRY_S });
  };
  return {
    Exchange: SequencedExchange,
    assertNotReloading,
    waitUntilReadable(exchange) {
      const isBehindSincePause = replica.isBehindSincePause(exchange.startedMs);
      const sequenceHeader = exchange.request.headers['hookshelf-sequence'];
      if (sequenceHeader === undefined && !isBehindSincePause) return null;
      const isRead = READ_METHODS.includes(exchange.request.method ?? '');
      if (!isRead || !readsRecords(exchange.route)) return null;
      // A foreign sender of a webhook may bear a header of that name: it means nothing to us.
      if (sequenceHeader !== undefined && exchange.route.isIncomingWebhook !== true) {
        const sequence = parseSequence(sequenceHeader);
        if (sequence > replica.sequence) {
          return waitForSequence(replica, sequence).then(() => assertNotReloading(exchange));
        }
      }
      if (!isBehindSincePause) return null;
      return replica.waitAfterPause().then(() => assertNotReloading(exchange));
    },
    describeRoute,
  };
}

/** Adds the sequence header to a route's description in the OpenAPI document. */
function describeRoute(route: HttpRoute): HttpRoute {
  if (route.method !== 'GET') {
    return { ...route, responses: route.responses.map(addSequenceHeader) };
  }
  if (!readsRecords(route)) return route;
  return {
    ...route, parameters: [...route.parameters ?? [], SEQUENCE_PARAMETER],
    responses: [...route.responses, ...problemResponses(503)],
  };
}

function addSequenceHeader(response: ResponseSpec): ResponseSpec {
  if (response.status >= 300) return response;
  const headers = { ...response.headers, [SEQUENCE_HEADER]: SEQUENCE_DESCRIPTION };
  return { ...response, headers };
}

/** Waits until a sequence is applied here. Throws `unavailable` when that takes too long. */
async function waitForSequence(replica: Replica, sequence: number): Promise<void> {
  if (await replica.waitFor(sequence, WAIT_MS_MAX)) return;
  throw new AppError('unavailable', `this node has applied ${replica.sequence} and not ${sequence} `
    + `yet, after ${WAIT_MS_MAX / 1000} s: ask another node, or come again`,
  { retryAfterS: RETRY_S });
}

/** Whether the response depends on records. Public routes do not, except calls of webhooks. */
function readsRecords({ operationId, access, isIncomingWebhook }: HttpRoute): boolean {
  if (OPERATIONS_WITHOUT_RECORDS.includes(operationId)) return false;
  return access !== 'public' || isIncomingWebhook === true;
}

/**
 * Whether a response names the sequence: a request that may have written. An incoming webhook may
 * write whatever the method.
 */
function mayWrite({ request, route }: HttpExchange): boolean {
  return !SAFE_METHODS.includes(request.method ?? '') || route.isIncomingWebhook === true;
}

function parseSequence(header: string | string[]): number {
  const sequence = /^\d{1,15}$/.test(String(header)) ? Number(header) : NaN;
  if (Number.isSafeInteger(sequence)) return sequence;
  throw new AppError('malformed', `\`${SEQUENCE_HEADER}\` must be the number that the answer to a `
    + 'write had there');
}
