/** Reads the first line of a journal, which says what state it continues (journal-line.ts). */
import { unknownFormatError } from './damage-error.ts';
import type { Files } from '../disk/files.ts';
import { readFully, withFile } from '../disk/read-write.ts';
import { JOURNAL_FORMAT, hasChecksum, parseLine } from '../journal/journal-line.ts';

const LINE_FEED = 0x0a;
/** A start line is about 110 bytes. */
export const START_BYTES_MAX = 512;

export type JournalStart = {
  /** The sequence of the state that the journal continues; null without a valid first line. */
  readonly sequence: number | null;
  readonly bytes: number;
  /** Whether the file holds at most one line, whole or torn. */
  readonly isUnused: boolean;
};

/** Reads the start of a journal. Throws `damaged` for a line of another format. */
export async function readJournalStart(files: Files, path: string): Promise<JournalStart> {
  return withFile(files, path, 'read', async (descriptor) => {
    const content = Buffer.alloc(START_BYTES_MAX);
    const count = await readFully(files, descriptor, content, 0);
    const end = content.subarray(0, count).indexOf(LINE_FEED);
    const line = end < 0 ? null : parseLine(content, 0, end);
    if (line === null && hasChecksum(content, 0, end)) {
      throw unknownFormatError({ path, line: 1, offset: 0 }, JOURNAL_FORMAT,
        content.toString('latin1', 0, end));
    }
    const bytes = files.sizeSync(descriptor);
    return {
      sequence: line?.kind === 'start' ? line.sequence : null,
      bytes,
      isUnused: bytes <= end + 1 || end < 0,
    };
  });
}
