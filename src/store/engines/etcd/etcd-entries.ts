/** The entries of a log in etcd: read in pages, and trimmed. */
import { messageOf } from '../../../base/errors.ts';
import { parseKeyValues, parseRevision } from './etcd-request.ts';
import type { Gateway } from './etcd-gateway.ts';
import { keyAfter, decodeEntry, encodeFloor } from './etcd-keys.ts';
import type { Keys } from './etcd-keys.ts';
import { PAGE_BYTES } from '../engine.ts';
import type { EngineSession, LogEntry } from '../engine.ts';

const PAGE_ENTRIES_MAX = 64;
// A range asks for as many entries as make about this much, by their size on the last page.
const RANGE_BYTES = 4 << 20;
const ENTRY_BYTES = 64 << 10;
const TRIM_STEP = 1000;

/**
 * Reads entries in pages, sized by the entries of the page before: fewer once they are large, as a
 * reply must arrive within seconds, over a slow network too.
 */
export function createEntryReader(gateway: Gateway, keys: Keys): EngineSession['readAfter'] {
  /** Average size of an entry on the last page. */
  let entryBytes = ENTRY_BYTES;
  return async (sequence, maxEntries) => {
    const entries: LogEntry[] = [];
    let total = 0;
    for (let last = sequence; entries.length < maxEntries && total < PAGE_BYTES;) {
      const entriesPerRange = Math.ceil(RANGE_BYTES / Math.max(1, entryBytes));
      const limit = Math.min(entriesPerRange, PAGE_ENTRIES_MAX, maxEntries - entries.length);
      const page = await readPage(gateway, keys, last, limit);
      entries.push(...page);
      const bytes = page.reduce((sum, { lines }) => sum + lines.length, 0);
      if (page.length > 0) entryBytes = bytes / page.length;
      if (page.length < limit) break;
      last = page.at(-1)?.sequence ?? last;
      total += bytes;
    }
    return entries;
  };
}

/**
 * Removes the entries and the snapshots below `floor`: nobody can start from those. They stay in
 * etcd's history, and count for its quota, until the history is compacted.
 */
export async function trimBelow(gateway: Gateway, keys: Keys, floor: number): Promise<void> {
  // Readers must see the new floor before any entry is gone. Another node may have raised it more.
  let response = await gateway.sendRepeatable('/v3/kv/txn', {
    compare: [{
      key: keys.floor, target: 'VALUE', result: 'LESS', value: encodeFloor(floor + 1),
    }],
    success: [{ request_put: { key: keys.floor, value: encodeFloor(floor) } }],
  });
  if (response.succeeded !== true) return;
  for (;;) {
    const page = parseKeyValues(await gateway.sendRepeatable('/v3/kv/range', {
      key: keys.entry(0), range_end: keys.entry(floor), limit: TRIM_STEP, keys_only: true,
    }));
    const [first, last] = [page[0], page.at(-1)];
    if (first === undefined || last === undefined) break;
    response = await gateway.sendRepeatable('/v3/kv/deleterange', {
      key: first.key, range_end: keyAfter(last.key),
    });
  }
  for (const [key, end] of [
    [keys.snapshot(0), keys.snapshot(floor)], [keys.parts(0), keys.parts(floor)],
  ]) response = await gateway.sendRepeatable('/v3/kv/deleterange', { key, range_end: end });
  if (gateway.address.compacts) await compact(gateway, parseRevision(response));
}

async function readPage(
  gateway: Gateway, keys: Keys, sequence: number, limit: number,
): Promise<readonly LogEntry[]> {
  const range = await gateway.sendRepeatable('/v3/kv/range', {
    key: keys.entry(sequence + 1), range_end: keys.entriesEnd, limit,
  });
  return parseKeyValues(range).map(({ value }) => decodeEntry(value));
}

async function compact(gateway: Gateway, revision: number): Promise<void> {
  try {
    await gateway.sendRepeatable('/v3/kv/compaction', { revision });
  } catch (error) {
    // Another node has compacted up to a later revision.
    if (!/has been compacted/.test(messageOf(error))) throw error;
  }
}
