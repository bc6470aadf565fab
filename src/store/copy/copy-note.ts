/**
 * The note in the directory of a copy, `copy.json`, one JSON object in one line:
 *
 *   {"format":"hookshelf-copy-1","id":"<uuid>","epochs":["<id>",…],"oldStates":["before-<time>",…]}
 *
 * `id` names the copy to the server that it follows. `epochs` are the epochs (epochs.ts) that have
 * come from that server and may be the last of the copy: the one that it has, and those that it is
 * about to take. The records of a directory are the copy's as long as their last epoch is one of
 * these; once a server or a command has written there, that has begun another. `oldStates`, which
 * is absent where there are none, are the folders to which a copy moved what it was before; people
 * may have removed some.
 */
import { join } from 'node:path';
import { AppError } from '../../base/errors.ts';
import { isJsonObject } from '../../base/fields.ts';
import { readSmallFile, replaceFile } from '../disk/read-write.ts';
import type { Files } from '../disk/files.ts';
import { COPY_NOTE_NAME } from '../disk/inventory.ts';

export type CopyNote = {
  readonly id: string;
  readonly epochs: readonly string[];
  readonly oldStates: readonly string[];
};

const FORMAT = 'hookshelf-copy-1';
/** A follower may take many epochs at once: there is room for more than 25,000. */
const BYTES_MAX = 1 << 20;

/** Null where there is none. Throws `damaged` for a file that is no note. */
export async function findCopyNote(files: Files, directory: string): Promise<CopyNote | null> {
  const path = join(directory, COPY_NOTE_NAME);
  const bytes = await readSmallFile(files, path, BYTES_MAX);
  if (bytes === null) return null;
  const note = parseNote(bytes.toString());
  if (note !== null) return note;
  throw new AppError('damaged', `${path} is not the note of a copy: name a new directory`);
}

export function writeCopyNote(
  files: Files, directory: string, { id, epochs, oldStates }: CopyNote,
): Promise<void> {
  const note = {
    format: FORMAT, id, epochs, oldStates: oldStates.length === 0 ? undefined : oldStates,
  };
  const content = Buffer.from(`${JSON.stringify(note)}\n`);
  return replaceFile(files, join(directory, COPY_NOTE_NAME), content);
}

function parseNote(text: string): CopyNote | null {
  try {
    const value: unknown = JSON.parse(text);
    if (!isJsonObject(value) || value.format !== FORMAT || typeof value.id !== 'string') {
      return null;
    }
    const { id, epochs, oldStates = [] } = value;
    if (!Array.isArray(epochs) || !Array.isArray(oldStates)) return null;
    return { id, epochs: epochs.filter(isText), oldStates: oldStates.filter(isText) };
  } catch {
    return null;
  }
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}
