/**
 * A file of books as it arrives: which format and encoding it has, and its records. Memory is
 * bounded by the head that is looked at first, and by what the format's reader holds.
 */
import { isUtf8 } from 'node:buffer';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { AppError, messageOf } from '../../base/errors.ts';
import { systemClock } from '../../base/clock.ts';
import { parseJsonRecord } from '../../base/json/parse.ts';
import { createTurns } from '../../base/turns.ts';
import type { Steps } from '../../base/turns.ts';
import { formatCharset } from '../../base/text/charset.ts';
import { assertText } from './binary-file.ts';
import { FileDecoder, readDeclaredEncoding } from './decode-text.ts';
import type { FileEncoding } from './decode-text.ts';
import type { FormatCodec, ReaderOptions } from './format-codec.ts';
import { findFormatTitle } from './format-list.ts';
import type { FormatName } from './format-list.ts';
import { loadCodec } from './formats.ts';
import { HEAD_BYTES, resolveFormat } from './recognise-format.ts';
import type { FormatChoice } from './recognise-format.ts';
import type { RecordSplitter, SourceRecord } from './record-splitter.ts';

// Other requests have a turn after each piece: 64 KiB of a list of ISBNs are 4600 records, which
// take 25 ms, and before the code is warm 160.
const PIECE_BYTES = 4096;
/** So many are handed on without the rest of their chunk, which may have 500,000 of two bytes. */
const RECORDS_HELD_MAX = 4096;
/** So many records of a file that is read whole are handed on together. */
const SOME_RECORDS = 64;
/** White space and controls are no text. */
const SPACE = 0x20;

export type BookFile = {
  readonly format: FormatName;
  readonly codec: FormatCodec;
  /** The encoding, as far as the file has been read. */
  readonly encoding: FileEncoding;
  /** See `RecordSplitter`; null: there is nothing to tell. */
  readonly columns: Readonly<Record<string, string>> | null;
  /** Some records at a time, perhaps none, as they arrive. To be called once. */
  readRecords(): AsyncIterable<readonly SourceRecord[]>;
  /** Ends the source, also where nothing was read of it, or not all. Idempotent. */
  close(): Promise<void>;
};

/**
 * Reads the beginning of the file. `declared`: its encoding by the caller; null: nobody has said.
 * Throws `invalid` for a file that could be of several formats, declares an unknown encoding, has
 * columns of another program where the caller says what they hold, is empty where not even one of
 * no books is, or cannot be read at all, and what `source` throws.
 */
