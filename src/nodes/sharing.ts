/**
 * What serving needs where the store is shared: answers to writes tell the sequence that holds
 * them, a read waits for the sequence that it names, and after this process stood still until it
 * has caught up; nothing is read while the records are being loaded anew.
 */
import { AppError } from '../base/errors.ts';
import { HttpExchange } from '../server/exchange/exchange.ts';
import type { Sharing } from '../server/routing/dispatcher.ts';
import type { Replica } from '../store/port.ts';

const SEQUENCE_HEADER = 'Hookshelf-Sequence';
const WAIT_MS = 2000;
const RETRY_S = 1;
const READS = ['GET', 'HEAD'];
const SAFE = [...READS, 'OPTIONS'];
/** Of what is in memory besides the records. */
const WITHOUT_RECORDS =
  ['getStatus', 'getStatistics', 'listLogLines', 'listSettings', 'listNodes', 'listPlaces'];

export function createSharing(replica: Replica): Sharing {
  class SharedExchange extends HttpExchange {
    override send(status: number, headers: readonly string[], body?: Buffer | string): void {
      if (SAFE.includes(this.request.method ?? '')) return super.send(status, headers, body);
      const sequence = String(replica.sequence);
      return super.send(status, [...headers, SEQUENCE_HEADER, sequence], body);
    }
  }
  return {
    Exchange: SharedExchange,
    check(exchange) {
      if (!replica.isReloading || !readsRecords(exchange)) return;
      throw new AppError('unavailable', 'what this node holds is being loaded anew, as the log of '
        + 'the engine is not the one that it had followed: ask another node, or come again',
      { retryAfterS: RETRY_S });
    },
    wait(exchange) {
      const waking = replica.waitAfterStandstill(exchange.startedMs);
      const given = exchange.request.headers['hookshelf-sequence'];
      if (given === undefined && waking === null) return null;
      if (!READS.includes(exchange.request.method ?? '')) return null;
      const sequence = given === undefined ? 0 : parseSequence(given);
      if (sequence > replica.sequence) return waitFor(replica, sequence);
      return readsRecords(exchange) ? waking : null;
    },
  };
}

async function waitFor(replica: Replica, sequence: number): Promise<void> {
  if (await replica.waitFor(sequence, WAIT_MS)) return;
  throw new AppError('unavailable', `this node has applied ${replica.sequence} and not ${sequence} `
    + `yet, after ${WAIT_MS / 1000} s: ask another node, or come again`, { retryAfterS: RETRY_S });
}

function readsRecords({ route, path }: HttpExchange): boolean {
  if (WITHOUT_RECORDS.includes(route.operationId)) return false;
  return route.access !== 'public' || path.startsWith('/webhook/in/');
}

function parseSequence(given: string | string[]): number {
  const sequence = /^\d{1,15}$/.test(String(given)) ? Number(given) : NaN;
  if (Number.isSafeInteger(sequence)) return sequence;
  throw new AppError('malformed', `\`${SEQUENCE_HEADER}\` must be the number that the answer to a `
    + 'write had there');
}
