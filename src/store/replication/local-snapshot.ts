/**
 * A node's own snapshot. The folder `replica` of the data directory holds the records as a store
 * without an engine holds them (generations/replacement.ts), and `image.json` says of which log
 * they are:
 *
 *   {"format":"hookshelf-image-2","log":"<uuid>","sequence":N,"chain":"<hex>"}
 *
 * in one line, ended by a line feed. The snapshot is valid when the records are whole, and end at
 * sequence N. Nothing is lost with it: a start that finds it missing, cut short or damaged takes
 * the engine's. An image of sequence 0 has no records: it only says which log a node follows.
 *
 * An engine keeps a snapshot as a backup in one tar file (backup/backup.ts), cut into parts.
 */
import { dirname, join } from 'node:path';
import { AppError } from '../../base/errors.ts';
import { isCount, isJsonObject } from '../../base/fields.ts';
import { encodeTar, openStateFiles } from '../backup/backup.ts';
import type { BackupSources } from '../backup/backup.ts';
import { countRecords } from '../backup/manifest.ts';
import type { BackupContents } from '../backup/manifest.ts';
import { readReceived, receiveBackup } from '../backup/receive-backup.ts';
import { readSmallFile, replaceFile } from '../disk/read-write.ts';
import type { Files } from '../disk/files.ts';
import { MANIFEST_NAME, REPLICA_FOLDER } from '../disk/inventory.ts';
import type { LogPosition } from '../engines/engine.ts';
import { finishReplacements, replaceState } from '../generations/replacement.ts';
import { recoverState } from '../generations/recovery.ts';
import type { RecoveredState, RecoverySource } from '../generations/recovery.ts';
import { LOG_START } from './log-entry.ts';

const FORMAT = 'hookshelf-image-2';
const IMAGE_NAME = 'image.json';
const IMAGE_BYTES_MAX = 1024;

type SnapshotImage = LogPosition & { readonly log: string };

/** A snapshot on disk; `generation` and `length` of its journal name its files. */
export type WrittenSnapshot = LogPosition & BackupContents & {
  readonly generation: number;
  readonly length: number;
};

/** Null for anything else than an image of this format. */
function parseImage(line: string): SnapshotImage | null {
  try {
    const value: unknown = JSON.parse(line);
    if (!isJsonObject(value) || value.format !== FORMAT) return null;
    const { log, sequence, chain } = value;
    if (typeof log !== 'string' || typeof chain !== 'string' || !isCount(sequence)) return null;
    return { log, sequence, chain };
  } catch {
    return null;
  }
}

export class LocalSnapshot {
  readonly directory: string;
  readonly #files: Files;
  readonly #source: RecoverySource;

  /** `directory` is the data directory, in whose folder `replica` the snapshot is. */
  constructor({ directory, files, specs, limits }: RecoverySource) {
    this.directory = join(directory, REPLICA_FOLDER);
    this.#files = files;
    this.#source = { directory: this.directory, files, specs, limits };
  }

  /** The image; null when there is none, or it cannot be read. */
  async find(): Promise<SnapshotImage | null> {
    const path = join(this.directory, IMAGE_NAME);
    const text = await readSmallFile(this.#files, path, IMAGE_BYTES_MAX);
    return text === null ? null : parseImage(text.toString());
  }

  /** Records which log this node follows, unless an image says so already. */
  async recordLog(log: string): Promise<void> {
    if (await this.find() !== null) return;
    this.#makeDirectory();
    await this.#writeImage({ log, ...LOG_START });
  }

  /** Loads the records of an image. Throws `damaged`. */
  async load({ sequence }: SnapshotImage): Promise<RecoveredState['collections']> {
    await finishReplacements(this.#files, this.directory);
    const state = await recoverState(this.#source);
    if (state.sequence === sequence) return state.collections;
    throw new AppError('damaged', `${this.directory} ends at ${state.sequence}, and its image at `
      + `${sequence}`);
  }

  /** Writes a snapshot of the records as of this call in the place of the older one. */
  async write(
    image: SnapshotImage, collections: RecoveredState['collections'], isStopping: () => boolean,
  ): Promise<WrittenSnapshot> {
    this.#makeDirectory();
    const { sequence, chain } = image;
    const records = countRecords(collections);
    const { generation, length } = await replaceState(this.#files, this.directory,
      { collections, sequence }, { before: null, isStopping });
    await this.#writeImage(image);
    return { sequence, chain, records, generation, length };
  }

  /** Writes the snapshot whose stream these chunks are, and loads its records. Throws `damaged`. */
  async receive(
    image: SnapshotImage, chunks: AsyncIterable<Buffer>,
  ): Promise<RecoveredState['collections']> {
    this.#makeDirectory();
    await this.clear();
    await receiveBackup(this.#files, this.directory, chunks);
    const { sequence, collections } = await readReceived(this.#source);
    if (sequence !== image.sequence) {
      throw new AppError('damaged', `the snapshot at sequence ${image.sequence} holds `
        + `the records up to ${sequence}`);
    }
    this.#files.unlinkSync(join(this.directory, MANIFEST_NAME));
    await this.#writeImage(image);
    return collections;
  }

  openFiles({ generation, length, sequence, records }: WrittenSnapshot): BackupSources {
    return openStateFiles(this.#files, this.directory, generation, { generation, length },
      { sequence, records });
  }

  /** The stream of a snapshot. */
  readChunks(sources: BackupSources): AsyncGenerator<Buffer> {
    return encodeTar(this.#files, sources, 0, []);
  }

  /** Removes the image, and then the records. */
  async clear(): Promise<void> {
    const path = join(this.directory, IMAGE_NAME);
    if (this.#files.existsSync(path)) this.#files.unlinkSync(path);
    for (const name of this.#files.listSync(this.directory)) {
      await this.#files.unlink(join(this.directory, name));
    }
  }

  #writeImage({ log, sequence, chain }: SnapshotImage): Promise<void> {
    const line = `${JSON.stringify({ format: FORMAT, log, sequence, chain })}\n`;
    return replaceFile(this.#files, join(this.directory, IMAGE_NAME), Buffer.from(line));
  }

  #makeDirectory(): void {
    if (this.#files.existsSync(this.directory)) return;
    this.#files.makeDirectorySync(this.directory);
    this.#files.syncDirectorySync(dirname(this.directory));
  }
}
