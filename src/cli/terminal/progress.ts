/** Shows count, rate and time left where stderr is a terminal, and nothing elsewhere. */
import type { Terminal } from './process-io.ts';

const REDRAW_MS = 100;
const CLEAR_LINE = '\r\u001b[K';

export class Progress {
  readonly #stream: Terminal;
  readonly #now: () => number;
  readonly #noun: string;
  readonly #total: number | null;
  readonly #startedAt: number;
  #drawnAt = -Infinity;
  #isDrawn = false;

  /** `total` has the unit of `done` in `update`; null when it is not known. */
  constructor(stream: Terminal, now: () => number, noun: string, total: number | null) {
    this.#stream = stream;
    this.#now = now;
    this.#noun = noun;
    this.#total = total;
    this.#startedAt = now();
  }

  /** `count` things so far; `done` is how much of the total is done (bytes of a file, say). */
  update(count: number, done: number): void {
    this.show(() => formatProgressLine({
      noun: this.#noun, total: this.#total, count, done,
      elapsedS: Math.max((this.#now() - this.#startedAt) / 1000, 0.001),
    }));
  }

  /** Shows a text of another kind. */
  show(format: () => string): void {
    const now = this.#now();
    if (this.#stream.isTTY !== true || now - this.#drawnAt < REDRAW_MS) return;
    this.#drawnAt = now;
    this.#isDrawn = true;
    this.#stream.write(CLEAR_LINE + format());
  }

  /** Clears the line. */
  end(): void {
    if (this.#isDrawn) this.#stream.write(CLEAR_LINE);
    this.#isDrawn = false;
  }
}

/** `12,000 books, 8,000 a second, 0:42 left`. */
function formatProgressLine(state: {
  readonly noun: string; readonly total: number | null;
  readonly count: number; readonly done: number; readonly elapsedS: number;
}): string {
  const { noun, total, count, done, elapsedS } = state;
  const rate = Math.round(count / elapsedS);
  const text = `${formatGrouped(count)} ${noun}, ${formatGrouped(rate)} a second`;
  if (total === null || done <= 0 || total <= 0) return text;
  const leftS = Math.ceil(elapsedS * Math.max(total - done, 0) / done);
  return `${text}, ${Math.floor(leftS / 60)}:${String(leftS % 60).padStart(2, '0')} left`;
}

function formatGrouped(value: number): string {
  return value.toLocaleString('en-US');
}
