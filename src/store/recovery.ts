/** Reads a directory back into memory. */
import { join } from 'node:path';
import type { StoredCollection } from './collection.ts';
import type { Files } from './files.ts';
import { Journal, createJournal, journalName } from './journal.ts';
import { findLineEnd, parseLine, visitOperations } from './journal-line.ts';

export async function recover({ directory, files, collections }: {
  readonly directory: string;
  readonly files: Files;
  readonly collections: ReadonlyMap<string, StoredCollection>;
}): Promise<{ journal: Journal; sequence: number }> {
  files.makeDirectory(directory);
  const path = join(directory, journalName(1));
  if (!files.exists(path)) {
    return { journal: await createJournal(files, directory, 1, 0), sequence: 0 };
  }
  const descriptor = files.open(path, 'append-existing');
  const content = Buffer.alloc(files.sizeOf(descriptor));
  files.read(descriptor, content, 0);
  let at = 0;
  let sequence = 0;
  while (at < content.length) {
    const end = findLineEnd(content, at);
    const line = end < 0 ? null : parseLine(content, at, end);
    if (line === null) break;
    sequence = line.sequence;
    if (line.kind === 'ops') replay(content, line.operationsAt, end, collections);
    at = end + 1;
  }
  files.truncate(descriptor, at);
  files.datasync(descriptor);
  return { journal: new Journal(files, descriptor, 1, at), sequence };
}

function replay(
  content: Buffer, operationsAt: number, end: number,
  collections: ReadonlyMap<string, StoredCollection>,
): void {
  visitOperations(content, operationsAt, end, {
    put(name, from, to) {
      const collection = collections.get(name);
      if (collection === undefined) throw new Error(`no collection ${name}`);
      const place = collection.table.arena.appendBytes(content, from, to);
      collection.applyPut(collection.keyOf(content.subarray(from, to)), place, null);
    },
    delete(name, key) {
      collections.get(name)?.applyDelete(key);
    },
  });
}
