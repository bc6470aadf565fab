/** Locks a data directory while a command works on it. */
import type { Files } from '../../../store/disk/files.ts';
import { acquireLock, COMMAND_WAIT_MS } from '../../../store/lock/directory-lock.ts';
import type { JournalEnd } from '../../../store/lock/directory-lock.ts';

/**
 * Calls `use` with the end of the journal that `lock` tells; null: it is not known.
 * Throws `conflict` when another process holds the directory and does not let go of it soon, and
 * `unavailable` where nothing can be written in it.
 */
export async function withDirectoryLock<T>(
  directory: string, files: Files, use: (journalEnd: JournalEnd | null) => Promise<T>,
): Promise<T> {
  const lock = await acquireLock(directory, { kind: 'command', waitMs: COMMAND_WAIT_MS, files });
  try {
    if (lock.refusal !== undefined) throw lock.refusal;
    return await use(lock.journalEnd);
  } finally {
    lock.release();
  }
}
