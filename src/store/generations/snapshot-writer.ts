/**
 * Writes the snapshot of one collection (its format: snapshot.ts) from a frozen view, in steps of
 * half a mebibyte, between which the loop serves others. Output that was copied from scattered or
 * half-dead chunks becomes a chunk of the arena to which the records move. So a compaction also
 * frees garbage, and puts records that are neighbours in key order side by side.
 */
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { crc32 } from 'node:zlib';
import { assert } from '../../base/assert.ts';
import { AppError } from '../../base/errors.ts';
import { SEPARATOR } from '../records/arena.ts';
import { snapshotName, temporaryName } from '../disk/inventory.ts';
import { withFile, writeFully } from '../disk/read-write.ts';
import type { Descriptor, Files } from '../disk/files.ts';
import type { FrozenCollection } from '../records/collection.ts';
import { readFrozenSpan } from '../records/record-table.ts';
import { SNAPSHOT_END, encodeCount, encodeHeader } from './snapshot.ts';
import type { SnapshotHeader } from './snapshot.ts';

// Copying as much and its checksum take about half a millisecond.
const OUTPUT_BYTES = 1 << 19;
// The file is synced in small portions: one sync of it all would hold up those of the journal.
const SYNC_BYTES = 8 << 20;
// An output becomes a chunk if it was copied from more ranges than this, or from a chunk of which
// less than this share is live.
const SOURCE_RANGES_MAX = 16;
const LIVE_SHARE_MIN = 0.75;

type SnapshotSet = {
  readonly directory: string;
  readonly generation: number;
  readonly sequence: number;
  readonly frozen: ReadonlyMap<string, FrozenCollection>;
  /** `unavailable` is thrown soon after it is true. */
  readonly isStopping: () => boolean;
};

/**
 * Writes a snapshot of each collection. They get their names, in that order, once all of them are
 * on disk under temporary names and `confirm` has resolved; the names are on disk at the end.
 */
export async function writeSnapshots(
  files: Files, { directory, generation, sequence, frozen, isStopping }: SnapshotSet,
  confirm: () => Promise<void> = async () => {},
): Promise<void> {
  const collections = [...frozen.keys()];
  const createPath = (collection: string): string =>
    join(directory, snapshotName(collection, generation));
  for (const [collection, view] of frozen) {
    const header = { collection, generation, sequence, collections };
    await writeSnapshot(files, temporaryName(createPath(collection)), header, view, isStopping);
  }
  await confirm();
  for (const path of collections.map(createPath)) files.renameSync(temporaryName(path), path);
  await files.syncDirectory(directory);
}

/** Writes and syncs a new file at `path`. Throws `unavailable` soon after `isStopping` is true. */
export async function writeSnapshot(
  files: Files, path: string, header: SnapshotHeader, frozen: FrozenCollection,
  isStopping: () => boolean,
): Promise<void> {
  await withFile(files, path, 'create', async (descriptor) => {
    await new SnapshotWriter(files, descriptor, frozen, isStopping).write(header);
    await files.datasync(descriptor);
  });
}

class SnapshotWriter {
  readonly #files: Files;
  readonly #descriptor: Descriptor;
  readonly #frozen: FrozenCollection;
  readonly #isStopping: () => boolean;
  #position = 0;
  #syncedTo = 0;
  #crc = 0;
  #output = Buffer.alloc(0);
  #used = 0;
  #slots: number[] = [];
  #sourceRanges: SourceRange[] = [];

  constructor(
    files: Files, descriptor: Descriptor, frozen: FrozenCollection, isStopping: () => boolean,
  ) {
    this.#files = files;
    this.#isStopping = isStopping;
    this.#descriptor = descriptor;
    this.#frozen = frozen;
  }

