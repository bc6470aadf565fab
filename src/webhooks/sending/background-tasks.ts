/** Work that nobody waits for: it is owned here until it ends, and its failures are logged. */
import type { Logger } from '../../base/log.ts';

export class BackgroundTasks {
  readonly #log: Logger;
  readonly #onEnd: () => void;
  #count = 0;
  #onIdle: (() => void)[] = [];

  /** `onEnd` is called after each piece of work. */
  constructor(log: Logger, onEnd: () => void) {
    this.#log = log;
    this.#onEnd = onEnd;
  }

  /** Pieces of work under way. */
  get count(): number {
    return this.#count;
  }

  run(work: Promise<void>): void {
    this.#count += 1;
    void work.then(() => this.#end(), (thrown: unknown) => {
      this.#log.error('the delivery queue failed unexpectedly', { error: thrown });
      this.#end();
    });
  }

  /** Resolves when nothing is under way. */
  async idle(): Promise<void> {
    if (this.#count > 0) await new Promise<void>((resolve) => this.#onIdle.push(resolve));
  }

  #end(): void {
    this.#count -= 1;
    this.#onEnd();
    if (this.#count > 0) return;
    for (const resolve of this.#onIdle.splice(0)) resolve();
  }
}
