/**
 * `POST /api/books/import`: a file of any format in, JSON Lines out, both as streams. The first
 * line of the response names the format and the encoding, each record gives one line, in order, and
 * the last line is the count. Reading, storing and responding overlap, and each waits for the next,
 * so memory is bounded by the limits below.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { assert } from '../../base/assert.ts';
import { AppError } from '../../base/errors.ts';
import { isJsonObject } from '../../base/fields.ts';
import type { JsonValue } from '../../base/schema.ts';
import { findDeclaredCharset } from '../../base/text/charset.ts';
import type { Exchange } from '../../server/http-route.ts';
import { decodeBook } from '../book.ts';
import type { Catalog } from '../catalog.ts';
import { openBookFile } from './book-file.ts';
import type { BookFile } from './book-file.ts';
import { resolveEncoding } from './decode-text.ts';
import type { FileEncoding } from './decode-text.ts';
import { readMetadataWith } from '../query/stored-fields.ts';
import type { FormatName } from './format-list.ts';
import { loadTables } from './formats.ts';
import type { ImportMode } from './import-mode.ts';
import { JSON_LINES } from './import-record.ts';
import { Importer } from './importer.ts';
import type { FormatTable } from './mapping/format-table.ts';
import { findSource } from './mapping/metadata-source.ts';
import { createMatchMode } from './match-mode.ts';
import type { BookImport } from './matching/book-import.ts';
import { findFormatByMediaType } from './recognise-format.ts';
import type { SourceRecord } from './record-splitter.ts';

// A batch is one transaction. It also ends at the end of a chunk of the body, so that the books of
// a slow sender are stored at once. Parsing one takes a few milliseconds.
const BATCH_RECORDS_MAX = 256;
// To match, map and encode so many members takes some 10 ms. A batch of 256 records may have far
// more: each child of a BibTeX entry may have a thousand from its parent.
const BATCH_MEMBERS_MAX = 4000;
// While this many batches wait for the disk, reading the body pauses.
const BATCHES_IN_FLIGHT_MAX = 8;
// A client that sends everything before it reads anything must not stall: this much of the response
// (about 100 000 lines) is buffered before reading the body waits for the client.
const RESPONSE_BYTES_HELD_MAX = 8 * 1024 * 1024;

/** The bytes that each book with a source has in its metadata. */
const SOURCE_MEMBER = '"source":{';

/** The format of the body, where the caller names it; else a media type that an import takes. */
export type ImportBody =
  | { readonly format: FormatName; readonly mediaType?: never }
  | { readonly format?: never; readonly mediaType: string };

/**
 * Runs one import. Resolves when the whole response is sent or the client has left. Throws
 * `unsupported_media_type` for an unknown charset, and `invalid` for a file that cannot be told or
 * cannot be read at all, before anything is sent.
 */
export async function runImport(
  catalog: Catalog, exchange: Exchange, kind: ImportBody, mode: ImportMode, isBrief = false,
): Promise<void> {
  const choice = kind.format ?? findFormatByMediaType(kind.mediaType);
  assert(choice !== null);
  const charset = findDeclaredCharset(exchange.request.headers['content-type']);
  const encoding = resolveEncoding(charset, 'unsupported_media_type');
  let startedRun: ImportRun | null = null;
  const chunks = readUntil(exchange.readChunks(), async () => await startedRun?.stop() ?? false);
  const file = await openBookFile(chunks, choice, mode, encoding);
  const bookImport = await openImport(catalog, file, mode);
  const run = new ImportRun(catalog, file, bookImport, new Importer(bookImport, mode, isBrief));
  startedRun = run;
  await sendResults(exchange, run, isBrief);
}

/**
 * Reads again what the metadata of all books have from other programs, as an import of those
 * records: the response is that of an import, in which `format` is `metadata` and a record a book.
 */
export async function runReread(
  catalog: Catalog, exchange: Exchange, mode: Pick<ImportMode, 'isDryRun' | 'isVerbose'>,
  isBrief: boolean,
): Promise<void> {
  const tables = await loadTables();
  const bookImport = await catalog.openReread({ tables, ...mode });
  const sources: RecordFile = {
    format: 'metadata', encoding: 'utf-8', columns: null, close: async () => {},
    readRecords: () => readBooksWithSources(catalog, tables),
  };
  const run = new ImportRun(catalog, sources, bookImport, new Importer(bookImport, mode, isBrief));
  await sendResults(exchange, run, isBrief);
}

/** So many books are looked at before others have a turn. */
const BOOKS_PER_TURN = 64;

