/**
 * Sends snapshots to an engine and receives them: the stream of local-snapshot.ts in parts of
 * 1 MiB, each with its SHA-256.
 */
import { createHash } from 'node:crypto';
import { AppError } from '../../base/errors.ts';
import type { EngineSession, EngineSnapshot, LogPosition } from '../engines/engine.ts';
import { isSamePosition } from './log-entry.ts';
import type { EngineLink } from './engine-link.ts';
import type { LocalSnapshot, WrittenSnapshot } from './local-snapshot.ts';
import { ReplicatedRecords } from './replicated-records.ts';

const PART_BYTES = 1 << 20;
/** Snapshots kept in the engine: the newest, and a second in case the newest is damaged. */
const SNAPSHOTS_RETAINED = 2;
/** 5 min: trimming may take many steps. */
const TRIM_TICKS = 1200;

/**
 * Sends a local snapshot to the engine, unless it is there. Resolves with the SHA-256 of each part
 * that was written. Throws `storage_full` when it is too large for the engine.
 */
export async function sendSnapshot(
  link: EngineLink, session: EngineSession, local: LocalSnapshot, written: WrittenSnapshot,
  bytesMax: number, isStopping: () => boolean,
): Promise<readonly string[]> {
  const sources = local.openFiles(written);
  try {
    const total = sources.files.reduce((sum, { bytes }) => sum + bytes, 0);
    if (total > bytesMax) {
      throw new AppError('storage_full', `all records together have ${total} bytes, and the engine `
        + `takes ${bytesMax}: delete some, or move to another engine with data:move`);
    }
    const { snapshots } = session;
    const existing = await link.ask(session, snapshots.list());
    if (existing.some((other) => isSamePosition(other, written))) return [];
    const sums: string[] = [];
    for await (const bytes of splitIntoParts(local.readChunks(sources))) {
      if (isStopping()) throw new AppError('unavailable', 'the store is closing');
      const content = { sha256: sha256(bytes), bytes };
      await link.ask(session, snapshots.writePart(written, sums.length, content));
      sums.push(content.sha256);
    }
    await link.ask(session, snapshots.complete(written, sums.length));
    return sums;
  } finally {
    sources.close();
  }
}

/** Receives a snapshot of the engine into the local one. Throws `damaged`. */
export async function receiveSnapshot(
  link: EngineLink, session: EngineSession, local: LocalSnapshot, log: string,
  snapshot: EngineSnapshot,
): Promise<ReplicatedRecords> {
  const { sequence, chain } = snapshot;
  const collections = await local.receive(
    { log, sequence, chain }, receiveParts(link, session, snapshot));
  return new ReplicatedRecords(collections, log, { sequence, chain });
}

/**
 * Reads back a snapshot that was sent, before the log that precedes it is removed. Another node may
 * have written other parts for the same position meanwhile: the last one to finish finds a mixture,
 * and removes it.
 */
export async function verifyParts(
  link: EngineLink, session: EngineSession, at: LogPosition, sums: readonly string[],
): Promise<void> {
  for (const [part, sum] of sums.entries()) {
    const { bytes } = await link.ask(session, session.snapshots.readPart(at, part));
    if (sha256(bytes) === sum) continue;
    await link.ask(session, session.snapshots.remove(at));
    throw new AppError('unavailable', `the snapshot at ${at.sequence} does not read back as it was `
      + 'written, as when two nodes write it at once: it is removed, and the next one will do');
  }
}

/** Reads the parts of a snapshot. Throws `damaged` for a part whose SHA-256 differs. */
export async function* receiveParts(
  link: EngineLink, session: EngineSession, snapshot: EngineSnapshot,
): AsyncGenerator<Buffer> {
  for (let part = 0; part < snapshot.parts; part += 1) {
    const content = await link.ask(session, session.snapshots.readPart(snapshot, part));
    if (sha256(content.bytes) !== content.sha256) {
      throw new AppError('damaged', `part ${part} is not as it was written`);
    }
    yield content.bytes;
  }
}

/** Removes old snapshots, and the log entries before the oldest one that is kept. */
export async function removeOldSnapshots(link: EngineLink, session: EngineSession): Promise<void> {
  const complete = await link.ask(session, session.snapshots.list());
  for (const old of complete.slice(SNAPSHOTS_RETAINED)) {
    await link.ask(session, session.snapshots.remove(old));
  }
  const floor = complete[SNAPSHOTS_RETAINED - 1]?.sequence;
  if (floor !== undefined) await link.ask(session, session.trim(floor), TRIM_TICKS);
}

function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** Yields the bytes in parts of one size; only the last part may be smaller. */
async function* splitIntoParts(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let part = Buffer.allocUnsafeSlow(PART_BYTES);
  let used = 0;
  for await (const chunk of chunks) {
    for (let at = 0; at < chunk.length;) {
      const count = chunk.copy(part, used, at);
      used += count;
      at += count;
      if (used < PART_BYTES) continue;
      yield part;
      part = Buffer.allocUnsafeSlow(PART_BYTES);
      used = 0;
    }
  }
  if (used > 0) yield part.subarray(0, used);
}
