/**
 * Snapshots on their way to an engine and from it: the stream of local-image.ts, in parts of 1 MiB,
 * each with its SHA-256.
 */
import { createHash } from 'node:crypto';
import { AppError } from '../../base/errors.ts';
import type { EngineSession, EngineSnapshot, LogPosition } from '../engines/engine.ts';
import { isSamePosition } from './chain.ts';
import type { EngineLink } from './engine-link.ts';
import type { ImageManifest, LocalImage } from './local-image.ts';

const PART_BYTES = 1 << 20;
/** Snapshots in the engine: one to start from, and the one before it in case that is damaged. */
const KEPT = 2;
/** 5 min: it may be many steps. */
const TRIM_TICKS = 1200;

/**
 * Gives the engine an image that is here, unless it has it. Resolves with the SHA-256 of each part
 * that was written. Throws `storage_full` when it is too large for the engine.
 */
export async function sendImage(
  link: EngineLink, session: EngineSession, local: LocalImage, manifest: ImageManifest,
  bytesMax: number, isStopping: () => boolean,
): Promise<readonly string[]> {
  const total = manifest.files.reduce((sum, { bytes }) => sum + bytes, 0);
  if (total > bytesMax) {
    throw new AppError('storage_full', `all records together have ${total} bytes, and the engine `
      + `takes ${bytesMax}: delete some, or move to another engine with data:move`);
  }
  const { snapshots } = session;
  const known = await link.ask(session, snapshots.list());
  if (known.some((other) => isSamePosition(other, manifest))) return [];
  const sums: string[] = [];
  for await (const bytes of partsOf(local.pieces(manifest))) {
    if (isStopping()) throw new AppError('unavailable', 'the store is closing');
    const content = { sha256: sha256(bytes), bytes };
    await link.ask(session, snapshots.writePart(manifest, sums.length, content));
    sums.push(content.sha256);
  }
  await link.ask(session, snapshots.complete(manifest, sums.length));
  return sums;
}

/**
 * Reads one back that was written, as the log before it is to be removed. Another node may have
 * written one of the same position meanwhile, whose parts are others: who is done last finds a
 * mixture, and removes it.
 */
export async function checkParts(
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

/** Throws `damaged` for a part that is not as it was written. */
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

/** Removes old snapshots, and what precedes the oldest that is kept from the log. */
export async function removeOld(link: EngineLink, session: EngineSession): Promise<void> {
  const complete = await link.ask(session, session.snapshots.list());
  for (const old of complete.slice(KEPT)) await link.ask(session, session.snapshots.remove(old));
  const floor = complete[KEPT - 1]?.sequence;
  if (floor !== undefined) await link.ask(session, session.trim(floor), TRIM_TICKS);
}

function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** The same bytes in parts of one size, the last of which may be smaller. */
async function* partsOf(pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let part = Buffer.allocUnsafeSlow(PART_BYTES);
  let used = 0;
  for await (const piece of pieces) {
    for (let at = 0; at < piece.length;) {
      const count = piece.copy(part, used, at);
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
