/**
 * A node's own snapshot: in the folder `replica` of the data directory, a file for each collection
 * in the format of generations/snapshot.ts, and `image.json`, the manifest:
 *
 *   {"format":"hookshelf-image-1","log":"<uuid>","sequence":N,"chain":"<hex>","generation":G,
 *     "files":[{"collection":"S","bytes":B},…]}      in one line, ended by a line feed
 *
 * The snapshot is valid when every file named has B bytes and is valid itself, and goes on from
 * sequence N. Nothing is lost with it: a start that finds it missing, cut short or damaged takes
 * the engine's. `image.json` gets its name last, and loses it first.
 *
 * A manifest of sequence 0 has no files: it only says which log a node follows.
 *
 * An engine keeps a snapshot as one stream, cut into parts: that line, then the files in order.
 */
import { join } from 'node:path';
import { AppError } from '../../base/errors.ts';
import { isCount, isJsonObject } from '../../base/fields.ts';
import { ChunkReader } from '../disk/chunk-reader.ts';
import { readFully, readSmallFile, replaceFile, writeFully } from '../disk/read-write.ts';
import type { Files } from '../disk/files.ts';
import {
  REPLICA_FOLDER, isStoreName, journalName, snapshotName, readInventory,
} from '../disk/inventory.ts';
import type { LogPosition } from '../engines/engine.ts';
import { isEmptySnapshot, loadSnapshot, readHeader } from '../generations/snapshot.ts';
import { writeSnapshot } from '../generations/snapshot-writer.ts';
import { createJournalFile } from '../journal/journal-file.ts';
import type { FrozenCollection, StoredCollection } from '../records/collection.ts';
import { LOG_START } from './log-chain.ts';

const FORMAT = 'hookshelf-image-1';
const MANIFEST_NAME = 'image.json';
const MANIFEST_BYTES_MAX = 64 * 1024;
const CHUNK_BYTES = 1 << 20;

export type SnapshotManifest = LogPosition & {
  readonly log: string;
  readonly generation: number;
  readonly files: readonly { readonly collection: string; readonly bytes: number }[];
};

function encodeManifest(manifest: SnapshotManifest): Buffer {
  const { log, sequence, chain, generation, files } = manifest;
  return Buffer.from(
    `${JSON.stringify({ format: FORMAT, log, sequence, chain, generation, files })}\n`);
}

/** Null for anything else than a manifest of this format. */
function parseManifest(line: string): SnapshotManifest | null {
  try {
    const value: unknown = JSON.parse(line);
    if (!isJsonObject(value) || value.format !== FORMAT || !Array.isArray(value.files)) return null;
    const { log, sequence, chain, generation } = value;
    if (typeof log !== 'string' || typeof chain !== 'string') return null;
    if (!isCount(sequence) || !isCount(generation)) return null;
    const files = value.files.flatMap((file: unknown) => {
      if (!isJsonObject(file) || typeof file.collection !== 'string') return [];
      // It becomes the name of a file here, and anybody who may write to the engine chose it.
      if (!isStoreName(snapshotName(file.collection, generation))) return [];
      return isCount(file.bytes) ? [{ collection: file.collection, bytes: file.bytes }] : [];
    });
    return files.length === value.files.length
      ? { log, sequence, chain, generation, files } : null;
  } catch {
    return null;
  }
}

export class LocalSnapshot {
  readonly directory: string;
  readonly #files: Files;

  constructor(files: Files, dataDirectory: string) {
    this.#files = files;
    this.directory = join(dataDirectory, REPLICA_FOLDER);
  }

