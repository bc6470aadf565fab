/** Clients that emit events, at once or to begin later, and cancel some: emissions of a history. */
import { setTimeout as delay } from 'node:timers/promises';
import { below } from '../../support/random.ts';
import type { Random } from '../../support/random.ts';
import type { Cancellation, Emission } from '../checker/history.ts';
import { nowMs, outcomeOf, pickShelf } from './shelf.ts';
import type { Answer, Failure, Shelf } from './shelf.ts';

type EmitterOptions = {
  readonly shelves: readonly Shelf[];
  readonly random: Random;
  readonly emitters: number;
};

/** To this all webhooks listen that are told of emissions. */
export const EMITTED_NAME = 'test.emitted';
const DELAY_MS_MAX = 3000;
const KEYS = 5;
const PAUSE_MS = 400;

export class Emitters {
  readonly emissions: Emission[] = [];
  /** Answers that no fault excuses. */
  readonly surprises: string[] = [];
  /** Whether the wall clock of a node is off: then it is left to that node what time it is. */
  isClockOff = false;
  readonly #options: EmitterOptions;
  #isOver = false;
  #clients: Promise<unknown> = Promise.resolve();

  constructor(options: EmitterOptions) {
    this.#options = options;
  }

  begin(): void {
    this.#clients = Promise.all(
      Array.from({ length: this.#options.emitters }, () => this.#loop()));
  }

  /** Resolves once the last answer has come, or its time is over. */
  async end(): Promise<void> {
    this.#isOver = true;
    await this.#clients;
  }

  /** Tokens of the events that must be told. */
  get dueTokens(): readonly string[] {
    return this.emissions
      .filter(({ outcome, cancellation }) => outcome === 'ok'
        && (cancellation === null || cancellation.outcome === 'refused'))
      .map(({ token }) => token);
  }

  async #loop(): Promise<void> {
    const { shelves, random } = this.#options;
    while (!this.#isOver) {
      await delay(random() * PAUSE_MS);
      const shelf = pickShelf(shelves, random);
      if (shelf !== null) await this.#emit(shelf);
    }
  }

  async #emit(shelf: Shelf): Promise<void> {
    const { random } = this.#options;
    const token = `e${this.emissions.length + 1}`;
    const key = `k${below(random, KEYS)}`;
    const isDelayed = below(random, 4) > 0;
    const delayMs = isDelayed ? Math.ceil(random() * DELAY_MS_MAX) : 0;
    const delaySeconds = this.isClockOff || below(random, 3) === 0
      ? Math.ceil(delayMs / 1000) : null;
    const beginMs = nowMs();
    const when = delaySeconds !== null ? { delaySeconds }
      : { deliverAt: new Date(Date.now() + delayMs).toISOString() };
    const index = this.emissions.length;
    const dueFromMs = beginMs + (delaySeconds === null ? delayMs - 1 : delaySeconds * 1000);
    const base: Emission = {
      node: shelf.name, beginMs, endMs: Infinity, outcome: 'unknown', token, key, isDelayed,
      dueFromMs, dueToMs: Infinity, cancellation: null,
    };
    this.emissions.push(base);
    const answer = await shelf.ask('POST', '/api/events',
      { name: EMITTED_NAME, key, payload: { token }, ...isDelayed ? when : {} });
    const outcome = this.#judge(answer, 'emit');
    if (outcome === 'unknown') return;
    const endMs = nowMs();
    const dueToMs = delaySeconds === null
      ? Math.max(endMs, dueFromMs + 1) : endMs + delaySeconds * 1000;
    this.emissions[index] = { ...base, endMs, outcome, dueToMs };
    const id = outcome === 'ok' && typeof answer !== 'string' ? idIn(answer) : null;
    if (id === null || !isDelayed || below(random, 3) > 0) return;
    await delay(random() * (dueToMs - endMs) * 1.2);
    const cancellation = await this.#cancel(id);
    this.emissions[index] = { ...base, endMs, outcome, dueToMs, cancellation };
  }

  async #cancel(id: string): Promise<Cancellation | null> {
    const { shelves, random } = this.#options;
    const shelf = pickShelf(shelves, random);
    if (shelf === null) return null;
    const beginMs = nowMs();
    const answer = await shelf.ask('DELETE', `/api/events/${id}`);
    const outcome = this.#judge(answer, 'cancel');
    if (outcome === 'unknown') return { beginMs, endMs: Infinity, outcome, refusal: null };
    const status = typeof answer === 'string' ? 503 : answer.status;
    const refusal = status === 409 ? 'begun' : status === 404 ? 'missing' : 'unavailable';
    return { beginMs, endMs: nowMs(), outcome, refusal: outcome === 'ok' ? null : refusal };
  }

  /** Finds the outcome, and notes a refusal that no fault excuses. */
  #judge(answer: Answer | Failure, what: string): Emission['outcome'] {
    const outcome = outcomeOf(answer);
    if (outcome === 'refused' && typeof answer !== 'string'
      && ![503, 409, 404].includes(answer.status)) {
      this.surprises.push(`${what}: ${answer.status} ${answer.body}`);
    }
    return outcome;
  }
}

function idIn({ body }: Answer): string | null {
  const { event } = JSON.parse(body);
  return typeof event === 'string' ? event : null;
}
