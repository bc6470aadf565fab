/**
 * A file of books as it arrives: which format and encoding it has, and its records. Memory is
 * bounded by the head that is looked at first, and by what the format's reader holds.
 */
import { isUtf8 } from 'node:buffer';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { AppError, messageOf } from '../../base/errors.ts';
import { systemClock } from '../../base/clock.ts';
import { parseJson } from '../../base/json/parse.ts';
import { createTurns } from '../../base/turns.ts';
import type { Steps } from '../../base/turns.ts';
import { FileDecoder } from './decode-text.ts';
import type { FileEncoding } from './decode-text.ts';
import type { FormatCodec, ReaderOptions } from './format-codec.ts';
import type { FormatName } from './format-list.ts';
import { loadCodec } from './formats.ts';
import { HEAD_BYTES, recogniseFormat } from './recognise-format.ts';
import type { FormatChoice } from './recognise-format.ts';
import type { RecordSplitter, SourceRecord } from './record-splitter.ts';

// Other requests have a turn after each piece: 64 KiB of a list of ISBNs are 4600 records, which
// take 25 ms, and before the code is warm 160.
const PIECE_BYTES = 4096;
/** So many records of a file that is read whole are handed on together. */
const SOME_RECORDS = 64;
/** White space and controls are no text. */
const SPACE = 0x20;

export type BookFile = {
  readonly format: FormatName;
  readonly codec: FormatCodec;
  /** The encoding, as far as the file has been read. */
  readonly encoding: FileEncoding;
  /** Some records at a time, perhaps none, as they arrive. To be called once. */
  readRecords(): AsyncIterable<readonly SourceRecord[]>;
  /** Ends the source, also where nothing was read of it, or not all. Idempotent. */
  close(): Promise<void>;
};

/**
 * Reads the beginning of the file. Throws `invalid` for a file that could be of several formats,
 * is empty where not even one of no books is, or cannot be read at all, and what `source` throws.
 */
export async function openBookFile(
  source: AsyncIterable<Buffer>, choice: FormatChoice, options: ReaderOptions,
): Promise<BookFile> {
  const start = await startFile(source, choice);
  try {
    const codec = await loadCodec(start.format);
    const isEmpty = start.isWhole && !start.text.some(isText);
    if (isEmpty && codec.canBeEmpty !== true) throw createEmptiness();
    const converter = new FileDecoder();
    const { readPiece, readEnd } = createRecordReader(codec.createReader(options), converter);
    const readChunk = async (chunk: Buffer): Promise<SourceRecord[]> => {
      const records: SourceRecord[] = [];
      for (let offset = 0; offset < chunk.length; offset += PIECE_BYTES) {
        append(records, readPiece(chunk.subarray(offset, offset + PIECE_BYTES)));
        await nextTurn();
      }
      return records;
    };
    const firstRecords: SourceRecord[] = [];
    for (const chunk of start.chunks) append(firstRecords, await readChunk(chunk));
    // A mistake of a whole short file, such as one in its header, is thrown here too.
    if (start.isWhole) for await (const records of readEnd()) append(firstRecords, records);
    return {
      format: start.format, codec,
      get encoding() {
        return converter.encoding;
      },
      async* readRecords() {
        yield firstRecords;
        if (start.isWhole) return;
        for await (const chunk of start.readRest()) yield readChunk(chunk);
        // Not reached when the file was cut short: half a record is none.
        yield* readEnd();
      },
      close: start.close,
    };
  } catch (thrown) {
    await start.close();
    throw thrown;
  }
}

type PieceReader = {
  /** The records that end in a piece of the file. */
  readonly readPiece: (piece: Buffer) => readonly SourceRecord[];
  /** The records that the end of the file completes, some at a time. */
  readonly readEnd: () => AsyncIterable<readonly SourceRecord[]>;
};

function createRecordReader(splitter: RecordSplitter, decoder: FileDecoder): PieceReader {
  const isUtf16 = (): boolean => decoder.encoding.startsWith('utf-16');
  const read = (text: Buffer): readonly SourceRecord[] => {
    try {
      const records = splitter.push(text);
      return isUtf16() ? records.map(nameUtf16Record) : records;
    } catch (thrown) {
      throw isUtf16() ? nameUtf16Error(thrown) : thrown;
    }
  };
  return {
    readPiece: (piece) => read(decoder.push(piece)),
    async* readEnd() {
      yield read(decoder.end());
      const turns = createTurns(systemClock);
      try {
        const rest = splitter.end()[Symbol.iterator]();
        for (let isEnd = false; !isEnd;) {
          const records: SourceRecord[] = [];
          isEnd = await turns.run(takeSome(rest, records)) ?? true;
          yield isUtf16() ? records.map(nameUtf16Record) : records;
          await nextTurn();
        }
      } catch (thrown) {
        throw isUtf16() ? nameUtf16Error(thrown) : thrown;
      }
    },
  };
}

