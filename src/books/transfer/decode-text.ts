/**
 * The text of a file as UTF-8, whatever the file is encoded in. The rule, in this order:
 *
 * 1. A byte order mark names the encoding: EF BB BF UTF-8, FF FE UTF-16LE, FE FF UTF-16BE.
 *    The mark itself is left out.
 * 2. Else it is the declared one: by the caller, or by the file (`readDeclaredEncoding`).
 * 3. Else the file is ASCII up to its first byte from 80 on. Where a valid sequence of UTF-8
 *    (RFC 3629) begins there, the whole file is UTF-8; else it is Windows-1252.
 *
 * Bytes that do not fit are never dropped. In UTF-8 wrong bytes stay as they are; in UTF-16 a lone
 * surrogate, and half a unit at the end, become the byte FF, which is never UTF-8, and so do bytes
 * that are no character of another declared encoding: the record that holds them is refused. The
 * five bytes that are no character of Windows-1252 become U+FFFD, and their record is taken. (The
 * WHATWG Encoding standard makes control characters of them.)
 */
import { isAscii, isUtf8 } from 'node:buffer';
import { TextDecoder } from 'node:util';
import { AppError } from '../../base/errors.ts';
import type { ErrorCode } from '../../base/errors.ts';
import { decodeWindows1252, explainUnknownCharset, findCharset } from '../../base/text/charset.ts';
import type { FormatName } from './format-list.ts';

/** A name of `base/text/charset.ts`. */
export type FileEncoding = string;

/** Decodes a stream of bytes, wherever its chunks end. Between two chunks it holds three bytes. */
export class FileDecoder {
  #encoding: FileEncoding | 'unmarked' | 'ascii' = 'unmarked';
  readonly #declared: FileEncoding | null;
  /** Decodes what has no rule of its own here; null: the encoding has one, or is not known yet. */
  #textDecoder: TextDecoder | null = null;
  /** The bytes of a mark or character whose end has not come yet. */
  #heldBytes: Buffer = EMPTY;

  /** `declared`: the encoding that a file without a mark has; null: its bytes tell it. */
  constructor(declared: FileEncoding | null = null) {
    this.#declared = declared;
  }

  /** The encoding, as far as the bytes so far tell: ASCII is UTF-8. */
  get encoding(): FileEncoding {
    if (this.#encoding === 'unmarked') return this.#declared ?? 'utf-8';
    return this.#encoding === 'ascii' ? 'utf-8' : this.#encoding;
  }

  /** The chunk as UTF-8: the chunk itself where it is that already. */
  push(chunk: Buffer): Buffer {
    const bytes = this.#heldBytes.length === 0 ? chunk : Buffer.concat([this.#heldBytes, chunk]);
    this.#heldBytes = EMPTY;
    return this.#convert(bytes, false);
  }

  /** The text of the bytes that are held when the stream ends. */
  end(): Buffer {
    const bytes = this.#heldBytes;
    this.#heldBytes = EMPTY;
    return this.#convert(bytes, true);
  }

  #convert(bytes: Buffer, isEnd: boolean): Buffer {
    switch (this.#encoding) {
      case 'utf-8': return bytes;
      case 'windows-1252': return fromWindows1252(bytes);
      case 'utf-16le':
      case 'utf-16be': return this.#fromUtf16(bytes, isEnd);
      case 'unmarked': return this.#readMark(bytes, isEnd);
      case 'ascii': return this.#readAscii(bytes, isEnd);
      default: return this.#fromDeclared(bytes, isEnd);
    }
  }

