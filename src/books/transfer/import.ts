/**
 * `POST /api/books/import`: JSON Lines in, JSON Lines out, both as streams. Each book that came
 * gets one line, in order; the last line is the count. Reading, storing and answering overlap, and
 * each waits for the next: no more is held than some batches and the answers named below.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { AppError } from '../../base/errors.ts';
import type { Exchange } from '../../server/route.ts';
import type { Catalog } from '../catalog.ts';
import { Importer } from './importer.ts';
import type { ImportMode } from './importer.ts';
import { JsonLinesSplitter } from './record-splitter.ts';
import type { SourceRecord } from './record-splitter.ts';

// A batch is one transaction, and ends where a chunk of the body does, so that the books of a slow
// sender do not wait. It is parsed in a few milliseconds, so that other requests do not either.
const BATCH_RECORDS_MAX = 256;
// While so many batches wait for the disk the body is not read on.
const BATCHES_IN_FLIGHT_MAX = 8;
// A client that sends everything before it reads anything must not stall: so much of the answer
// (about 100 000 lines) is kept for it before the body waits for its reader.
const ANSWER_BYTES_HELD_MAX = 8 * 1024 * 1024;

export const JSON_LINES = 'application/jsonl';

/** Runs one import. Resolves when all is answered or the client has gone. */
export function runImport(catalog: Catalog, exchange: Exchange, mode: ImportMode): Promise<void> {
  const run = new ImportRun(new Importer(catalog, mode));
  exchange.response.once('close', () => run.abandon());
  // Never rejects: what ends it is told by `pull`.
  void run.read(exchange.readChunks());
  return exchange.sendStream(200, ['Content-Type', JSON_LINES], () => run.pull());
}

class ImportRun {
  readonly #importer: Importer;
  readonly #splitter = new JsonLinesSplitter();
  /** Resolves when the answers of all batches so far are there. */
  #answered: Promise<void> = Promise.resolve();
  #inFlight = 0;
  #answers: Buffer[] = [];
  #answerBytes = 0;
  #bug: unknown = null;
  #isEnded = false;
  #isAbandoned = false;
  #wakeReader: () => void = () => {};
  #wakePull: () => void = () => {};

  constructor(importer: Importer) {
    this.#importer = importer;
  }

  async read(body: AsyncIterable<Buffer>): Promise<void> {
    try {
      const error = await this.#readAll(body) ?? this.#importer.failure;
      const { count } = this.#importer;
      this.#answer(`${JSON.stringify(error === null ? count : { ...count, error })}\n`);
    } catch (thrown) {
      this.#bug ??= thrown;
    }
    this.#isEnded = true;
    this.#wakePull();
  }

  /** The client has gone: what was read is stored, and no more is read. */
  abandon(): void {
    this.#isAbandoned = true;
    this.#wakeReader();
    this.#wakePull();
  }

  async pull(): Promise<readonly Buffer[] | null> {
    while (this.#answers.length === 0 && !this.#isEnded && !this.#isAbandoned) {
      await new Promise<void>((resolve) => {
        this.#wakePull = resolve;
      });
    }
    if (this.#bug !== null) throw this.#bug;
    if (this.#answers.length === 0) return null;
    const answers = this.#answers;
    this.#answers = [];
    this.#answerBytes = 0;
    this.#wakeReader();
    return answers;
  }

  /**
   * Reads to the end of the body, even when the store takes no more, so that the sender gets to
   * read the answer. Null, or why the body ended early.
   */
  async #readAll(body: AsyncIterable<Buffer>): Promise<string | null> {
    let error: string | null = null;
    try {
      for await (const chunk of body) {
        await this.#submit(this.#splitter.push(chunk));
        if (this.#isAbandoned) break;
        // Chunks that lie ready would follow without a turn for other requests.
        await nextTurn();
      }
      // Half a last line of a body that was cut short is not a record.
      await this.#submit(this.#splitter.end());
    } catch (thrown) {
      if (!(thrown instanceof AppError)) throw thrown;
      error = thrown.message;
    }
    await this.#answered;
    if (this.#bug !== null) throw this.#bug;
    return error;
  }

  async #submit(records: readonly SourceRecord[]): Promise<void> {
    for (let start = 0; start < records.length; start += BATCH_RECORDS_MAX) {
      const batch = this.#importer.run(records.slice(start, start + BATCH_RECORDS_MAX));
      this.#inFlight += 1;
      const before = this.#answered;
      this.#answered = this.#answerInTurn(batch, before);
      await this.#room();
    }
  }

  /** Never rejects, and ends after the batch before. */
  async #answerInTurn(batch: Promise<string>, before: Promise<void>): Promise<void> {
    const [result] = await Promise.allSettled([batch, before]);
    this.#inFlight -= 1;
    if (result.status === 'fulfilled') this.#answer(result.value);
    else this.#bug ??= result.reason;
    this.#wakeReader();
  }

  async #room(): Promise<void> {
    while (!this.#isAbandoned && this.#bug === null
      && (this.#inFlight >= BATCHES_IN_FLIGHT_MAX || this.#answerBytes > ANSWER_BYTES_HELD_MAX)) {
      await new Promise<void>((resolve) => {
        this.#wakeReader = resolve;
      });
    }
  }

  #answer(lines: string): void {
    const bytes = Buffer.from(lines);
    this.#answers.push(bytes);
    this.#answerBytes += bytes.length;
    this.#wakePull();
  }
}
