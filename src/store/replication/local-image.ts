/**
 * A node's own snapshot: in the folder `replica` of the data directory, a file for each collection
 * as generations/snapshot.ts has it, and `image.json`, which says what they are the image of:
 *
 *   {"format":"hookshelf-image-1","log":"<uuid>","sequence":N,"chain":"<hex>","generation":G,
 *     "files":[{"collection":"S","bytes":B},…]}      in one line, ended by a line feed
 *
 * The image is valid when every file named has B bytes and is valid itself, and goes on from
 * sequence N. Nothing is lost with it: a start that finds it missing, cut short or damaged takes
 * the engine's. `image.json` gets its name last, and loses it first.
 *
 * That of sequence 0 has no files: it only says which log a node follows, from its first start on.
 *
 * An engine keeps the same as one stream, cut into parts: that line, then the files in order.
 */
import { join } from 'node:path';
import { AppError } from '../../base/errors.ts';
import { isCount, isJsonObject } from '../../base/fields.ts';
import { readFully, writeFully } from '../disk/read-write.ts';
import type { Files } from '../disk/files.ts';
import {
  REPLICA_FOLDER, isStoreName, journalName, snapshotName, readInventory, temporaryName,
} from '../disk/inventory.ts';
import type { LogPosition } from '../engines/engine.ts';
import { isEmptySnapshot, loadSnapshot, readHeader } from '../generations/snapshot.ts';
import { writeSnapshot } from '../generations/snapshot-writer.ts';
import { createJournalFile } from '../journal/journal-file.ts';
import type { FrozenCollection, StoredCollection } from '../records/collection.ts';
import { LOG_START } from './chain.ts';

const FORMAT = 'hookshelf-image-1';
const NAME = 'image.json';
const NAME_BYTES_MAX = 64 * 1024;
const PIECE_BYTES = 1 << 20;

export type ImageManifest = LogPosition & {
  readonly log: string;
  readonly generation: number;
  readonly files: readonly { readonly collection: string; readonly bytes: number }[];
};

function encodeManifest(manifest: ImageManifest): Buffer {
  const { log, sequence, chain, generation, files } = manifest;
  return Buffer.from(
    `${JSON.stringify({ format: FORMAT, log, sequence, chain, generation, files })}\n`);
}

/** Null for anything else than a manifest of this format. */
function parseManifest(line: string): ImageManifest | null {
  try {
    const value: unknown = JSON.parse(line);
    if (!isJsonObject(value) || value.format !== FORMAT || !Array.isArray(value.files)) return null;
    const { log, sequence, chain, generation } = value;
    if (typeof log !== 'string' || typeof chain !== 'string') return null;
    if (!isCount(sequence) || !isCount(generation)) return null;
    const files = value.files.flatMap((file: unknown) => {
      if (!isJsonObject(file) || typeof file.collection !== 'string') return [];
      // It becomes the name of a file here, and whoever may write to the engine has chosen it.
      if (!isStoreName(snapshotName(file.collection, generation))) return [];
      return isCount(file.bytes) ? [{ collection: file.collection, bytes: file.bytes }] : [];
    });
    return files.length === value.files.length
      ? { log, sequence, chain, generation, files } : null;
  } catch {
    return null;
  }
}

export class LocalImage {
  readonly directory: string;
  readonly #files: Files;

  constructor(files: Files, dataDirectory: string) {
    this.#files = files;
    this.directory = join(dataDirectory, REPLICA_FOLDER);
  }

