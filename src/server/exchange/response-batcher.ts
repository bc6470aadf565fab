/**
 * Sends all answers of one turn of the event loop together, at its end.
 * Measured with 64 connections: writing them one by one as they arise costs 6 % more CPU for reads,
 * and 1.6 times the time for writers whose batch commits at once. Nothing waits for a timer.
 */
import type { ServerResponse } from 'node:http';
import { formatHttpDate, type Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/log.ts';
import { parseHeaderText } from './header-text.ts';
import { SingleWriteResponse, type WholeResponse } from './single-write-response.ts';
import { cutStalledReader } from './response-stream.ts';

type ResponseBatcherOptions = {
  /** A reader that takes nothing for so long is cut. */
  readonly stallMs: number;
  readonly clock: Clock;
  readonly logger: Logger;
};

type BatchedResponse = WholeResponse & { readonly response: ServerResponse };

export class ResponseBatcher {
  readonly #options: ResponseBatcherOptions;
  #batch: BatchedResponse[] = [];
  readonly #flush = (): void => {
    const batch = this.#batch;
    this.#batch = [];
    const date = formatHttpDate(this.#options.clock.now());
    for (const batched of batch) this.#send(batched, date);
  };

  constructor(options: ResponseBatcherOptions) {
    this.#options = options;
  }

  /** `isUrgent`: is sent at once. */
  add(batched: BatchedResponse, isUrgent: boolean): void {
    if (isUrgent) this.#send(batched, null);
    else if (this.#batch.push(batched) === 1) setImmediate(this.#flush);
  }

  /**
   * In the midst of a turn, without a date, it goes Node's way, which keeps the next request for
   * another turn.
   */
  #send(batched: BatchedResponse, date: string | null): void {
    const { response, status, headerText, body } = batched;
    if (response.destroyed) return;
    try {
      const isSent = date !== null && response instanceof SingleWriteResponse
        && response.sendWhole(batched, date);
      if (!isSent) response.writeHead(status, parseHeaderText(headerText)).end(body);
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
