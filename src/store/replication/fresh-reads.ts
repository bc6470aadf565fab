/**
 * Brings the image up to what is committed everywhere: a barrier that begins after it was asked
 * for, and all that is in the log up to it. Those who ask while one is under way share the next.
 */
import { AppError, messageOf } from '../../base/errors.ts';
import type { EngineLink } from './engine-link.ts';
import type { ReplicatedImage } from './replicated-image.ts';

type Round = { readonly promise: Promise<void>; isBegun: boolean };

export class FreshReads {
  readonly #image: ReplicatedImage;
  readonly #link: EngineLink;
  readonly #onBehind: () => void;
  #round: Round | null = null;
  #connected: (() => void)[] = [];
  /** Ends those who wait. */
  readonly #fail = new Set<(error: AppError) => void>();

  constructor(image: ReplicatedImage, link: EngineLink, onBehind: () => void) {
    this.#image = image;
    this.#link = link;
    this.#onBehind = onBehind;
  }

  /** Resolves when all that was committed before the call is applied; rejects with a refusal. */
  catchUp(): Promise<void> {
    const current = this.#round;
    if (current !== null && !current.isBegun) return current.promise;
    const before = current?.promise.catch(() => {}) ?? Promise.resolve();
    const round: Round = { isBegun: false, promise: before.then(() => this.#run(round)) };
    this.#round = round;
    return round.promise;
  }

  /** What is waited for is not going to come. */
  failAll(error: AppError): void {
    for (const fail of [...this.#fail]) fail(error);
  }

  /** There is a session again. */
  goOn(): void {
    for (const goOn of this.#connected.splice(0)) goOn();
  }

  async #run(round: Round): Promise<void> {
    round.isBegun = true;
    const sequence = await this.#barrier();
    if (this.#image.position.sequence >= sequence) return;
    this.#onBehind();
    await this.#until((tell) => this.#image.onReached(sequence, tell));
  }

  async #barrier(): Promise<number> {
    while (true) {
      const { session } = this.#link;
      if (session === null) {
        await this.#until((tell) => {
          this.#connected.push(tell);
          return () => {};
        });
        continue;
      }
      try {
        return (await this.#link.barrier(session))?.sequence ?? 0;
      } catch {
        // Whoever needs the session next finds out the same; with another one it goes on.
        this.#link.drop(session);
      }
    }
  }

  /** Waits for what `wait` tells of, or until all fail. `wait` returns what ends it. */
  #until(wait: (tell: () => void) => () => void): Promise<void> {
    return new Promise((resolve, reject) => {
      let leave = (): void => {};
      const fail = (error: AppError): void => {
        this.#fail.delete(fail);
        leave();
        reject(error);
      };
      this.#fail.add(fail);
      leave = wait(() => {
        this.#fail.delete(fail);
        resolve();
      });
    });
  }
}

export function unreachable(cause: unknown): AppError {
  return new AppError('unavailable', 'the engine that keeps the log cannot be reached: '
    + messageOf(cause), { retryAfterS: 5 }, cause);
}
