/**
 * The format of a log in etcd: keys below the URL's prefix. Only their current values count. As
 * nothing here needs etcd's history, no compaction of it, ours or another's, loses anything.
 *
 *   <prefix>/log                     {"log":"<uuid>","format":1}: written once
 *   <prefix>/head                    {"log":"<uuid>","sequence":7,"chain":"<64 hex digits>"}
 *   <prefix>/floor                   16 hex digits: sequence of the oldest entry that is left
 *   <prefix>/j/<16 hex digits>       an entry, by its last sequence: {"first":5,"sequence":7,
 *                                    "batch":"<uuid>","chain":"<64 hex digits>"}, a line feed,
 *                                    and its lines
 *   <prefix>/s/<16 hex digits>       a complete snapshot: {"sequence":7,"chain":…,"parts":3}
 *   <prefix>/p/<16 hex>/<8 hex>      a part of a snapshot: its SHA-256 in hex, a line feed, bytes
 *   <prefix>/n/<node>                a key of the node, written by its barrier
 *   <prefix>/lost                    put when an append lost against another: the milliseconds
 *                                    that its node took from reading the head to sending it
 *
 * An append is one transaction of etcd: when the value of `head` is the expected one, it puts the
 * new head and the entry. The value is compared, and not the key's mod_revision: the chain in it
 * stands for the whole log before it, while revisions count anew when an old backup of etcd is
 * restored. The log is what lies between `floor` and `head`; a value that is not as above is
 * damage.
 */
import { AppError } from '../../../base/errors.ts';
import { isCount, isJsonObject } from '../../../base/fields.ts';
import type { EngineSnapshot, LogEntry, LogHead, LogPosition, SnapshotPart } from '../engine.ts';

export type Keys = ReturnType<typeof createKeys>;

const SEQUENCE_DIGITS = 16;
const PART_DIGITS = 8;
const LINE_FEED = 0x0a;
// The first line of an entry has about 200 bytes.
export const ENVELOPE_BYTES = 512;

/** All keys are in base64, as etcd's JSON has them. */
export function createKeys(prefix: string) {
  const encode = (rest: string): string => encodeBase64(`${prefix}/${rest}`);
  return {
    log: encode('log'), head: encode('head'), floor: encode('floor'), lost: encode('lost'),
    entry: (sequence: number) => encode(`j/${formatSequence(sequence)}`),
    /** The end of the range of all entries: in ASCII, `0` follows `/`. */
    entriesEnd: encode('j0'),
    snapshot: (sequence: number) => encode(`s/${formatSequence(sequence)}`),
    snapshotsEnd: encode('s0'),
    part: (sequence: number, part: number) =>
      encode(`p/${formatSequence(sequence)}/${part.toString(16).padStart(PART_DIGITS, '0')}`),
    /** Sorts before the first part of a snapshot, and after all parts of older ones. */
    parts: (sequence: number) => encode(`p/${formatSequence(sequence)}`),
    partsEnd: (sequence: number) => encode(`p/${formatSequence(sequence)}0`),
    node: (node: string) => encode(`n/${node}`),
  };
}

export function encodeHead(log: string, { sequence, chain }: LogPosition): string {
  return encodeBase64(JSON.stringify({ log, sequence, chain }));
}

export function encodeLog({ log, format }: LogHead): string {
  return encodeBase64(JSON.stringify({ log, format }));
}

export function encodeFloor(sequence: number): string {
  return encodeBase64(formatSequence(sequence));
}

export function encodeEntry({ first, sequence, batchId, chain, lines }: LogEntry): string {
  const head = Buffer.from(`${JSON.stringify({ first, sequence, batch: batchId, chain })}\n`);
  return Buffer.concat([head, lines]).toString('base64');
}

export function encodeSnapshot({ sequence, chain }: LogPosition, parts: number): string {
  return encodeBase64(JSON.stringify({ sequence, chain, parts }));
}

export function encodePart({ sha256, bytes }: SnapshotPart): string {
  return Buffer.concat([Buffer.from(`${sha256}\n`), bytes]).toString('base64');
}

/** Decodes the values of `log`, `head` and `floor`; null: there is no log. Throws `damaged`. */
export function decodeLogHead(
  logValue: Buffer | undefined, headValue: Buffer | undefined, floorValue: Buffer | undefined,
): LogHead | null {
  if (logValue === undefined && headValue === undefined) return null;
  const logFields = parse(logValue, 'log');
  const { log, sequence, chain } = parse(headValue, 'head');
  const floor = parseSequence(floorValue);
  if (typeof log !== 'string' || logFields.log !== log || !isCount(sequence)
    || !isCount(logFields.format)
    || typeof chain !== 'string' || floor === null) throw createDamagedError('head');
  return { log, format: logFields.format, sequence, chain, floor };
}

export function decodeEntry(value: Buffer): LogEntry {
  const end = value.indexOf(LINE_FEED);
  const { first, sequence, batch, chain } = parse(value.subarray(0, Math.max(0, end)), 'j/');
  if (!isCount(first) || !isCount(sequence) || typeof batch !== 'string'
    || typeof chain !== 'string') throw createDamagedError('j/');
  return { first, sequence, batchId: batch, chain, lines: value.subarray(end + 1) };
}

export function decodeSnapshot(value: Buffer): EngineSnapshot {
  const { sequence, chain, parts } = parse(value, 's/');
  if (!isCount(sequence) || typeof chain !== 'string' || !isCount(parts)) {
    throw createDamagedError('s/');
  }
  return { sequence, chain, parts };
}

export function decodePart(value: Buffer): SnapshotPart {
  const end = value.indexOf(LINE_FEED);
  if (end < 0) throw createDamagedError('p/');
  return { sha256: value.toString('latin1', 0, end), bytes: value.subarray(end + 1) };
}

export function encodeBase64(text: string): string {
  return Buffer.from(text).toString('base64');
}

/** The least key that sorts after `key`. */
export function keyAfter(key: string): string {
  return Buffer.concat([Buffer.from(key, 'base64'), Buffer.alloc(1)]).toString('base64');
}

function formatSequence(sequence: number): string {
  return sequence.toString(16).padStart(SEQUENCE_DIGITS, '0');
}

function parseSequence(value: Buffer | undefined): number | null {
  const text = value?.toString('latin1') ?? '';
  return text.length === SEQUENCE_DIGITS && /^[0-9a-f]+$/.test(text)
    ? Number.parseInt(text, 16) : null;
}

function parse(value: Buffer | undefined, key: string): Record<string, unknown> {
  try {
    const fields: unknown = JSON.parse(value?.toString('utf8') ?? '');
    if (isJsonObject(fields)) return fields;
  } catch {
    // Text that is not JSON is reported below, as JSON that is not an object is.
  }
  throw createDamagedError(key);
}

function createDamagedError(key: string): AppError {
  return new AppError('damaged', `what etcd holds below the key …/${key} is not of a log: has `
    + 'something else written there?');
}
