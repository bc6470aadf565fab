/**
 * The manifest says what a backup holds. It is its last file, `manifest.json`, one JSON object:
 *
 *   {"format":"hookshelf-backup-1","sequence":1234,"records":{"books":2},
 *     "files":[{"name":"journal-000001.jsonl","bytes":350,"sha256":"<64 hex digits>"}]}
 *
 * `sequence` is that of the last transaction, `records` the count of records in each collection,
 * and `files` lists every other file with the SHA-256 of its bytes, as sha256sum(1) prints it. A
 * backup is whole when all of this is true. A copy of a data
 * directory has no manifest. A start on a backup checks it against its manifest and then removes
 * the manifest.
 */
import { join } from 'node:path';
import { AppError } from '../../base/errors.ts';
import { isCount, isJsonObject } from '../../base/fields.ts';
import { loadCrypto } from '../../base/node-modules.ts';
import type { Descriptor, Files } from '../disk/files.ts';
import { unknownFormatError } from '../generations/damage-error.ts';
import { MANIFEST_NAME, isBackupName } from '../disk/inventory.ts';
import { readFully, withFile } from '../disk/read-write.ts';

/** An open file that is copied into a backup or out of one. */
export type BackupFile = {
  readonly name: string;
  readonly bytes: number;
  readonly descriptor: Descriptor;
  /** The file's first byte in the descriptor: above 0 in a tar file. */
  readonly offset: number;
};

/** The state that the files of a backup lead to. */
export type BackupContents = {
  readonly sequence: number;
  readonly records: Readonly<Record<string, number>>;
};

export type FileSum = { readonly name: string; readonly bytes: number; readonly sha256: string };

export type BackupManifest = BackupContents & { readonly files: readonly FileSum[] };

const FORMAT = 'hookshelf-backup-1';
const FORMAT_PATTERN = new RegExp(`^\\{"format":"(?!${FORMAT}")hookshelf-backup-\\d+"`);
const BYTES_MAX = 1 << 20;
// Small, as a server hashes them beside traffic: pieces of 1 MiB held its loop for 20 ms at times.
const CHUNK_BYTES = 1 << 18;
const DIGEST = /^[0-9a-f]{64}$/;

export function encodeManifest(
  { sequence, records }: BackupContents, files: readonly FileSum[],
): Buffer {
  return Buffer.from(`${JSON.stringify({ format: FORMAT, sequence, records, files })}\n`);
}

/** Throws `damaged` when the file is not a manifest, or one of another format. */
export async function readManifest(files: Files, file: BackupFile): Promise<BackupManifest> {
  const bytes = Buffer.alloc(Math.min(file.bytes, BYTES_MAX));
  const count = await readFully(files, file.descriptor, bytes, file.offset);
  const text = bytes.toString('utf8', 0, count);
  const manifest = parseManifest(text);
  if (manifest !== null) return manifest;
  if (FORMAT_PATTERN.test(text)) {
    throw unknownFormatError({ path: MANIFEST_NAME, line: 1, offset: 0 }, FORMAT, text);
  }
  throw createIncompleteError(`${MANIFEST_NAME} is not the manifest of a backup`);
}

/** The manifest of a directory; null: it has none. Throws `damaged` for a broken one. */
export async function findManifest(
  files: Files, directory: string,
): Promise<BackupManifest | null> {
  if (!files.listSync(directory).includes(MANIFEST_NAME)) return null;
  return withFile(files, join(directory, MANIFEST_NAME), 'read', (descriptor) => {
    const bytes = files.sizeSync(descriptor);
    return readManifest(files, { name: MANIFEST_NAME, descriptor, offset: 0, bytes });
  });
}

/**
 * Yields a file's bytes in chunks, and adds its checksum to `sums` after the last one. Throws
 * `damaged` when the file ends before `bytes` are read.
 */