  async write(header: SnapshotHeader): Promise<void> {
    await this.#writeBytes(Buffer.from(encodeHeader(header)));
    const { blocks, pages, size } = this.#frozen;
    let count = 0;
    for (const block of blocks) {
      for (let index = 0; index < block.count; index += 1) {
        const slot = block.slots[index] ?? -1;
        const span = readFrozenSpan(pages, slot);
        const requiredBytes = span.length + SEPARATOR.length;
        if (this.#used + requiredBytes > this.#output.length) {
          await this.#startOutput(requiredBytes);
        }
        assert(span.length > 0, 'a slot in the key order holds a record');
        count += 1;
        this.#addRecord(slot, span.chunk, span.offset, requiredBytes);
      }
    }
    assert(count === size, 'a snapshot has every record');
    await this.#finishOutput(true);
    const end = Buffer.from(encodeCount(size));
    await this.#writeBytes(end);
    const crc = this.#crc.toString(16).padStart(8, '0');
    await this.#writeBytes(Buffer.from(crc + SNAPSHOT_END));
  }

  async #startOutput(requiredBytes: number): Promise<void> {
    await this.#finishOutput(false);
    if (this.#output.length < requiredBytes || this.#output.length === 0) {
      this.#output = Buffer.allocUnsafeSlow(Math.max(OUTPUT_BYTES, requiredBytes));
    }
  }

  #addRecord(slot: number, chunk: number, offset: number, bytes: number): void {
    this.#slots.push(slot);
    this.#used += bytes;
    const last = this.#sourceRanges.at(-1);
    if (last !== undefined && last.chunk === chunk && last.end === offset) last.end += bytes;
    else this.#sourceRanges.push({ chunk, start: offset, end: offset + bytes });
  }

  /** Copies and writes the records added, and moves them to the copy where that is better. */
  async #finishOutput(isLast: boolean): Promise<void> {
    if (this.#used === 0) return;
    let at = 0;
    for (const { chunk, start, end } of this.#sourceRanges) {
      at += this.#frozen.chunks[chunk]?.copy(this.#output, at, start, end) ?? 0;
    }
    const output = this.#output;
    const bytes = output.subarray(0, isLast ? this.#used - SEPARATOR.length : this.#used);
    if (this.#isWorthMoving()) {
      // The last output of a collection may fill little of its buffer.
      this.#moveRecords(isLast ? copyBuffer(output.subarray(0, this.#used)) : output);
      this.#output = Buffer.alloc(0);
    }
    this.#used = 0;
    this.#slots = [];
    this.#sourceRanges = [];
    // The checksum is computed in a turn of its own.
    await nextTurn();
    await this.#writeBytes(bytes);
    if (isLast) await this.#writeBytes(Buffer.from('\n'));
  }

  #isWorthMoving(): boolean {
    if (this.#sourceRanges.length > SOURCE_RANGES_MAX) return true;
    const { liveShares } = this.#frozen;
    return this.#sourceRanges.some(({ chunk }) => (liveShares[chunk] ?? 0) < LIVE_SHARE_MIN);
  }

  #moveRecords(output: Buffer): void {
    const { table } = this.#frozen;
    const chunk = table.arena.adopt(output);
    let offset = 0;
    for (const slot of this.#slots) {
      const frozenSpan = readFrozenSpan(this.#frozen.pages, slot);
      // A record that was written or removed meanwhile is not moved.
      const isSame = table.lengthOf(slot) === frozenSpan.length
        && table.offsetOf(slot) === frozenSpan.offset && table.chunkOf(slot) === frozenSpan.chunk;
      if (isSame) {
        table.arena.retain(chunk, frozenSpan.length);
        table.move(slot, { chunk, offset, length: frozenSpan.length });
      }
      offset += frozenSpan.length + SEPARATOR.length;
    }
    table.arena.dropIfDead(chunk);
  }

  async #writeBytes(bytes: Buffer): Promise<void> {
    if (this.#isStopping()) throw new AppError('unavailable', 'the store is closing');
    this.#crc = crc32(bytes, this.#crc);
    await writeFully(this.#files, this.#descriptor, bytes, this.#position);
    this.#position += bytes.length;
    if (this.#position - this.#syncedTo < SYNC_BYTES) return;
    this.#syncedTo = this.#position;
    await this.#files.datasync(this.#descriptor);
  }
}

function copyBuffer(bytes: Buffer): Buffer {
  const copy = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(copy);
  return copy;
}

/** Records of one chunk that lie side by side. */
type SourceRange = { readonly chunk: number; readonly start: number; end: number };
