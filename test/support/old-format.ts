/**
 * Rewrites a data directory's files as releases before 1.1 wrote them: their format was 1 in the
 * first line of a journal and of a snapshot, and their lines were those of today.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { DIRECTORY } from './open-store.ts';
import type { Disk } from './simulated-disk.ts';
import { SimulatedFiles } from './simulated-files.ts';

const CRC_END = '{"crc":"00000000'.length;
const TRAILER_BYTES = '00000000"}\n'.length;

/** The bytes that an older release had in the file of this name; others as they are. */
export function toOldFormat(name: string, content: Buffer): Buffer {
  if (/journal-\d+\.jsonl$/.test(name)) return rewriteJournal(content);
  return /-\d+\.json$/.test(name) ? rewriteSnapshot(content) : content;
}

/** A disk on which an older release has left what these files hold. */
export function toOldDisk(files: SimulatedFiles): Disk {
  const old = new SimulatedFiles();
  old.makeDirectorySync('/var');
  old.makeDirectorySync(DIRECTORY);
  for (const [name, bytes] of listFiles(files)) {
    const descriptor = old.openSync(join(DIRECTORY, name), 'create');
    old.writeSync(descriptor, toOldFormat(name, bytes), 0);
    old.datasyncSync(descriptor);
    old.closeSync(descriptor);
  }
  for (const directory of ['/', '/var', DIRECTORY]) old.syncDirectorySync(directory);
  return old.disk;
}

/** The files of a data directory, with what they hold. */
export function listFiles(files: SimulatedFiles): Map<string, Buffer> {
  return new Map(files.listSync(DIRECTORY).map((name) => {
    const descriptor = files.openSync(join(DIRECTORY, name), 'read');
    const content = Buffer.alloc(files.sizeSync(descriptor));
    files.readSync(descriptor, content, 0);
    files.closeSync(descriptor);
    return [name, content];
  }));
}

function rewriteJournal(content: Buffer): Buffer {
  const end = content.indexOf('\n');
  const line = content.toString('latin1', CRC_END, end);
  const rest = replaceOnce(line, '"hookshelf-journal-2"', '"hookshelf-journal-1"');
  return Buffer.concat([
    Buffer.from(`{"crc":"${checksum(Buffer.from(rest))}${rest}`), content.subarray(end),
  ]);
}

function rewriteSnapshot(content: Buffer): Buffer {
  const end = content.indexOf('\n');
  const header = replaceOnce(content.toString('latin1', 0, end),
    '"hookshelf-snapshot-2"', '"hookshelf-snapshot-1"');
  const covered = Buffer.concat([
    Buffer.from(header, 'latin1'), content.subarray(end, content.length - TRAILER_BYTES),
  ]);
  return Buffer.concat([covered, Buffer.from(`${checksum(covered)}"}\n`)]);
}

function replaceOnce(text: string, from: string, to: string): string {
  assert.ok(text.includes(from), `${from} is in ${text}`);
  return text.replace(from, to);
}

function checksum(bytes: Buffer): string {
  return crc32(bytes).toString(16).padStart(8, '0');
}
