/** Work that nobody waits for: it is owned here until it ends, and its failures are logged. */
import type { Logger } from '../../base/log.ts';

export class BackgroundTasks {
  readonly #log: Logger;
  readonly #failure: string;
  readonly #onEnd: () => void;
  #count = 0;
  #onIdle: (() => void)[] = [];
  readonly #onDone = (): void => this.#end();
  readonly #onFailed = (thrown: unknown): void => {
    this.#log.error(this.#failure, { error: thrown });
    this.#end();
  };

  /** `failure` is logged with what was not expected; `onEnd` is called after each task. */
  constructor(log: Logger, failure: string, onEnd: () => void) {
    this.#log = log;
    this.#failure = failure;
    this.#onEnd = onEnd;
  }

  /** Tasks under way. */
  get count(): number {
    return this.#count;
  }

  run(work: Promise<void>): void {
    this.#count += 1;
    void work.then(this.#onDone, this.#onFailed);
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