export async function openBookFile(
  source: AsyncIterable<Buffer>, choice: FormatChoice, options: ReaderOptions,
  declared: FileEncoding | null = null,
): Promise<BookFile> {
  const start = await startFile(source, choice, declared);
  try {
    assertColumns(start.format, options);
    const codec = await loadCodec(start.format);
    const isEmpty = start.isWhole && !start.text.some((byte) => byte > SPACE);
    if (isEmpty && codec.canBeEmpty !== true) throw createEmptiness();
    const converter = new FileDecoder(start.declared);
    const splitter = codec.createReader(options);
    const { readPiece, readEnd } = createRecordReader(splitter, converter);
    const readChunk = async function* readChunk(chunk: Buffer): AsyncGenerator<SourceRecord[]> {
      let records: SourceRecord[] = [];
      for (let offset = 0; offset < chunk.length; offset += PIECE_BYTES) {
        append(records, readPiece(chunk.subarray(offset, offset + PIECE_BYTES)));
        await nextTurn();
        if (records.length < RECORDS_HELD_MAX) continue;
        yield records;
        records = [];
      }
      yield records;
    };
    const firstRecords: SourceRecord[] = [];
    for (const chunk of start.chunks) {
      for await (const records of readChunk(chunk)) append(firstRecords, records);
    }
    // A mistake of a whole short file, such as one in its header, is thrown here too.
    if (start.isWhole) for await (const records of readEnd()) append(firstRecords, records);
    return {
      format: start.format, codec,
      get encoding() {
        return converter.encoding;
      },
      get columns() {
        return splitter.columns ?? null;
      },
      async* readRecords() {
        yield firstRecords;
        if (start.isWhole) return;
        for await (const chunk of start.readRest()) yield* readChunk(chunk);
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

function assertColumns(format: FormatName, { columns }: ReaderOptions): void {
  if (format === 'csv' || columns === undefined || columns.size === 0) return;
  throw new AppError('invalid', `the file is ${findFormatTitle(format)}, whose columns are known: `
    + 'leave `column` out, or name the format csv');
}

type PieceReader = {
  /** The records that end in a piece of the file. */
  readonly readPiece: (piece: Buffer) => readonly SourceRecord[];
  /** The records that the end of the file completes, some at a time. */
  readonly readEnd: () => AsyncIterable<readonly SourceRecord[]>;
};

function createRecordReader(splitter: RecordSplitter, decoder: FileDecoder): PieceReader {
  const readNamed = (text: Buffer): readonly SourceRecord[] => {
    try {
      return nameEncoding(splitter.push(text), decoder.encoding);
    } catch (thrown) {
      throw nameEncodingOfError(thrown, decoder.encoding);
    }
  };
  return {
    readPiece: (piece) => readNamed(decoder.push(piece)),
    async* readEnd() {
      yield readNamed(decoder.end());
      const turns = createTurns(systemClock);
      try {
        const rest = splitter.end()[Symbol.iterator]();
        for (let isEnd = false; !isEnd;) {
          const records: SourceRecord[] = [];
          isEnd = await turns.run(takeSome(rest, records)) ?? true;
          yield nameEncoding(records, decoder.encoding);
          await nextTurn();
        }
      } catch (thrown) {
        throw nameEncodingOfError(thrown, decoder.encoding);
      }
    },
  };
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

/** Encodings whose wrong bytes are no matter of their own: see `decode-text.ts`. */
const PLAIN_ENCODINGS: readonly FileEncoding[] = ['utf-8', 'windows-1252'];

/**
 * The records with problems that name the encoding of the file. A reader takes UTF-8, and says of a
 * wrong text that it is no UTF-8 (`decode-text.ts`): in the words of the file it is no UTF-16, say.
 */
function nameEncoding(
  records: readonly SourceRecord[], encoding: FileEncoding,
): readonly SourceRecord[] {
  if (PLAIN_ENCODINGS.includes(encoding)) return records;
  return records.map((record) => {
    const { problem } = record;
    if (problem !== undefined) return { ...record, problem: replaceName(problem, encoding) };
    if (!('json' in record) || record.json === undefined || isUtf8(record.json)) return record;
    return { line: record.line, problem: replaceName(explainJson(record.json), encoding) };
  });
}

function nameEncodingOfError(thrown: unknown, encoding: FileEncoding): unknown {
  if (!(thrown instanceof AppError) || PLAIN_ENCODINGS.includes(encoding)) return thrown;
  const { code, message, details } = thrown;
  return new AppError(code, replaceName(message, encoding), details, thrown);
}

/** Says where JSON that is not UTF-8 is broken. */
function explainJson(json: Buffer): string {
  try {
    parseJsonRecord(json);
  } catch (thrown) {
    return messageOf(thrown);
  }
  return '';
}

function replaceName(message: string, encoding: FileEncoding): string {
  return message.replace(/\bnot valid UTF-8\b/, `not valid ${formatCharset(encoding)}`);
}

/** The beginning of a file, and what follows it. */
export type FileStart = {
  readonly format: FormatName;
  /** The encoding, as far as the beginning shows it. */
  readonly encoding: FileEncoding;
  /** The one that the caller or the file itself declares, which a mark beats; null: neither. */
  readonly declared: FileEncoding | null;
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
 * sender may want each answer before the next line. Throws what `source` throws, and `invalid` for
 * a file that could be of several formats, is of another than the named one, declares an unknown
 * encoding or is no text.
 */
export async function startFile(
  source: AsyncIterable<Buffer>, choice: FormatChoice, declaredByCaller: FileEncoding | null,
): Promise<FileStart> {
  const iterator = source[Symbol.asyncIterator]();
  const close = async (): Promise<void> => {
    await iterator.return?.();
  };
  try {
    const bytesMin = choice === 'jsonl' ? 1 : HEAD_BYTES;
    const head = await readHead(iterator, bytesMin, declaredByCaller);
    const isUtf16 = findEncoding(head.chunks, declaredByCaller).startsWith('utf-16');
    // A file of JSON Lines is read on when too few bytes to tell may have come.
    if (choice !== 'jsonl' && !isUtf16) assertText(Buffer.concat(head.chunks));
    const format = resolveFormat(choice, head.text);
    const declared = declaredByCaller ?? readDeclaredEncoding(format, head.text);
    const encoding = findEncoding(head.chunks, declared);
    const rest = { [Symbol.asyncIterator]: () => iterator };
    return { ...head, format, encoding, declared, readRest: () => rest, close };
  } catch (thrown) {
    await close();
    throw thrown;
  }
}

function findEncoding(chunks: readonly Buffer[], declared: FileEncoding | null): FileEncoding {
  const converter = new FileDecoder(declared);
  for (const chunk of chunks) converter.push(chunk);
  return converter.encoding;
}

type FileHead = {
  readonly chunks: readonly Buffer[]; readonly text: Buffer; readonly isWhole: boolean;
};

/** Reads chunks until they give `bytesMin` of text, or all. */
async function readHead(
  source: AsyncIterator<Buffer>, bytesMin: number, declared: FileEncoding | null,
): Promise<FileHead> {
  const converter = new FileDecoder(declared);
  const chunks: Buffer[] = [];
  const parts: Buffer[] = [];
  let length = 0;
  while (length < bytesMin) {
    const next = await source.next();
    if (next.done === true) {
      return { chunks, text: Buffer.concat([...parts, converter.end()]), isWhole: true };
    }
    const part = converter.push(next.value);
    parts.push(part);
    length += part.length;
    // A copy: whoever reads the text may write over it.
    chunks.push(Buffer.from(next.value));
  }
  return { chunks, text: Buffer.concat(parts), isWhole: false };
}
