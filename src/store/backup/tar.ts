/**
 * Just enough of the tar format (POSIX.1-1988 "ustar") to carry the store's files: regular files
 * with short names, in blocks of 512 bytes, two zero blocks at the end. Sizes past eight gibibytes
 * are written in base 256, as GNU tar does.
 */
import { assert } from '../../base/assert.ts';

export const TAR_BLOCK_BYTES = 512;

type TarHeader = {
  readonly name: string;
  readonly bytes: number;
  /** False for directories, links and everything else. */
  readonly isFile: boolean;
};

const NAME_BYTES = 100;
const SIZE_AT = 124;
const CHECKSUM_AT = 148;
const CHECKSUM_BYTES = 8;
const TYPE_AT = 156;
const MAGIC_AT = 257;
const PREFIX_AT = 345;
const OCTAL_SIZE_MAX = 8 ** 11 - 1;
const BASE_256 = 0x80;

export function encodeTarHeader(name: string, bytes: number, modifiedMs: number): Buffer {
  assert(name.length < NAME_BYTES);
  const block = Buffer.alloc(TAR_BLOCK_BYTES);
  block.write(name, 0, 'latin1');
  block.write('0000600\0' + '0000000\0' + '0000000\0', 100, 'latin1');
  if (bytes <= OCTAL_SIZE_MAX) {
    block.write(`${formatOctal(bytes, 11)}\0`, SIZE_AT, 'latin1');
  } else {
    block[SIZE_AT] = BASE_256;
    block.writeUIntBE(bytes, SIZE_AT + 6, 6);
  }
  block.write(`${formatOctal(Math.floor(modifiedMs / 1000), 11)}\0`, 136, 'latin1');
  block.write('0', TYPE_AT, 'latin1');
  block.write('ustar\x0000', MAGIC_AT, 'latin1');
  block.write(`${formatOctal(checksum(block), 6)}\0 `, CHECKSUM_AT, 'latin1');
  return block;
}

/** Returns a header; `end` for a zero block, which ends the archive; null for any other block. */
export function decodeTarHeader(block: Buffer): TarHeader | 'end' | null {
  if (block.length !== TAR_BLOCK_BYTES) return null;
  if (block.every((byte) => byte === 0)) return 'end';
  if (parseOctal(block, CHECKSUM_AT, CHECKSUM_BYTES) !== checksum(block)) return null;
  const bytes = block[SIZE_AT] === BASE_256
    ? block.readUIntBE(SIZE_AT + 6, 6) : parseOctal(block, SIZE_AT, 12);
  if (bytes === null) return null;
  const prefix = readText(block, PREFIX_AT, 155);
  const name = readText(block, 0, NAME_BYTES);
  const type = block[TYPE_AT] ?? 0;
  return {
    name: prefix === '' ? name : `${prefix}/${name}`, bytes, isFile: type === 0x30 || type === 0,
  };
}

/** Count of zero bytes that fill the last block of a file. */
export function tarPadding(bytes: number): number {
  return (TAR_BLOCK_BYTES - bytes % TAR_BLOCK_BYTES) % TAR_BLOCK_BYTES;
}

// The checksum field counts as spaces.
function checksum(block: Buffer): number {
  let sum = CHECKSUM_BYTES * 0x20;
  for (const [index, byte] of block.entries()) {
    if (index < CHECKSUM_AT || index >= CHECKSUM_AT + CHECKSUM_BYTES) sum += byte;
  }
  return sum;
}

function formatOctal(value: number, digits: number): string {
  return value.toString(8).padStart(digits, '0');
}

function parseOctal(block: Buffer, at: number, length: number): number | null {
  const text = readText(block, at, length).trim();
  return /^[0-7]+$/.test(text) ? Number.parseInt(text, 8) : null;
}

function readText(block: Buffer, at: number, length: number): string {
  const field = block.subarray(at, at + length);
  const end = field.indexOf(0);
  return field.toString('utf8', 0, end < 0 ? length : end);
}
