/** Entries of a log as tests of engines append them. */
import { createHash, randomUUID } from 'node:crypto';
import type {
  EngineSession, LogEntry, LogHead, LogPosition,
} from '../../../src/store/engines/engine.ts';

export const START: LogPosition = { sequence: 0, chain: '' };

export function newHead(log = randomUUID()): LogHead {
  return { log, format: 1, floor: 0, ...START };
}

export function entryAfter(
  { sequence, chain }: LogPosition, lines = '{"a":"\u00e9"}\n', count = 1,
): LogEntry {
  const batchId = randomUUID();
  return {
    first: sequence + 1, sequence: sequence + count, batchId, lines: Buffer.from(lines),
    chain: createHash('sha256').update(chain).update(batchId).update(lines).digest('hex'),
  };
}

/** Appends `count` entries, one after the other. */
export async function appendMany(
  session: EngineSession, log: string, from: LogPosition, count: number,
): Promise<LogPosition> {
  let at = from;
  for (let index = 0; index < count; index += 1) {
    const entry = entryAfter(at, `{"index":${index}}\n`);
    if (!await session.append(log, at, entry)) throw new Error('a conflict');
    at = entry;
  }
  return at;
}
