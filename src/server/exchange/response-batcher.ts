/**
 * Sends all answers of one turn of the event loop together, at its end.
 * Measured with 64 connections: writing them one by one as they arise costs 6 % more CPU for reads,
 * and 1.6 times the time for writers whose batch commits at once. Nothing waits for a timer.
 */
import type { ServerResponse } from 'node:http';
import { httpDate, type Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/log.ts';
import { headerList } from './header-lines.ts';
import { OwnResponse, type WholeAnswer } from './own-response.ts';
import { cutStalledReader } from './stream.ts';

type ResponseBatcherOptions = {
  /** A reader that takes nothing for so long is cut. */
  readonly stallMs: number;
  readonly clock: Clock;
  readonly logger: Logger;
};

type Answer = WholeAnswer & { readonly response: ServerResponse };

export class ResponseBatcher {
  readonly #options: ResponseBatcherOptions;
  #answers: Answer[] = [];
  readonly #flush = (): void => {
    const answers = this.#answers;
    this.#answers = [];
    const date = httpDate(this.#options.clock.now());
    for (const answer of answers) this.#send(answer, date);
  };

  constructor(options: ResponseBatcherOptions) {
    this.#options = options;
  }

  /** `isUrgent`: is sent at once. */
  add(answer: Answer, isUrgent: boolean): void {
    if (isUrgent) this.#send(answer, null);
    else if (this.#answers.push(answer) === 1) setImmediate(this.#flush);
  }

  /**
   * In the midst of a turn, without a date, it goes Node's way, which keeps the next request for
   * another turn.
   */
  #send(answer: Answer, date: string | null): void {
    const { response, status, lines, body } = answer;
    if (response.destroyed) return;
    try {
      const isSent = date !== null && response instanceof OwnResponse
        && response.sendWhole(answer, date);
      if (!isSent) response.writeHead(status, headerList(lines)).end(body);
    } catch (thrown) {
      // Another program's server may have changed it. Other answers must not go down with it.
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
