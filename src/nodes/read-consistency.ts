/**
 * Read consistency among nodes that share a log. The response to a write names the sequence that
 * holds it; a read waits until the sequence that it names is applied here, and after a pause of
 * this process until the node has caught up. Records are not read while they are being reloaded.
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
const WAIT_MS = 2000;
const RETRY_S = 1;
const READ_METHODS = ['GET', 'HEAD'];
const SAFE_METHODS = [...READ_METHODS, 'OPTIONS'];
/** These operations read what is in memory besides the records, so they need not wait. */
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
      const own = [SEQUENCE_HEADER, String(replica.sequence)];
      const all = typeof headers === 'string' ? headers + formatHeaders(own) : [...headers, ...own];
      return super.send(status, all, body);
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
    if (!replica.isReloading || !readsRecords(exchange)) return;
    throw new AppError('unavailable', 'what this node holds is being loaded anew, as the log of '
      + 'the engine is not the one that it had followed: ask another node, or come again',
    { retryAfterS: RETRY_S });
  };
  return {
    Exchange: SequencedExchange,
    assertNotReloading,
    waitUntilReadable(exchange) {
      const isBehind = replica.isBehindSincePause(exchange.startedMs);
      const sequenceHeader = exchange.request.headers['hookshelf-sequence'];
      if (sequenceHeader === undefined && !isBehind) return null;
      const isRead = READ_METHODS.includes(exchange.request.method ?? '');
      if (!isRead || !readsRecords(exchange)) return null;
      if (sequenceHeader !== undefined && !isWebhookCall(exchange.path)) {
        const sequence = parseSequence(sequenceHeader);
        if (sequence > replica.sequence) {
          return waitForSequence(replica, sequence).then(() => assertNotReloading(exchange));
        }
      }
      return isBehind ? replica.waitAfterPause().then(() => assertNotReloading(exchange)) : null;
    },
    describeRoute,
  };
}

/** Adds the sequence header to a route's description in the OpenAPI document. */
function describeRoute(route: HttpRoute): HttpRoute {
  if (route.method !== 'GET') {
    return { ...route, responses: route.responses.map(addSequenceHeader) };
  }
  if (!readsRecords({ route, path: route.path })) return route;
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

async function waitForSequence(replica: Replica, sequence: number): Promise<void> {
  if (await replica.waitFor(sequence, WAIT_MS)) return;
  throw new AppError('unavailable', `this node has applied ${replica.sequence} and not ${sequence} `
    + `yet, after ${WAIT_MS / 1000} s: ask another node, or come again`, { retryAfterS: RETRY_S });
}

function readsRecords({ route, path }: Pick<HttpExchange, 'route' | 'path'>): boolean {
  if (OPERATIONS_WITHOUT_RECORDS.includes(route.operationId)) return false;
  return route.access !== 'public' || isWebhookCall(path);
}

function mayWrite({ request, path }: HttpExchange): boolean {
  return !SAFE_METHODS.includes(request.method ?? '') || isWebhookCall(path);
}

/** Whether the path calls an incoming webhook: a GET may write there too. */
function isWebhookCall(path: string): boolean {
  return path.startsWith('/webhook/in/');
}

function parseSequence(header: string | string[]): number {
  const sequence = /^\d{1,15}$/.test(String(header)) ? Number(header) : NaN;
  if (Number.isSafeInteger(sequence)) return sequence;
  throw new AppError('malformed', `\`${SEQUENCE_HEADER}\` must be the number that the answer to a `
    + 'write had there');
}
