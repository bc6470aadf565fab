/** Owns promises that nobody awaits: it counts them until they settle, and logs their failures. */
import type { Logger } from '../../base/log.ts';

export class BackgroundTasks {
  readonly #log: Logger;
  readonly #failureMessage: string;
  readonly #onEnd: () => void;
  #count = 0;
  #onIdle: (() => void)[] = [];
  readonly #onDone = (): void => this.#end();
  readonly #onFailed = (thrown: unknown): void => {
    this.#log.error(this.#failureMessage, { error: thrown });
    this.#end();
  };

  /** `failureMessage` is logged with an unexpected error; `onEnd` is called after each task. */
  constructor(log: Logger, failureMessage: string, onEnd: () => void) {
    this.#log = log;
    this.#failureMessage = failureMessage;
    this.#onEnd = onEnd;
  }

  /** The number of tasks under way. */
  get count(): number {
    return this.#count;
  }

  run(task: Promise<void>): void {
    this.#count += 1;
    void task.then(this.#onDone, this.#onFailed);
  }

  /** Resolves when nothing is under way. */
  async whenIdle(): Promise<void> {
    if (this.#count > 0) await new Promise<void>((resolve) => this.#onIdle.push(resolve));
  }

  #end(): void {
    this.#count -= 1;
    this.#onEnd();
    if (this.#count > 0) return;
    for (const resolve of this.#onIdle.splice(0)) resolve();
  }
}
