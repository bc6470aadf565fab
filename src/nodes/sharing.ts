/**
 * What serving needs where the store is shared: answers to writes tell the sequence that holds
 * them, a read waits for the sequence that it names, and after this process stood still until it
 * has caught up; nothing is read while the records are being loaded anew.
 */
import { AppError } from '../base/errors.ts';
import { HttpExchange } from '../server/exchange/http-exchange.ts';
import { formatHeaders } from '../server/exchange/header-text.ts';
import { problemResponses } from '../server/problem.ts';
import type { ParameterSpec, Pull, HttpRoute } from '../server/http-route.ts';
import type { ReadConsistency } from '../server/routing/dispatcher.ts';
import type { Replica } from '../store/store-port.ts';

const SEQUENCE_HEADER = 'Hookshelf-Sequence';
const WAIT_MS = 2000;
const RETRY_S = 1;
const READS = ['GET', 'HEAD'];
const SAFE = [...READS, 'OPTIONS'];
/** Of what is in memory besides the records. */
const WITHOUT_RECORDS = ['getStatus', 'getStatistics', 'getMetrics', 'listLogLines', 'listSettings',
  'listNodes', 'listPlaces'];

const WRITTEN = 'Sequence of the log that holds what was written, for reads at other nodes; of an '
  + 'import in a trailer';
const READ_PARAMETER: ParameterSpec = {
  name: SEQUENCE_HEADER, in: 'header',
  description: 'From the answer to a write: the node waits up to 2 s until it has applied that',
  schema: { kind: 'integer', minimum: 0, maximum: 999_999_999_999_999 },
};

export function createSharing(replica: Replica): ReadConsistency {
  class SharedExchange extends HttpExchange {
    override send(
      status: number, headers: readonly string[] | string, body?: Buffer | string,
    ): void {
      if (!mayWrite(this)) return super.send(status, headers, body);
      const own = [SEQUENCE_HEADER, String(replica.sequence)];
      const all = typeof headers === 'string' ? headers + formatHeaders(own) : [...headers, ...own];
      return super.send(status, all, body);
    }

    /** An import answers while it writes: the sequence of its last write comes in a trailer. */
    override sendStream(status: number, headers: readonly string[], pull: Pull): Promise<void> {
      if (!mayWrite(this)) return super.sendStream(status, headers, pull);
      return super.sendStream(status, [...headers, 'Trailer', SEQUENCE_HEADER], async () => {
        const pieces = await pull();
        const trailers = { [SEQUENCE_HEADER]: String(replica.sequence) };
        if (pieces === null) this.response.addTrailers(trailers);
        return pieces;
      });
    }
  }
  const check = (exchange: HttpExchange): void => {
    if (!replica.isReloading || !readsRecords(exchange)) return;
    throw new AppError('unavailable', 'what this node holds is being loaded anew, as the log of '
      + 'the engine is not the one that it had followed: ask another node, or come again',
    { retryAfterS: RETRY_S });
  };
  return {
    Exchange: SharedExchange,
    assertNotReloading: check,
    waitUntilReadable(exchange) {
      const isBehind = replica.isBehindSincePause(exchange.startedMs);
      const given = exchange.request.headers['hookshelf-sequence'];
      if (given === undefined && !isBehind) return null;
      if (!READS.includes(exchange.request.method ?? '') || !readsRecords(exchange)) return null;
      if (given !== undefined && !isCall(exchange.path)) {
        const sequence = parseSequence(given);
        if (sequence > replica.sequence) {
          return waitFor(replica, sequence).then(() => check(exchange));
        }
      }
      return isBehind ? replica.waitAfterPause().then(() => check(exchange)) : null;
    },
    describeRoute: describe,
  };
}

/** What the OpenAPI document says besides of a route. */
function describe(route: HttpRoute): HttpRoute {
  if (route.method !== 'GET') {
    return { ...route, responses: route.responses.map((answer) => answer.status >= 300 ? answer
      : { ...answer, headers: { ...answer.headers, [SEQUENCE_HEADER]: WRITTEN } }) };
  }
  if (!readsRecords({ route, path: route.path })) return route;
  return {
    ...route, parameters: [...route.parameters ?? [], READ_PARAMETER],
    responses: [...route.responses, ...problemResponses(503)],
  };
}

async function waitFor(replica: Replica, sequence: number): Promise<void> {
  if (await replica.waitFor(sequence, WAIT_MS)) return;
  throw new AppError('unavailable', `this node has applied ${replica.sequence} and not ${sequence} `
    + `yet, after ${WAIT_MS / 1000} s: ask another node, or come again`, { retryAfterS: RETRY_S });
}

function readsRecords({ route, path }: Pick<HttpExchange, 'route' | 'path'>): boolean {
  if (WITHOUT_RECORDS.includes(route.operationId)) return false;
  return route.access !== 'public' || isCall(path);
}

function mayWrite({ request, path }: HttpExchange): boolean {
  return !SAFE.includes(request.method ?? '') || isCall(path);
}

/** Of an incoming webhook, which a GET may be too. */
function isCall(path: string): boolean {
  return path.startsWith('/webhook/in/');
}

function parseSequence(given: string | string[]): number {
  const sequence = /^\d{1,15}$/.test(String(given)) ? Number(given) : NaN;
  if (Number.isSafeInteger(sequence)) return sequence;
  throw new AppError('malformed', `\`${SEQUENCE_HEADER}\` must be the number that the answer to a `
    + 'write had there');
}