  /** Null when there is none, or none of use. */
  async find(): Promise<ImageManifest | null> {
    const path = join(this.directory, NAME);
    if (!this.#files.existsSync(path)) return null;
    const descriptor = this.#files.openSync(path, 'read');
    try {
      const text = Buffer.alloc(NAME_BYTES_MAX);
      const count = await readFully(this.#files, descriptor, text, 0);
      return parseManifest(text.toString('utf8', 0, count));
    } finally {
      this.#files.closeSync(descriptor);
    }
  }

  /** Notes which log is followed, where nothing of one is here yet. */
  async begin(log: string): Promise<void> {
    if (await this.find() !== null) return;
    this.#makeDirectory();
    await this.#name({ log, ...LOG_START, generation: 0, files: [] });
  }

  /** Loads it into empty collections. Throws `damaged`. */
  async load(
    { generation, sequence, files }: ImageManifest,
    collections: ReadonlyMap<string, StoredCollection>,
  ): Promise<void> {
    for (const { collection: name, bytes } of files) {
      const path = this.pathOf(name, generation);
      const isThere = this.#files.existsSync(path) && this.#sizeOf(path) === bytes;
      if (!isThere) throw new AppError('damaged', `${path} is not as it was written`);
      const header = await readHeader(this.#files, path);
      if (header.collection !== name || header.sequence !== sequence) {
        throw new AppError('damaged', `${path} is of another image`);
      }
      const collection = collections.get(name);
      if (collection === undefined) {
        // Newer nodes, beside which we run, have files of what nobody has written yet.
        if (isEmptySnapshot(header, bytes)) continue;
        throw new AppError('damaged', `the image holds records of "${name}", which this version `
          + 'does not know: start the newer hookshelf that wrote them');
      }
      await loadSnapshot(this.#files, path, collection);
    }
  }

  /** Writes a new one of what is frozen, and removes those before it. */
  async write(
    log: string, position: LogPosition, frozen: ReadonlyMap<string, FrozenCollection>,
    isStopping: () => boolean,
  ): Promise<ImageManifest & { readonly journalBytes: number }> {
    this.#makeDirectory();
    const generation = this.#newestGeneration() + 1;
    const names = [...frozen.keys()];
    const { sequence, chain } = position;
    const files: { collection: string; bytes: number }[] = [];
    for (const [collection, view] of frozen) {
      const path = this.pathOf(collection, generation);
      const header = { collection, generation, sequence, collections: names };
      await writeSnapshot(this.#files, path, header, view, isStopping);
      files.push({ collection, bytes: this.#sizeOf(path) });
    }
    const manifest = { log, sequence, chain, generation, files };
    // With a journal that nothing follows in, they are what a store without an engine has.
    const journal = await createJournalFile(this.#files, this.directory, generation, sequence);
    journal.close();
    await this.#name(manifest);
    await this.#removeBut(generation);
    return { ...manifest, journalBytes: journal.length };
  }

  /** Takes one over from pieces of its stream. Throws `damaged`. */
  async receive(pieces: AsyncIterable<Buffer>): Promise<ImageManifest> {
    this.#makeDirectory();
    await this.clear();
    const source = new StreamSource(pieces);
    const manifest = parseManifest(await source.line(NAME_BYTES_MAX));
    if (manifest === null) throw new AppError('damaged', 'the snapshot has no manifest');
    for (const { collection, bytes } of manifest.files) {
      const path = this.pathOf(collection, manifest.generation);
      const descriptor = this.#files.openSync(path, 'create');
      try {
        for (let at = 0; at < bytes;) {
          const piece = await source.take(bytes - at);
          await writeFully(this.#files, descriptor, piece, at);
          at += piece.length;
        }
      } finally {
        this.#files.closeSync(descriptor);
      }
    }
    await this.#name(manifest);
    return manifest;
  }

  /** The stream of an image that is here. */
  async* pieces(manifest: ImageManifest): AsyncGenerator<Buffer> {
    yield encodeManifest(manifest);
    for (const { collection, bytes } of manifest.files) {
      const descriptor = this.#files.openSync(this.pathOf(collection, manifest.generation), 'read');
      try {
        for (let at = 0; at < bytes; at += PIECE_BYTES) {
          const piece = Buffer.allocUnsafeSlow(Math.min(PIECE_BYTES, bytes - at));
          await readFully(this.#files, descriptor, piece, at);
          yield piece;
        }
      } finally {
        this.#files.closeSync(descriptor);
      }
    }
  }

  async clear(): Promise<void> {
    const path = join(this.directory, NAME);
    if (this.#files.existsSync(path)) this.#files.unlinkSync(path);
    await this.#removeBut(0);
  }

  pathOf(collection: string, generation: number): string {
    return join(this.directory, snapshotName(collection, generation));
  }

  async #name(manifest: ImageManifest): Promise<void> {
    const path = join(this.directory, NAME);
    const temporary = temporaryName(path);
    if (this.#files.existsSync(temporary)) this.#files.unlinkSync(temporary);
    const descriptor = this.#files.openSync(temporary, 'create');
    try {
      await writeFully(this.#files, descriptor, encodeManifest(manifest), 0);
      await this.#files.datasync(descriptor);
    } finally {
      this.#files.closeSync(descriptor);
    }
    this.#files.renameSync(temporary, path);
    await this.#files.syncDirectory(this.directory);
  }

  async #removeBut(kept: number): Promise<void> {
    const { snapshots, journals } = readInventory(this.#files, this.directory);
    for (const [generation, names] of snapshots) {
      if (generation === kept) continue;
      for (const name of names) await this.#files.unlink(this.pathOf(name, generation));
    }
    for (const generation of journals) {
      if (generation === kept) continue;
      await this.#files.unlink(join(this.directory, journalName(generation)));
    }
  }

  #newestGeneration(): number {
    const { snapshots, journals } = readInventory(this.#files, this.directory);
    return Math.max(0, ...snapshots.keys(), ...journals);
  }

  #makeDirectory(): void {
    if (!this.#files.existsSync(this.directory)) this.#files.makeDirectorySync(this.directory);
  }

  #sizeOf(path: string): number {
    const descriptor = this.#files.openSync(path, 'read');
    try {
      return this.#files.sizeSync(descriptor);
    } finally {
      this.#files.closeSync(descriptor);
    }
  }
}

/** Bytes that come in pieces of any size, taken as they are wanted. */
class StreamSource {
  readonly #pieces: AsyncIterator<Buffer>;
  #rest: Buffer = Buffer.alloc(0);

  constructor(pieces: AsyncIterable<Buffer>) {
    this.#pieces = pieces[Symbol.asyncIterator]();
  }

  /** Up to the first line feed, which is skipped. */
  async line(bytesMax: number): Promise<string> {
    while (!this.#rest.includes(0x0a)) {
      if (this.#rest.length > bytesMax) throw new AppError('damaged', 'the snapshot has no head');
      this.#rest = Buffer.concat([this.#rest, await this.#next()]);
    }
    const end = this.#rest.indexOf(0x0a);
    const line = this.#rest.toString('utf8', 0, end);
    this.#rest = this.#rest.subarray(end + 1);
    return line;
  }

  /** What there is, up to `bytesMax`, at least one. */
  async take(bytesMax: number): Promise<Buffer> {
    if (this.#rest.length === 0) this.#rest = await this.#next();
    const piece = this.#rest.subarray(0, bytesMax);
    this.#rest = this.#rest.subarray(piece.length);
    return piece;
  }

  async #next(): Promise<Buffer> {
    const { done, value } = await this.#pieces.next();
    if (done === true) throw new AppError('damaged', 'the snapshot is cut short');
    return value;
  }
}
