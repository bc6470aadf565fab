/** A file that is copied into a backup or out of one, read in chunks. */
import { AppError } from '../../base/errors.ts';
import { readFully } from '../disk/read-write.ts';
import type { Descriptor, Files } from '../disk/files.ts';

export type BackupFile = {
  readonly name: string;
  readonly bytes: number;
  readonly descriptor: Descriptor;
  /** The file's first byte in the descriptor: above 0 in a tar file. */
  readonly offset: number;
};

// Small, as a server hashes them beside traffic: pieces of 1 MiB held its loop for 20 ms at times.
const CHUNK_BYTES = 1 << 18;

/** Throws `damaged` when the file ends before `bytes` are read. */
export async function* readChunks(
  files: Files, { name, descriptor, offset, bytes }: BackupFile,
): AsyncGenerator<Buffer> {
  for (let chunkStart = 0; chunkStart < bytes; chunkStart += CHUNK_BYTES) {
    const chunk = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, bytes - chunkStart));
    const count = await readFully(files, descriptor, chunk, offset + chunkStart);
    if (count < chunk.length) throw new AppError('damaged', `${name} became shorter while copied`);
    yield chunk;
  }
}