  /** The manifest; null when there is none, or it cannot be read. */
  async find(): Promise<SnapshotManifest | null> {
    const path = join(this.directory, MANIFEST_NAME);
    const text = await readSmallFile(this.#files, path, MANIFEST_BYTES_MAX);
    return text === null ? null : parseManifest(text.toString());
  }

  /** Records which log this node follows, unless a manifest says so already. */
  async recordLog(log: string): Promise<void> {
    if (await this.find() !== null) return;
    this.#makeDirectory();
    await this.#writeManifest({ log, ...LOG_START, generation: 0, files: [] });
  }

  /** Loads a snapshot into empty collections. Throws `damaged`. */
  async load(
    { generation, sequence, files }: SnapshotManifest,
    collections: ReadonlyMap<string, StoredCollection>,
  ): Promise<void> {
    for (const { collection: name, bytes } of files) {
      const path = this.getPath(name, generation);
      const isThere = this.#files.existsSync(path) && this.#sizeOf(path) === bytes;
      if (!isThere) throw new AppError('damaged', `${path} is not as it was written`);
      const header = await readHeader(this.#files, path);
      if (header.collection !== name || header.sequence !== sequence) {
        throw new AppError('damaged', `${path} is of another image`);
      }
      const collection = collections.get(name);
      if (collection === undefined) {
        // Newer nodes, beside which we may run, have files of collections still without records.
        if (isEmptySnapshot(header, bytes)) continue;
        throw new AppError('damaged', `the image holds records of "${name}", which this version `
          + 'does not know: start the newer hookshelf that wrote them');
      }
      await loadSnapshot(this.#files, path, collection);
    }
  }

  /** Writes a snapshot of frozen collections, and removes the older ones. */
  async write(
    log: string, position: LogPosition,
    frozen: ReadonlyMap<string, FrozenCollection>, isStopping: () => boolean,
  ): Promise<SnapshotManifest & { readonly journalBytes: number }> {
    this.#makeDirectory();
    const generation = this.#newestGeneration() + 1;
    const names = [...frozen.keys()];
    const { sequence, chain } = position;
    const files: { collection: string; bytes: number }[] = [];
    for (const [collection, view] of frozen) {
      const path = this.getPath(collection, generation);
      const header = { collection, generation, sequence, collections: names };
      await writeSnapshot(this.#files, path, header, view, isStopping);
      files.push({ collection, bytes: this.#sizeOf(path) });
    }
    const manifest = { log, sequence, chain, generation, files };
    // With an empty journal, the files are those of a store without an engine.
    const journal = await createJournalFile(this.#files, this.directory, generation, sequence);
    journal.close();
    await this.#writeManifest(manifest);
    await this.#removeAllBut(generation);
    return { ...manifest, journalBytes: journal.length };
  }

  /** Writes a snapshot from the chunks of its stream. Throws `damaged`. */
  async receive(chunks: AsyncIterable<Buffer>): Promise<SnapshotManifest> {
    this.#makeDirectory();
    await this.clear();
    const reader = new ChunkReader(chunks);
    const manifest = parseManifest(await reader.readLine(MANIFEST_BYTES_MAX));
    if (manifest === null) throw new AppError('damaged', 'the snapshot has no manifest');
    for (const { collection, bytes } of manifest.files) {
      const path = this.getPath(collection, manifest.generation);
      const descriptor = this.#files.openSync(path, 'create');
      try {
        for (let at = 0; at < bytes;) {
          const chunk = await reader.read(bytes - at);
          await writeFully(this.#files, descriptor, chunk, at);
          at += chunk.length;
        }
      } finally {
        this.#files.closeSync(descriptor);
      }
    }
    await this.#writeManifest(manifest);
    return manifest;
  }

  /** Reads a snapshot of this directory as a stream. */
  async* readChunks(manifest: SnapshotManifest): AsyncGenerator<Buffer> {
    yield encodeManifest(manifest);
    for (const { collection, bytes } of manifest.files) {
      const path = this.getPath(collection, manifest.generation);
      const descriptor = this.#files.openSync(path, 'read');
      try {
        for (let at = 0; at < bytes; at += CHUNK_BYTES) {
          const chunk = Buffer.allocUnsafeSlow(Math.min(CHUNK_BYTES, bytes - at));
          await readFully(this.#files, descriptor, chunk, at);
          yield chunk;
        }
      } finally {
        this.#files.closeSync(descriptor);
      }
    }
  }

  async clear(): Promise<void> {
    const path = join(this.directory, MANIFEST_NAME);
    if (this.#files.existsSync(path)) this.#files.unlinkSync(path);
    await this.#removeAllBut(0);
  }

  getPath(collection: string, generation: number): string {
    return join(this.directory, snapshotName(collection, generation));
  }

  #writeManifest(manifest: SnapshotManifest): Promise<void> {
    return replaceFile(
      this.#files, join(this.directory, MANIFEST_NAME), encodeManifest(manifest));
  }

  async #removeAllBut(kept: number): Promise<void> {
    const { snapshots, journals } = readInventory(this.#files, this.directory);
    for (const [generation, names] of snapshots) {
      if (generation === kept) continue;
      for (const name of names) await this.#files.unlink(this.getPath(name, generation));
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