function isText(byte: number): boolean {
  return byte > SPACE;
}

function createEmptiness(): AppError {
  return new AppError('invalid', 'the file is empty: look whether it is the right one and its '
    + 'export has ended, and export it again');
}

// An entry that is broken may release a hundred thousand records at once: too many for arguments.
function append(records: SourceRecord[], others: readonly SourceRecord[]): void {
  for (const record of others) records.push(record);
}

/** Takes some records, which are made as they are asked for; returns whether it took the last. */
function* takeSome(
  source: Iterator<SourceRecord | null>, records: SourceRecord[],
): Steps<boolean> {
  while (records.length < SOME_RECORDS) {
    const { value, done = false } = source.next();
    if (done) return true;
    if (value !== null) records.push(value);
    yield;
  }
  return false;
}

/**
 * What a reader says of a file of UTF-16. It takes UTF-8, and says so of a text that is none
 * (`decode-text.ts`): in the words of the file it is no UTF-16.
 */
function nameUtf16Record(record: SourceRecord): SourceRecord {
  if (record.problem !== undefined) return { ...record, problem: nameUtf16(record.problem) };
  if (!('json' in record) || record.json === undefined || isUtf8(record.json)) return record;
  return { line: record.line, problem: nameUtf16(explainJson(record.json)) };
}

function nameUtf16Error(thrown: unknown): unknown {
  if (!(thrown instanceof AppError)) return thrown;
  return new AppError(thrown.code, nameUtf16(thrown.message), thrown.details, thrown);
}

/** Says where JSON that is not UTF-8 is broken. */
function explainJson(json: Buffer): string {
  try {
    parseJson(json);
  } catch (thrown) {
    return messageOf(thrown);
  }
  return '';
}

function nameUtf16(message: string): string {
  return message.replace(/\bnot valid UTF-8\b/, 'not valid UTF-16');
}

/** The beginning of a file, and what follows it. */
export type FileStart = {
  readonly format: FormatName;
  /** The encoding, as far as the beginning shows it. */
  readonly encoding: FileEncoding;
  /** The beginning, as it came and as UTF-8. */
  readonly chunks: readonly Buffer[];
  readonly text: Buffer;
  /** Whether nothing follows. */
  readonly isWhole: boolean;
  readRest(): AsyncIterable<Buffer>;
  /** To be called where the rest is not read. Idempotent. */
  close(): Promise<void>;
};

/**
 * Reads as much of the file as shows its format and encoding. JSON Lines are not waited for: their
 * sender may want each answer before the next line. Throws `invalid` for a file that could be of
 * several formats, and what `source` throws.
 */
export async function startFile(
  source: AsyncIterable<Buffer>, choice: FormatChoice,
): Promise<FileStart> {
  const iterator = source[Symbol.asyncIterator]();
  const close = async (): Promise<void> => {
    await iterator.return?.();
  };
  try {
    const head = await readHead(iterator, choice === 'jsonl' ? 1 : HEAD_BYTES);
    const format = typeof choice === 'string' ? choice : recogniseFormat(choice, head.text);
    const rest = { [Symbol.asyncIterator]: () => iterator };
    return { ...head, format, readRest: () => rest, close };
  } catch (thrown) {
    await close();
    throw thrown;
  }
}

type FileHead = {
  readonly chunks: readonly Buffer[]; readonly text: Buffer; readonly isWhole: boolean;
  readonly encoding: FileEncoding;
};

/** Reads chunks until they give `bytesMin` of text, or all. */
async function readHead(source: AsyncIterator<Buffer>, bytesMin: number): Promise<FileHead> {
  const converter = new FileDecoder();
  const chunks: Buffer[] = [];
  const parts: Buffer[] = [];
  let length = 0;
  let isWhole = false;
  while (length < bytesMin && !isWhole) {
    const next = await source.next();
    isWhole = next.done === true;
    const part = next.done === true ? converter.end() : converter.push(next.value);
    parts.push(part);
    length += part.length;
    if (next.done === true) break;
    // A copy: whoever reads the text may write over it.
    chunks.push(Buffer.from(next.value));
  }
  return { chunks, text: Buffer.concat(parts), isWhole, encoding: converter.encoding };
}
