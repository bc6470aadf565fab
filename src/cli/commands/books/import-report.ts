/**
 * Prints the outcome of an import: each bad record with its line, in the order of the lines, as
 * soon as the results of all earlier lines are known; and the totals at the end.
 */
import { AppError } from '../../../base/errors.ts';
import type { FieldError } from '../../../base/errors.ts';
import { isJsonObject } from '../../../base/fields.ts';
import type { JsonObject } from '../../../base/schema.ts';
import { ID_EXISTS } from '../../../books/transfer/importer.ts';
import type { Output } from '../../terminal/output.ts';
import type { Progress } from '../../terminal/progress.ts';

/** A line of the source; `problem` says why it was not sent, null: it was sent. */
type SourceLine = { readonly line: number; readonly problem: string | null };
type ImportProblem = { readonly line: number; readonly id?: string; readonly detail: string };

// A file that is imported twice, or a full disk, causes the same problem in every line. People are
// told how many more there were; JSON has the first ones, and the count in `skipped`.
const ALIKE_SHOWN_MAX = 20;
const ALIKE_DETAILS_MAX = 1000;
const PROBLEMS_IN_JSON_MAX = 10_000;

export class ImportReport {
  /** Bytes of the source read so far, for the progress. */
  bytesRead = 0;
  /** Why the source could not be read to its end. */
  sourceError: AppError | null = null;
  readonly #output: Output;
  readonly #progress: Progress;
  readonly #isDryRun: boolean;
  /** The lines in order, without the settled ones that were removed. */
  #lines: SourceLine[] = [];
  /**
   * How many lines, from the start of `#lines`, are settled: their result has come, or their
   * problem is reported. Between calls the next line is one that was sent, or there is none.
   */
  #settledCount = 0;
  #problems: ImportProblem[] = [];
  #invalidCount = 0;
  #resultCount = 0;
  /** How often each problem without field errors has occurred. */
  readonly #timesByDetail = new Map<string, number>();
  #totals: JsonObject | null = null;

  constructor(output: Output, progress: Progress, isDryRun: boolean) {
    this.#output = output;
    this.#progress = progress;
    this.#isDryRun = isDryRun;
  }

  /** Notes a line whose record is about to be sent: it is known before its result comes. */
  addSentLine(line: number): void {
    this.#lines.push({ line, problem: null });
  }

  /** Notes that the line holds no valid record. */
  addInvalidLine(line: number, detail: string): void {
    this.#invalidCount += 1;
    this.#lines.push({ line, problem: detail });
    this.#reportInvalidLines();
  }

  /** Reports the remaining invalid lines: no more results come. To be called before `print`. */
  end(): void {
    for (const { line, problem } of this.#lines.slice(this.#settledCount)) {
      if (problem !== null) this.#report({ line, detail: problem });
    }
    this.#lines = [];
    this.#settledCount = 0;
  }

  /**
   * Adds one line of the response: the result of a record, or the totals at the end. Results come
   * in the order of the records, so this one is for the first line that is not settled.
   */
  addResult(result: JsonObject): void {
    if (result['status'] === undefined) {
      this.#totals = result;
      return;
    }
    this.#resultCount += 1;
    this.#progress.update(this.#resultCount, this.bytesRead);
    const line = this.#lines[this.#settledCount]?.line ?? 0;
    this.#settledCount += 1;
    if (result['status'] === 'skipped') this.#reportSkipped(line, result);
    this.#reportInvalidLines();
  }

  #reportSkipped(line: number, result: JsonObject): void {
    const errors = parseFieldErrors(result['errors']);
    const identity = typeof result['id'] === 'string' ? { id: result['id'] } : {};
    const detail = String(result['detail']);
    if (errors.length === 0 && this.#countAlike(detail) > ALIKE_SHOWN_MAX) return;
    const fieldDetails = errors.map((error) =>
      error.pointer === '' ? error.detail : `${error.pointer}: ${error.detail}`).join('; ');
    const message = 'id' in identity ? `${detail} (${identity.id})` : detail;
    this.#report({ line, ...identity, detail: fieldDetails === '' ? message : fieldDetails });
  }

  /**
   * Prints the totals, after `end`; resolves with the exit code. Throws when the import was cut
   * short.
   */
  async print(): Promise<number> {
    const totals = this.#totals;
    if (totals === null) throw new AppError('unavailable', 'the import was cut short');
    const skippedCount = Number(totals['skipped']) + this.#invalidCount;
    for (const [detail, times] of this.#timesByDetail) {
      if (times <= ALIKE_SHOWN_MAX || this.#output.isJson) continue;
      this.#output.note(`${times - ALIKE_SHOWN_MAX} more: ${detail}`
        + (detail === ID_EXISTS ? '; --replace replaces them' : ''));
    }
    const text = `imported ${String(totals['imported'])}, skipped ${skippedCount}`;
    const summary = this.#isDryRun ? `would have ${text} (dry run, nothing was changed)` : text;
    const result = { ...totals, skipped: skippedCount, problems: this.#problems };
    await this.#output.result(result, summary);
    if (typeof totals['error'] === 'string') {
      throw new AppError('unavailable', `the import stopped: ${totals['error']}`);
    }
    return skippedCount > 0 ? 1 : 0;
  }

  /**
   * Counts a problem; returns how often it has occurred. A detail that is new after
   * ALIKE_DETAILS_MAX others is not counted, to bound the memory: it is always the first, so shown.
   */
  #countAlike(detail: string): number {
    const times = (this.#timesByDetail.get(detail) ?? 0) + 1;
    const isCounted = times > 1 || this.#timesByDetail.size < ALIKE_DETAILS_MAX;
    if (isCounted) this.#timesByDetail.set(detail, times);
    return times;
  }

  #report(problem: ImportProblem): void {
    if (this.#output.isJson) {
      if (this.#problems.length < PROBLEMS_IN_JSON_MAX) this.#problems.push(problem);
      return;
    }
    this.#progress.end();
    this.#output.note(`line ${problem.line}: ${problem.detail}`);
  }

  /** Reports invalid lines up to the next line whose result has not arrived. */
  #reportInvalidLines(): void {
    for (;;) {
      const next = this.#lines[this.#settledCount];
      if (next === undefined || next.problem === null) break;
      this.#settledCount += 1;
      this.#report({ line: next.line, detail: next.problem });
    }
    // Removed in blocks: `shift` for each line would move all others each time.
    if (this.#settledCount > 4096) {
      this.#lines = this.#lines.slice(this.#settledCount);
      this.#settledCount = 0;
    }
  }
}

function parseFieldErrors(errors: unknown): FieldError[] {
  if (!Array.isArray(errors)) return [];
  return errors.flatMap((error) => isJsonObject(error)
    ? [{ pointer: String(error['pointer']), detail: String(error['detail']) }] : []);
}
