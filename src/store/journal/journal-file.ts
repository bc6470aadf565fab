/**
 * One journal file, open for appending (its format: journal-line.ts). It knows where the durable
 * part ends. A write that fails is cut off again and the cut is synced, so that a refused
 * transaction can never come back.
 */
import { join } from 'node:path';
import { assert } from '../../base/assert.ts';
import { checkBytesWritten, withFile, writeFully } from '../disk/read-write.ts';
import { AppError } from '../../base/errors.ts';
import { explainFileError } from '../../base/file-error.ts';
import { diskError } from '../disk/disk-error.ts';
import type { Descriptor, Files } from '../disk/files.ts';
import { journalName } from '../disk/inventory.ts';
import { JournalLineEncoder } from './journal-line-encoder.ts';

/**
 * How an append failed. `refused`: nothing of it is on disk. `unknown`: some of it may be, and the
 * file cannot be trusted any more.
 */
export type AppendFailure = { readonly kind: 'refused' | 'unknown'; readonly cause: unknown };

export class JournalFile {
  readonly generation: number;
  /** The end of the durable part, which only an append moves. */
  length: number;
  readonly #files: Files;
  readonly #descriptor: Descriptor;
  #isClosed = false;

  constructor(files: Files, descriptor: Descriptor, generation: number, length: number) {
    this.#files = files;
    this.#descriptor = descriptor;
    this.generation = generation;
    this.length = length;
  }

  /** Makes `bytes` durable, blocking the loop. Null on success. */
  appendBlocking(bytes: Buffer): AppendFailure | null {
    this.#assertOpen();
    try {
      for (let bytesWritten = 0; bytesWritten < bytes.length;) {
        const rest = bytes.subarray(bytesWritten);
        const position = this.length + bytesWritten;
        const count = this.#files.writeSync(this.#descriptor, rest, position);
        bytesWritten += checkBytesWritten(count);
      }
    } catch (error) {
      return this.#cut(error);
    }
    try {
      this.#files.datasyncSync(this.#descriptor);
    } catch (cause) {
      return { kind: 'unknown', cause };
    }
    this.length += bytes.length;
    return null;
  }

  /** Appends as `appendBlocking` does, in the thread pool. `bytes` must not change meanwhile. */
  async append(bytes: Buffer): Promise<AppendFailure | null> {
    this.#assertOpen();
    try {
      await writeFully(this.#files, this.#descriptor, bytes, this.length);
    } catch (error) {
      return this.#cut(error);
    }
    try {
      await this.#files.datasync(this.#descriptor);
    } catch (cause) {
      return { kind: 'unknown', cause };
    }
    this.length += bytes.length;
    return null;
  }

  /**
   * Throws `unavailable` where another file has the name of this one: the directory was moved or
   * removed, and another one is in its place, whose files are not ours to add to or to copy.
   */
  async checkPlace(directory: string): Promise<void> {
    this.#assertOpen();
    const path = join(directory, journalName(this.generation));
    if (!this.#files.existsSync(path)) return;
    const found = await withFile(this.#files, path, 'read', async (descriptor) =>
      this.#files.identifySync(descriptor));
    if (found === this.#files.identifySync(this.#descriptor)) return;
    throw new AppError('unavailable', `the data directory ${directory} was moved or removed while `
      + 'this process had it open, and another one is there now: stop this process');
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#files.closeSync(this.#descriptor);
  }

  /** A closed descriptor must not be used: its number may already be that of another file. */
  #assertOpen(): void {
    assert(!this.#isClosed, 'a journal is open while it is written');
  }

  /**
   * Cuts off a write that failed. The cut must itself be on disk before the write counts as
   * refused: pages of it may have reached the disk, and a crash would bring them back.
   */
  #cut(cause: unknown): AppendFailure {
    try {
      this.#files.truncateSync(this.#descriptor, this.length);
      this.#files.datasyncSync(this.#descriptor);
      return { kind: 'refused', cause };
    } catch (cutError) {
      return { kind: 'unknown', cause: new AggregateError([cause, cutError], 'cannot be undone') };
    }
  }
}

/** The error that callers get. */
export function toAppError({ kind, cause }: AppendFailure): AppError {
  if (kind === 'refused') return diskError('the journal cannot be written', cause);
  const what = 'the journal could not be synced, restart the service';
  return new AppError('unknown_outcome', `${what} (${explainFileError(cause)})`, {}, cause);
}

/**
 * Creates a journal that continues the state at `sequence`. Its first line and its name are on disk
 * when this resolves. When it fails the file is removed, if the disk allows that.
 */
export async function createJournalFile(
  files: Files, directory: string, generation: number, sequence: number,
): Promise<JournalFile> {
  const file = await nameJournalFile(files, directory, generation);
  await startJournalFile(files, directory, file, sequence);
  return file;
}

/**
 * The first half of `createJournalFile`: a file without a line, whose name is on disk when this
 * resolves. A journal that a crash leaves in this state counts as abandoned (recovery.ts).
 */
export async function nameJournalFile(
  files: Files, directory: string, generation: number,
): Promise<JournalFile> {
  const descriptor = files.openSync(join(directory, journalName(generation)), 'create');
  const file = new JournalFile(files, descriptor, generation, 0);
  try {
    await files.syncDirectory(directory);
    return file;
  } catch (error) {
    removeFile(files, directory, file);
    throw error;
  }
}

/** The second half of `createJournalFile`: the first line. */
export async function startJournalFile(
  files: Files, directory: string, file: JournalFile, sequence: number,
): Promise<void> {
  const encoder = new JournalLineEncoder();
  encoder.addStart(sequence, file.generation);
  const failure = await file.append(encoder.bytes);
  if (failure === null) return;
  removeFile(files, directory, file);
  throw failure.cause;
}

function removeFile(files: Files, directory: string, file: JournalFile): void {
  file.close();
  files.unlinkSync(join(directory, journalName(file.generation)));
}

/** Opens a journal of `length` bytes, all of them valid. */
export function reopenJournalFile(
  files: Files, directory: string, generation: number, length: number,
): JournalFile {
  const descriptor = files.openSync(join(directory, journalName(generation)), 'append-existing');
  assert(files.sizeSync(descriptor) === length);
  return new JournalFile(files, descriptor, generation, length);
}
