/**
 * The last lines of the log, in memory, for people who have no access to the log itself. The lines
 * are as they were written, with secrets replaced. They are lost when the process ends.
 */
import type { LogLevel, LogLine } from '../base/log.ts';

const LINES_MAX = 1000;
/** A line with longer fields is stored without them; a longer message is cut. */
const FIELDS_LENGTH_MAX = 4096;
const MESSAGE_LENGTH_MAX = 1024;

export type NumberedLine = LogLine & {
  /**
   * Rises by one with each line. It begins with the time in milliseconds at which the process wrote
   * its first line, so that numbers also rise from one process to the next.
   */
  readonly number: number;
};

type LineFilter = {
  /** Lines of this level and more severe ones; null: all. */
  readonly level: LogLevel | null;
  readonly requestId: string | null;
  /** Lines with greater numbers. */
  readonly after: number;
};

const SEVERITY: Readonly<Record<LogLevel, number>> = { debug: 0, info: 1, warning: 2, error: 3 };

export class LogLines {
  /** A ring: line `number` is at the index `number % LINES_MAX`. */
  readonly #lines: NumberedLine[] = [];
  #lastNumber = 0;

  add(line: LogLine): void {
    if (this.#lastNumber === 0) this.#lastNumber = Date.parse(line.time);
    this.#lastNumber += 1;
    this.#lines[this.#lastNumber % LINES_MAX] = { number: this.#lastNumber, ...truncateLine(line) };
  }

  /** Oldest first. */
  read({ level, requestId, after }: LineFilter): NumberedLine[] {
    const first = Math.max(after + 1, this.#lastNumber - LINES_MAX + 1, 1);
    const matches: NumberedLine[] = [];
    for (let number = first; number <= this.#lastNumber; number += 1) {
      const line = this.#lines[number % LINES_MAX];
      if (line === undefined) continue;
      if (level !== null && SEVERITY[line.level] < SEVERITY[level]) continue;
      if (requestId !== null && line.fields['requestId'] !== requestId) continue;
      matches.push(line);
    }
    return matches;
  }
}

function truncateLine(line: LogLine): LogLine {
  const { length } = JSON.stringify(line.fields);
  return {
    ...line, message: line.message.slice(0, MESSAGE_LENGTH_MAX),
    fields: length <= FIELDS_LENGTH_MAX ? line.fields : { leftOut: `${length} characters` },
  };
}
