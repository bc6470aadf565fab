/**
 * Sends all answers of one turn of the event loop together, at its end.
 * Measured with 64 connections: writing them one by one as they arise costs 6 % more CPU for reads,
 * and 1.6 times the time for writers whose batch commits at once. Nothing waits for a timer.
 */
import type { ServerResponse } from 'node:http';
import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/log.ts';
import { cutStalledReader } from './stream.ts';

type ResponseBatcherOptions = {
  /** A reader that takes nothing for so long is cut. */
  readonly stallMs: number;
  readonly clock: Clock;
  readonly logger: Logger;
};

/** Name, value, name, … as `writeHead` takes them. */
export type HeaderList = (string | number)[];

type Answer = {
  readonly response: ServerResponse;
  readonly status: number;
  readonly headers: HeaderList;
  readonly body: Buffer | string | undefined;
};

export class ResponseBatcher {
  readonly #options: ResponseBatcherOptions;
  #answers: Answer[] = [];
  readonly #flush = (): void => {
    const answers = this.#answers;
    this.#answers = [];
    for (const answer of answers) this.#send(answer);
  };

  constructor(options: ResponseBatcherOptions) {
    this.#options = options;
  }

  /** `isUrgent`: is sent at once. */
  add(answer: Answer, isUrgent: boolean): void {
    if (isUrgent) this.#send(answer);
    else if (this.#answers.push(answer) === 1) setImmediate(this.#flush);
  }

  #send({ response, status, headers, body }: Answer): void {
    if (response.destroyed) return;
    try {
      response.writeHead(status, headers);
      response.end(body);
    } catch (thrown) {
      // A header that HTTP does not know. The other answers must not go down with it.
      this.#options.logger.error('an answer could not be sent', { error: thrown });
      response.destroy();
      return;
    }
    const { socket } = response;
    // What the kernel did not take at once waits for its reader.
    if (socket !== null && socket.writableLength > 0) {
      cutStalledReader(response, this.#options.stallMs, this.#options.clock);
    }
  }
}
