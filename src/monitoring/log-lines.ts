/**
 * The last lines of the log, in memory, to be looked at without a way to the log itself. They are
 * kept as they were written: redacted already. Lost when the process ends.
 */
import type { LogLevel, LogLine } from '../base/log.ts';

/** Lines kept. */
const LINES_MAX = 1000;
/** A line with longer fields is kept without them, a longer message is cut. */
const FIELDS_LENGTH_MAX = 4096;
const MESSAGE_LENGTH_MAX = 1024;

type NumberedLine = LogLine & {
  /** Rises by one with each line; the first is the time of it, so that they rise over restarts. */
  readonly number: number;
};

type LineFilter = {
  /** This level and graver ones. */
  readonly level: LogLevel | null;
  readonly requestId: string | null;
  /** Lines after that number. */
  readonly after: number;
};

const SEVERITY: Readonly<Record<LogLevel, number>> = { debug: 0, info: 1, warning: 2, error: 3 };

export class LogLines {
  /** A ring: line `number` stands at `number % LINES_MAX`. */
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