/** The books whose metadata have fields of one of the tables, as records with their ids. */
async function* readBooksWithSources(
  catalog: Catalog, tables: readonly FormatTable[],
): AsyncGenerator<readonly SourceRecord[]> {
  let records: SourceRecord[] = [];
  let line = 0;
  let looks = 0;
  for (const id of catalog.ids()) {
    const record = catalog.findListed(id);
    const metadata = record === null ? null : readMetadataWith(record.bytes, SOURCE_MEMBER);
    if (record !== null && tables.some(({ name }) => findSource(name, metadata) !== null)) {
      line += 1;
      const { title } = decodeBook(record.bytes);
      records.push({ line, key: null, body: { id, title }, leftOut: [] });
    }
    looks += 1;
    if (looks % BOOKS_PER_TURN !== 0) continue;
    yield records;
    records = [];
    await nextTurn();
  }
  yield records;
}

/** Resolves when the whole response is sent or the client has left. */
async function sendResults(exchange: Exchange, run: ImportRun, isBrief: boolean): Promise<void> {
  exchange.response.once('close', () => run.abandon());
  // The client may have left while the beginning was read.
  if (exchange.response.closed) run.abandon();
  // Never rejects: `pull` reports what ended it.
  void run.read();
  const headers = isBrief ? ['Preference-Applied', 'return=minimal'] : [];
  await exchange.sendStream(200, ['Content-Type', JSON_LINES, ...headers], () => run.pull());
}

/** Closes the file where its records cannot be matched as `mode` says, and throws `invalid`. */
async function openImport(
  catalog: Catalog, file: BookFile, mode: ImportMode,
): Promise<BookImport> {
  try {
    return await catalog.openImport(createMatchMode(file.format, file.codec, mode));
  } catch (thrown) {
    await file.close();
    throw thrown;
  }
}

/** Yields chunks until `isOver`, and reads past the others. */
async function* readUntil(
  chunks: AsyncIterable<Buffer>, isOver: () => Promise<boolean>,
): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) if (!await isOver()) yield chunk;
}

/** The records of a file, or of the metadata of books. */
type RecordFile = Pick<BookFile, 'encoding' | 'columns' | 'readRecords' | 'close'> & {
  readonly format: FormatName | 'metadata';
};

class ImportRun {
  readonly #catalog: Pick<Catalog, 'countImported'>;
  readonly #file: RecordFile;
  readonly #bookImport: BookImport;
  readonly #importer: Importer;
  /** The encoding that the first line of the response names; null before that line. */
  #firstEncoding: FileEncoding | null = null;
  /** Resolves when the lines of all batches so far are in the response. */
  #batchesReported: Promise<void> = Promise.resolve();
  #batchesInFlight = 0;
  #responseChunks: Buffer[] = [];
  #responseBytes = 0;
  /** An error that is no AppError: `pull` throws it, which breaks the response off. */
  #bug: unknown = null;
  /** Whether the response has its last line. */
  #isCounted = false;
  #isEnded = false;
  #isAbandoned = false;
  /** Resumes the reading of the body, when it waits for capacity; else does nothing. */
  #wakeReader: () => void = () => {};
  /** Resumes `pull`, when it waits for lines; else does nothing. */
  #wakePull: () => void = () => {};

  constructor(
    catalog: Pick<Catalog, 'countImported'>, file: RecordFile, bookImport: BookImport,
    importer: Importer,
  ) {
    this.#catalog = catalog;
    this.#file = file;
    this.#bookImport = bookImport;
    this.#importer = importer;
  }

  /** Reads the body and imports its records; what goes wrong, the response or `pull` tells. */
  async read(): Promise<void> {
    try {
      // The client learns the format of the file before anything of it is imported.
      this.#respond('');
      const error = await this.#readAll();
      if (!await this.stop()) this.#respondCount(error);
    } catch (thrown) {
      this.#bug ??= thrown;
    } finally {
      this.#bookImport.close();
    }
    this.#isEnded = true;
    this.#wakePull();
  }

