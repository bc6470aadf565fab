/** Receives a backup as a stream, and reads its records, once they are known to be whole. */
import { join } from 'node:path';
import { AppError } from '../../base/errors.ts';
import { checkDirectory } from './backup.ts';
import { checkContents, countRecords, findManifest } from './manifest.ts';
import { TAR_BLOCK_BYTES, decodeTarHeader, tarPadding } from './tar.ts';
import type { Files } from '../disk/files.ts';
import { MANIFEST_NAME, isBackupName } from '../disk/inventory.ts';
import { withFile, writeFully } from '../disk/read-write.ts';
import { recoverState } from '../generations/recovery.ts';
import type { RecoveredState, RecoverySource } from '../generations/recovery.ts';

/** Writes the files of a tar archive (backup.ts) to an empty folder. Throws `damaged`. */
export async function receiveBackup(
  files: Files, folder: string, chunks: AsyncIterable<Buffer>,
): Promise<void> {
  const reader = new ChunkReader(chunks);
  for (;;) {
    const header = decodeTarHeader(await reader.readExactly(TAR_BLOCK_BYTES));
    if (header === 'end') return;
    const isExpected = header !== null && header.isFile
      && (isBackupName(header.name) || header.name === MANIFEST_NAME);
    if (!isExpected) throw new AppError('damaged', 'what came is no backup');
    await receiveFile(files, join(folder, header.name), reader, header.bytes);
    await reader.readExactly(tarPadding(header.bytes));
  }
}

/** Reads a received backup into memory. Throws `damaged` where it is not that of its manifest. */
export async function readReceived(source: RecoverySource): Promise<RecoveredState> {
  const { directory, files } = source;
  const manifest = await findManifest(files, directory);
  if (manifest === null) throw new AppError('damaged', 'the backup that came has no manifest');
  await checkDirectory(files, directory, manifest);
  const state = await recoverState(source);
  const { sequence, collections } = state;
  checkContents(manifest, { sequence, records: countRecords(collections) });
  return state;
}

/** Writes a file without a sync: after a crash nothing of the folder counts. */
async function receiveFile(
  files: Files, path: string, reader: ChunkReader, bytes: number,
): Promise<void> {
  await withFile(files, path, 'create', async (descriptor) => {
    for (let at = 0; at < bytes;) {
      const chunk = await reader.read(bytes - at);
      await writeFully(files, descriptor, chunk, at);
      at += chunk.length;
    }
  });
}

/** Reads bytes from a stream of chunks of any size. */
class ChunkReader {
  readonly #chunks: AsyncIterator<Buffer>;
  #rest: Buffer = Buffer.alloc(0);

  constructor(chunks: AsyncIterable<Buffer>) {
    this.#chunks = chunks[Symbol.asyncIterator]();
  }

  /** Reads what is there: at least one byte, at most `bytesMax`. */
  async read(bytesMax: number): Promise<Buffer> {
    if (this.#rest.length === 0) this.#rest = await this.#next();
    const chunk = this.#rest.subarray(0, bytesMax);
    this.#rest = this.#rest.subarray(chunk.length);
    return chunk;
  }

  async readExactly(bytes: number): Promise<Buffer> {
    const pieces: Buffer[] = [];
    for (let rest = bytes; rest > 0;) {
      const piece = await this.read(rest);
      pieces.push(piece);
      rest -= piece.length;
    }
    return Buffer.concat(pieces);
  }

  async #next(): Promise<Buffer> {
    const { done, value } = await this.#chunks.next();
    if (done === true) throw new AppError('damaged', 'what came is cut short');
    return value;
  }
}