export async function* hashChunks(
  files: Files, { name, descriptor, offset, bytes }: BackupFile, sums: FileSum[],
): AsyncGenerator<Buffer> {
  const hash = loadCrypto().createHash('sha256');
  for (let chunkStart = 0; chunkStart < bytes; chunkStart += CHUNK_BYTES) {
    const chunk = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, bytes - chunkStart));
    const count = await readFully(files, descriptor, chunk, offset + chunkStart);
    if (count < chunk.length) throw new AppError('damaged', `${name} became shorter while copied`);
    hash.update(chunk);
    yield chunk;
  }
  sums.push({ name, bytes, sha256: hash.digest('hex') });
}

/** Reads the files of a backup. Throws `damaged` as `checkFiles` does. */
export async function checkFileBytes(
  files: Files, backupFiles: readonly BackupFile[], manifest: BackupManifest,
): Promise<void> {
  const sums: FileSum[] = [];
  for (const file of backupFiles) {
    const chunks = hashChunks(files, file, sums);
    while ((await chunks.next()).done !== true);
  }
  checkFiles(manifest, sums);
}

/** Throws `damaged` unless `sums` are exactly the files that the manifest lists. */
export function checkFiles(manifest: BackupManifest, sums: readonly FileSum[]): void {
  const remaining = new Map(sums.map((sum) => [sum.name, sum]));
  for (const { name, bytes, sha256 } of manifest.files) {
    const sum = remaining.get(name);
    if (sum === undefined) {
      throw createIncompleteError(`${name} is missing, which its manifest lists`);
    }
    if (sum.bytes !== bytes) {
      throw createIncompleteError(
        `${name} has ${sum.bytes} bytes where its manifest says ${bytes}`);
    }
    if (sum.sha256 !== sha256) {
      throw createIncompleteError(`${name} is not the file that was backed up`);
    }
    remaining.delete(name);
  }
  for (const name of remaining.keys()) {
    throw createIncompleteError(`${name} is none of the files in its manifest`);
  }
}

/** Throws `damaged` where the records that were read are not those of the manifest. */
export function checkContents(
  manifest: BackupManifest, { sequence, records }: BackupContents,
): void {
  if (manifest.sequence !== sequence) {
    throw createIncompleteError(
      `it ends at sequence ${sequence} where its manifest says ${manifest.sequence}`);
  }
  for (const name of Object.keys({ ...manifest.records, ...records })) {
    const [expected, actual] = [manifest.records[name] ?? 0, records[name] ?? 0];
    if (expected === actual) continue;
    throw createIncompleteError(`it holds ${actual} ${name} where its manifest says ${expected}`);
  }
}

export function countRecords(
  collections: ReadonlyMap<string, { readonly size: number }>,
): BackupContents['records'] {
  return Object.fromEntries([...collections].map(([name, { size }]) => [name, size]));
}

/** Parses the contents in a control reply or a manifest; null: there are none. */
export function parseContents(value: unknown): BackupContents | null {
  if (!isJsonObject(value) || !isCount(value.sequence) || !isJsonObject(value.records)) return null;
  const records = Object.entries(value.records).flatMap(([name, count]): [string, number][] =>
    isCount(count) ? [[name, count]] : []);
  if (records.length < Object.keys(value.records).length) return null;
  return { sequence: value.sequence, records: Object.fromEntries(records) };
}

function parseManifest(text: string): BackupManifest | null {
  try {
    const value: unknown = JSON.parse(text);
    const contents = parseContents(value);
    if (!isJsonObject(value) || contents === null || value.format !== FORMAT) return null;
    if (!Array.isArray(value.files)) return null;
    const files = value.files.flatMap((file: unknown): FileSum[] => {
      if (!isJsonObject(file)) return [];
      const { name, bytes, sha256 } = file;
      if (typeof name !== 'string' || !isCount(bytes) || typeof sha256 !== 'string') return [];
      return isBackupName(name) && DIGEST.test(sha256) ? [{ name, bytes, sha256 }] : [];
    });
    return files.length === value.files.length ? { ...contents, files } : null;
  } catch {
    return null;
  }
}

function createIncompleteError(problem: string): AppError {
  return new AppError('damaged', `the backup is not whole: ${problem}`);
}