  /**
   * When the store has refused a batch, responds at once with the count and the reason. Returns
   * whether it has: nothing is imported after that.
   */
  async stop(): Promise<boolean> {
    const { failure } = this.#importer;
    if (failure === null) return false;
    await this.#batchesReported;
    if (!this.#isCounted) this.#respondCount(failure);
    return true;
  }

  /** Called when the client has left: what was read is stored, and nothing more is read. */
  abandon(): void {
    this.#isAbandoned = true;
    this.#wakeReader();
    this.#wakePull();
  }

  /** The next lines of the response, once there are any; null at its end. */
  async pull(): Promise<readonly Buffer[] | null> {
    while (this.#responseChunks.length === 0 && !this.#isEnded && !this.#isAbandoned
      && this.#bug === null) {
      await new Promise<void>((resolve) => {
        this.#wakePull = resolve;
      });
    }
    if (this.#bug !== null) throw this.#bug;
    if (this.#responseChunks.length === 0) return null;
    const chunks = this.#responseChunks;
    this.#responseChunks = [];
    this.#responseBytes = 0;
    this.#wakeReader();
    return chunks;
  }

  /**
   * Reads the body to its end, also past what is not tried any more, so that the sender gets to
   * read the response. Returns null, or why the body ended early.
   */
  async #readAll(): Promise<string | null> {
    let error: string | null = null;
    try {
      for await (const records of this.#file.readRecords()) {
        await this.#submit(records);
        if (this.#isAbandoned || this.#bug !== null) break;
      }
    } catch (thrown) {
      if (!(thrown instanceof AppError)) throw thrown;
      error = thrown.message;
    } finally {
      await this.#file.close();
    }
    await this.#batchesReported;
    if (this.#bug !== null) throw this.#bug;
    return error;
  }

  async #submit(records: readonly SourceRecord[]): Promise<void> {
    for (let start = 0; start < records.length;) {
      if (this.#importer.failure !== null) return;
      const end = findBatchEnd(records, start);
      const batch = this.#importer.run(records.slice(start, end));
      const recordCount = end - start;
      start = end;
      this.#batchesInFlight += 1;
      const before = this.#batchesReported;
      this.#batchesReported = this.#respondInTurn(batch, before, recordCount);
      // Records that are there already would otherwise hold up all other requests.
      await nextTurn();
      await this.#waitForCapacity();
    }
  }

  /** Puts the batch's lines into the response, after those of the batch before. Never rejects. */
  async #respondInTurn(
    batch: Promise<string>, before: Promise<void>, recordCount: number,
  ): Promise<void> {
    const [result] = await Promise.allSettled([batch, before]);
    this.#batchesInFlight -= 1;
    this.#catalog.countImported(recordCount);
    if (result.status === 'fulfilled') this.#respond(result.value);
    else this.#bug ??= result.reason;
    this.#wakeReader();
    this.#wakePull();
  }

  async #waitForCapacity(): Promise<void> {
    while (!this.#isAbandoned && this.#bug === null
      && (this.#batchesInFlight >= BATCHES_IN_FLIGHT_MAX
        || this.#responseBytes > RESPONSE_BYTES_HELD_MAX)) {
      await new Promise<void>((resolve) => {
        this.#wakeReader = resolve;
      });
    }
  }

  #respondCount(error: string | null): void {
    this.#isCounted = true;
    this.#respond(`${JSON.stringify(this.#createCount(error))}\n`);
  }

  /** The last line. Its encoding is there when later bytes told another than the first line. */
  #createCount(error: string | null): object {
    const { encoding } = this.#file;
    return {
      ...this.#importer.count,
      ...this.#firstEncoding === null || this.#firstEncoding === encoding ? {} : { encoding },
      ...error === null ? {} : { error },
    };
  }

  #respond(lines: string): void {
    const bytes = Buffer.from(this.#firstEncoding === null ? this.#begin() + lines : lines);
    this.#responseChunks.push(bytes);
    this.#responseBytes += bytes.length;
    this.#wakePull();
  }

  #begin(): string {
    const { format, encoding, columns } = this.#file;
    this.#firstEncoding = encoding;
    return `${JSON.stringify({ format, encoding, ...columns === null ? {} : { columns } })}\n`;
  }
}

/** The end of the batch that begins at `start`: it has at least one record. */
function findBatchEnd(records: readonly SourceRecord[], start: number): number {
  const last = Math.min(records.length, start + BATCH_RECORDS_MAX);
  let members = 0;
  for (let end = start; end < last; end += 1) {
    const record = records[end];
    if (record !== undefined && 'body' in record) members += countMembers(record.body);
    if (members > BATCH_MEMBERS_MAX && end > start) return end;
  }
  return last;
}

/** Counts the members of an object and of those within. */
function countMembers(value: JsonValue): number {
  if (!isJsonObject(value)) return 0;
  const members = Object.values(value);
  return members.reduce<number>((sum, member) => sum + countMembers(member), members.length);
}
