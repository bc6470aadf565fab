/**
 * Whole answers, sent together at the end of the turn of the event loop in which they were given.
 * Measured with 64 connections: writing them one by one as they arise costs 6 % more CPU for reads,
 * and 1.6 times the time for writers whose batch commits at once. Nothing waits for a timer.
 */
import type { ServerResponse } from 'node:http';
import type { Clock } from '../base/clock.ts';
import { cutStalledReader } from './stream.ts';

type Answer = {
  readonly response: ServerResponse;
  readonly status: number;
  /** Name, value, name, … as `writeHead` takes them. */
  readonly headers: (string | number)[];
  readonly body: Buffer | string | undefined;
};

export class Outbox {
  readonly #stallMs: number;
  readonly #clock: Clock;
  #answers: Answer[] = [];
  readonly #flush = (): void => {
    const answers = this.#answers;
    this.#answers = [];
    for (const answer of answers) sendNow(answer, this.#stallMs, this.#clock);
  };

  /** A reader that takes nothing for `stallMs` is cut. */
  constructor(stallMs: number, clock: Clock) {
    this.#stallMs = stallMs;
    this.#clock = clock;
  }

  add(answer: Answer): void {
    if (this.#answers.push(answer) === 1) setImmediate(this.#flush);
  }
}

function sendNow(answer: Answer, stallMs: number, clock: Clock): void {
  const { response } = answer;
  if (response.destroyed) return;
  response.writeHead(answer.status, answer.headers);
  response.end(answer.body);
  const { socket } = response;
  // What the kernel did not take at once waits for its reader.
  if (socket !== null && socket.writableLength > 0) cutStalledReader(response, stallMs, clock);
}
