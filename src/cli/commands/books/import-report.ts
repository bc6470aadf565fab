/**
 * What an import prints: each bad record with its line, in the order of the lines, as soon as the
 * results of the lines before it are known; and a count at the end.
 */
import { AppError } from '../../../base/errors.ts';
import type { FieldError } from '../../../base/errors.ts';
import { isJsonObject } from '../../../base/fields.ts';
import type { JsonObject } from '../../../base/schema.ts';
import { ID_EXISTS } from '../../../books/transfer/importer.ts';
import type { Output } from '../../terminal/output.ts';
import type { Progress } from '../../terminal/progress.ts';

/** A line of the source; `problem` says why it was not sent, null where it was. */
type Expected = { readonly line: number; readonly problem: string | null };
type Problem = { readonly line: number; readonly id?: string; readonly detail: string };

// A file that is imported twice, or a full disk, would print a hundred thousand equal problems.
const ALIKE_SHOWN_MAX = 20;
const ALIKE_KINDS_MAX = 1000;
const PROBLEMS_IN_JSON_MAX = 10_000;

export class ImportReport {
  /** Read of the source so far, for the progress. */
  bytesRead = 0;
  /** Why the source could not be read to its end. */
  sourceError: AppError | null = null;
  readonly #output: Output;
  readonly #progress: Progress;
  readonly #isDryRun: boolean;
  // The lines not reported yet, in order; the first is one whose result is still to come.
  #expected: Expected[] = [];
  #taken = 0;
  #problems: Problem[] = [];
  #refused = 0;
  #seen = 0;
  /** How often each problem without field errors has come. */
  readonly #alike = new Map<string, number>();
  #count: JsonObject | null = null;

  constructor(output: Output, progress: Progress, isDryRun: boolean) {
    this.#output = output;
    this.#progress = progress;
    this.#isDryRun = isDryRun;
  }

  /** The record on this line has been sent. */
  expect(line: number): void {
    this.#expected.push({ line, problem: null });
  }

  /** The line holds no record. */
  refuse(line: number, detail: string): void {
    this.#refused += 1;
    this.#expected.push({ line, problem: detail });
    this.#sayRefused();
  }

  /** Reports what is left when no more results come. */
  end(): void {
    for (const { line, problem } of this.#expected.slice(this.#taken)) {
      if (problem !== null) this.#say({ line, detail: problem });
    }
    this.#expected = [];
    this.#taken = 0;
  }

  /** One line of the answer: a record's result, or the count at the end. */
  add(result: JsonObject): void {
    if (result['status'] === undefined) {
      this.#count = result;
      return;
    }
    this.#seen += 1;
    this.#progress.update(this.#seen, this.bytesRead);
    const line = this.#expected[this.#taken]?.line ?? 0;
    this.#taken += 1;
    if (result['status'] === 'skipped') this.#saySkipped(line, result);
    this.#sayRefused();
  }

  #saySkipped(line: number, result: JsonObject): void {
    const errors = fieldErrorsOf(result['errors']);
    const id = typeof result['id'] === 'string' ? { id: result['id'] } : {};
    const kind = String(result['detail']);
    if (errors.length === 0 && this.#countAlike(kind) > ALIKE_SHOWN_MAX) return;
    const shown = errors.map(({ pointer, detail }) =>
      pointer === '' ? detail : `${pointer}: ${detail}`).join('; ');
    const said = 'id' in id ? `${kind} (${id.id})` : kind;
    this.#say({ line, ...id, detail: shown === '' ? said : shown });
  }

  /** Prints the count; the exit code. Throws when the import did not reach its end. */
  async print(): Promise<number> {
    const count = this.#count;
    if (count === null) throw new AppError('unavailable', 'the import was cut short');
    const skipped = Number(count['skipped']) + this.#refused;
    for (const [kind, times] of this.#alike) {
      if (times <= ALIKE_SHOWN_MAX || this.#output.isJson) continue;
      this.#output.note(`${times - ALIKE_SHOWN_MAX} more: ${kind}`
        + (kind === ID_EXISTS ? '; --replace replaces them' : ''));
    }
    const text = `imported ${String(count['imported'])}, skipped ${skipped}`;
    const shown = this.#isDryRun ? `would have ${text} (dry run, nothing was changed)` : text;
    await this.#output.result({ ...count, skipped, problems: this.#problems }, shown);
    if (typeof count['error'] === 'string') {
      throw new AppError('unavailable', `the import stopped: ${count['error']}`);
    }
    return skipped > 0 ? 1 : 0;
  }

  #countAlike(kind: string): number {
    const times = (this.#alike.get(kind) ?? 0) + 1;
    if (times > 1 || this.#alike.size < ALIKE_KINDS_MAX) this.#alike.set(kind, times);
    return times;
  }

  #say(problem: Problem): void {
    if (this.#output.isJson) {
      if (this.#problems.length < PROBLEMS_IN_JSON_MAX) this.#problems.push(problem);
      return;
    }
    this.#progress.end();
    this.#output.note(`line ${problem.line}: ${problem.detail}`);
  }

  /** Reports refused lines up to the next one whose result is still to come. */
  #sayRefused(): void {
    for (;;) {
      const next = this.#expected[this.#taken];
      if (next === undefined || next.problem === null) break;
      this.#taken += 1;
      this.#say({ line: next.line, detail: next.problem });
    }
    // Removed in blocks: a shift for each line would move the rest each time.
    if (this.#taken > 4096) {
      this.#expected = this.#expected.slice(this.#taken);
      this.#taken = 0;
    }
  }
}

function fieldErrorsOf(errors: unknown): FieldError[] {
  if (!Array.isArray(errors)) return [];
  return errors.flatMap((error) => isJsonObject(error)
    ? [{ pointer: String(error['pointer']), detail: String(error['detail']) }] : []);
}
