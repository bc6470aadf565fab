/**
 * `POST /api/books/import`: JSON Lines in, JSON Lines out, both as streams. Each record gives one
 * line of the response, in order; the last line is the count. Reading, storing and responding
 * overlap, and each waits for the next, so memory is bounded by the limits below.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { AppError } from '../../base/errors.ts';
import type { Exchange } from '../../server/http-route.ts';
import type { Catalog } from '../catalog.ts';
import { JSON_LINES } from './import-record.ts';
import { Importer } from './importer.ts';
import type { ImportMode } from './importer.ts';
import { JsonLinesSplitter } from './record-splitter.ts';
import type { SourceRecord } from './record-splitter.ts';

// A batch is one transaction. It also ends at the end of a chunk of the body, so that the books of
// a slow sender are stored at once. Parsing one takes a few milliseconds.
const BATCH_RECORDS_MAX = 256;
// While this many batches wait for the disk, reading the body pauses.
const BATCHES_IN_FLIGHT_MAX = 8;
// A client that sends everything before it reads anything must not stall: this much of the response
// (about 100 000 lines) is buffered before reading the body waits for the client.
const RESPONSE_BYTES_HELD_MAX = 8 * 1024 * 1024;

/** Runs one import. Resolves when the whole response is sent or the client has left. */
export function runImport(catalog: Catalog, exchange: Exchange, mode: ImportMode): Promise<void> {
  const run = new ImportRun(new Importer(catalog, mode));
  exchange.response.once('close', () => run.abandon());
  // Never rejects: `pull` reports what ended it.
  void run.read(exchange.readChunks());
  return exchange.sendStream(200, ['Content-Type', JSON_LINES], () => run.pull());
}

class ImportRun {
  readonly #importer: Importer;
  readonly #splitter = new JsonLinesSplitter();
  /** Resolves when the lines of all batches so far are in the response. */
  #batchesReported: Promise<void> = Promise.resolve();
  #batchesInFlight = 0;
  #responseChunks: Buffer[] = [];
  #responseBytes = 0;
  /** An error that is no AppError: `pull` throws it, which breaks the response off. */
  #bug: unknown = null;
  #isEnded = false;
  #isAbandoned = false;
  /** Resumes the reading of the body, when it waits for capacity; else does nothing. */
  #wakeReader: () => void = () => {};
  /** Resumes `pull`, when it waits for lines; else does nothing. */
  #wakePull: () => void = () => {};

  constructor(importer: Importer) {
    this.#importer = importer;
  }

  /** Reads the body and imports its records; what goes wrong, the response or `pull` tells. */
  async read(body: AsyncIterable<Buffer>): Promise<void> {
    try {
      const error = await this.#readAll(body) ?? this.#importer.failure;
      const { count } = this.#importer;
      this.#respond(`${JSON.stringify(error === null ? count : { ...count, error })}\n`);
    } catch (thrown) {
      this.#bug ??= thrown;
    }
    this.#isEnded = true;
    this.#wakePull();
  }

  /** Called when the client has left: what was read is stored, and nothing more is read. */
  abandon(): void {
    this.#isAbandoned = true;
    this.#wakeReader();
    this.#wakePull();
  }

  /** The next lines of the response, once there are any; null at its end. */
  async pull(): Promise<readonly Buffer[] | null> {
    while (this.#responseChunks.length === 0 && !this.#isEnded && !this.#isAbandoned) {
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
   * Reads the body to its end, even when the store refuses writes, so that the sender gets to read
   * the response. Returns null, or why the body ended early.
   */
  async #readAll(body: AsyncIterable<Buffer>): Promise<string | null> {
    let error: string | null = null;
    try {
      for await (const chunk of body) {
        await this.#submit(this.#splitter.push(chunk));
        if (this.#isAbandoned) break;
        // Chunks that are buffered already would otherwise hold up all other requests.
        await nextTurn();
      }
      // Not reached when the body was cut short: half a line is not a record.
      await this.#submit(this.#splitter.end());
    } catch (thrown) {
      if (!(thrown instanceof AppError)) throw thrown;
      error = thrown.message;
    }
    await this.#batchesReported;
    if (this.#bug !== null) throw this.#bug;
    return error;
  }

  async #submit(records: readonly SourceRecord[]): Promise<void> {
    for (let start = 0; start < records.length; start += BATCH_RECORDS_MAX) {
      const batch = this.#importer.run(records.slice(start, start + BATCH_RECORDS_MAX));
      this.#batchesInFlight += 1;
      const before = this.#batchesReported;
      this.#batchesReported = this.#respondInTurn(batch, before);
      await this.#waitForCapacity();
    }
  }

  /** Puts the batch's lines into the response, after those of the batch before. Never rejects. */
  async #respondInTurn(batch: Promise<string>, before: Promise<void>): Promise<void> {
    const [result] = await Promise.allSettled([batch, before]);
    this.#batchesInFlight -= 1;
    if (result.status === 'fulfilled') this.#respond(result.value);
    else this.#bug ??= result.reason;
    this.#wakeReader();
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

  #respond(lines: string): void {
    const bytes = Buffer.from(lines);
    this.#responseChunks.push(bytes);
    this.#responseBytes += bytes.length;
    this.#wakePull();
  }
}
