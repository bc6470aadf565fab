/** A file of a backup, on its way from or to another place, a piece at a time. */
import { AppError } from '../../base/errors.ts';
import { readFully } from '../disk/read-write.ts';
import type { Descriptor, Files } from '../disk/files.ts';

export type BackupFile = {
  readonly name: string;
  readonly bytes: number;
  readonly descriptor: Descriptor;
  /** Where its bytes begin there. */
  readonly offset: number;
};

const CHUNK_BYTES = 1 << 20;

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