  #readMark(bytes: Buffer, isEnd: boolean): Buffer {
    for (const { encoding, mark } of MARKS) {
      const start = bytes.subarray(0, mark.length);
      if (start.equals(mark)) {
        this.#encoding = encoding;
        return this.#convert(bytes.subarray(mark.length), isEnd);
      }
      if (!isEnd && start.equals(mark.subarray(0, start.length))) return this.#hold(bytes, 0);
    }
    this.#encoding = this.#declared ?? 'ascii';
    return this.#convert(bytes, isEnd);
  }

  #readAscii(bytes: Buffer, isEnd: boolean): Buffer {
    if (isAscii(bytes)) return bytes;
    const offset = bytes.findIndex((byte) => byte >= 0x80);
    const length = sequenceLength(bytes[offset] ?? 0);
    if (!isEnd && offset + length > bytes.length) return this.#hold(bytes, offset);
    const sequence = bytes.subarray(offset, offset + length);
    const isValid = length > 1 && isUtf8(sequence);
    this.#encoding = isValid ? 'utf-8' : 'windows-1252';
    return this.#convert(bytes, isEnd);
  }

  #fromUtf16(bytes: Buffer, isEnd: boolean): Buffer {
    let end = bytes.length - bytes.length % 2;
    if (!isEnd && end > 0 && this.#isHighSurrogate(bytes, end - 2)) end -= 2;
    const units = this.#encoding === 'utf-16be'
      ? Buffer.from(bytes.subarray(0, end)).swap16() : bytes.subarray(0, end);
    const text = encodeText(units.toString('utf16le'));
    if (!isEnd) {
      this.#hold(bytes, end);
      return text;
    }
    return end === bytes.length ? text : Buffer.concat([text, WRONG_BYTE]);
  }

  #fromDeclared(bytes: Buffer, isEnd: boolean): Buffer {
    this.#textDecoder ??= new TextDecoder(this.#encoding);
    const text = this.#textDecoder.decode(bytes, { stream: !isEnd });
    return encodeText(text.replaceAll('\ufffd', LONE_SURROGATE));
  }

  #isHighSurrogate(bytes: Buffer, offset: number): boolean {
    const highByte = bytes[this.#encoding === 'utf-16be' ? offset : offset + 1] ?? 0;
    return highByte >= 0xd8 && highByte < 0xdc;
  }

  /** Keeps the bytes from `offset` on for the next chunk; returns those before. */
  #hold(bytes: Buffer, offset: number): Buffer {
    // A copy: a few bytes must not keep a whole chunk alive.
    this.#heldBytes = Buffer.from(bytes.subarray(offset));
    return bytes.subarray(0, offset);
  }
}

const EMPTY: Buffer = Buffer.alloc(0);
/** Stands for what is no character. */
const LONE_SURROGATE = '\ud800';
const WRONG_BYTE = Buffer.from([0xff]);
const MARKS: readonly { readonly encoding: FileEncoding; readonly mark: Buffer }[] = [
  { encoding: 'utf-8', mark: Buffer.from([0xef, 0xbb, 0xbf]) },
  { encoding: 'utf-16le', mark: Buffer.from([0xff, 0xfe]) },
  { encoding: 'utf-16be', mark: Buffer.from([0xfe, 0xff]) },
];

/** The length of the UTF-8 sequence that the byte begins; 1 for a byte that begins none. */
function sequenceLength(firstByte: number): number {
  if (firstByte < 0xc2 || firstByte > 0xf4) return 1;
  if (firstByte < 0xe0) return 2;
  return firstByte < 0xf0 ? 3 : 4;
}

/** UTF-8, in which each lone surrogate is a wrong byte. */
function encodeText(text: string): Buffer {
  const pieces = text.split(/\p{Surrogate}/u);
  if (pieces.length === 1) return Buffer.from(text);
  return Buffer.concat(pieces.flatMap((piece, index) =>
    index === 0 ? [Buffer.from(piece)] : [WRONG_BYTE, Buffer.from(piece)]));
}

function fromWindows1252(bytes: Buffer): Buffer {
  return isAscii(bytes) ? bytes : Buffer.from(decodeWindows1252(bytes));
}

/** A name that says nothing of bytes that are no ASCII: they tell what they are. */
const ASCII = /^(?:us[-_])?ascii$/i;
/** The end of what stands before the first entry of a BibTeX file. */
const FIRST_ENTRY = /^[ \t]*@/m;
/** The line that JabRef writes: `% Encoding: Cp1250`. */
const BIBTEX_ENCODING = /^[ \t]*%[ \t%]*encoding:[ \t]*(\S+)/im;

/** The encoding of that name; null: none is declared. Throws `code` for an unknown one. */
export function resolveEncoding(label: string | null, code: ErrorCode): FileEncoding | null {
  if (label === null || label === '' || ASCII.test(label)) return null;
  const encoding = findCharset(label);
  if (encoding === null) throw new AppError(code, explainUnknownCharset(label));
  return encoding;
}

/**
 * The encoding that a file declares in its beginning; null: it declares none. Throws `invalid` for
 * an unknown one.
 */
export function readDeclaredEncoding(format: FormatName, head: Buffer): FileEncoding | null {
  if (format !== 'bibtex') return null;
  const text = head.toString('latin1');
  const end = FIRST_ENTRY.exec(text)?.index ?? text.length;
  return resolveEncoding(BIBTEX_ENCODING.exec(text.slice(0, end))?.[1] ?? null, 'invalid');
}
