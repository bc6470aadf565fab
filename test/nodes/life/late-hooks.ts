/**
 * Webhooks that miss what others hear, and are sent it by backfills which begin while things break.
 * One is off now and then, all the time; others are made when something begins to break.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Random } from '../../support/random.ts';
import { until } from '../../support/until.ts';
import type { LateHook } from '../checker/history.ts';
import { nowMs, pickShelf } from './shelf.ts';
import type { Answer, Failure, Shelf } from './shelf.ts';

type LateHookOptions = {
  readonly shelves: readonly Shelf[];
  readonly random: Random;
  /** Members of a webhook that is told of all writes, at that path of the receiver. */
  readonly describe: (path: string) => Readonly<Record<string, unknown>>;
};

const PATH = '/api/outgoing-webhooks';
/** The webhook that is off now and then. */
export const PATCHY = '/patchy';
/** Each is told of everything, so they may not be many. */
const LATE_MAX = 3;
const PAUSE_MS = 1000;
const AGAIN_MS = 50;
const WHOLE_MS_MAX = 120_000;

export class LateHooks {
  readonly late: LateHook[] = [];
  /** Backfills that were acknowledged. */
  backfills = 0;
  /** Answers that no fault excuses. */
  readonly surprises: string[] = [];
  readonly #options: LateHookOptions;
  /** Before anything was written, whatever the nodes' clocks say. */
  readonly #since = new Date(Date.now() - 86_400_000).toISOString();
  readonly #making: Promise<void>[] = [];
  #made = 0;
  #isOver = false;
  #isClosed = false;
  #toggling: Promise<void> = Promise.resolve();

  constructor(options: LateHookOptions) {
    this.#options = options;
  }

  /** Once the webhook that is off now and then is made. */
  begin(): void {
    this.#toggling = this.#toggle();
  }

  /** Makes a webhook that has missed all until now, and backfills it. Does not wait for that. */
  makeLate(): void {
    if (this.#made === LATE_MAX || this.#isOver) return;
    const name = `late${this.#made}`;
    this.#made += 1;
    const making = this.#makeLate(name);
    this.#making.push(making);
    // `end` reports what fails.
    making.catch(() => {});
  }

  /** Ends it as it is. */
  close(): void {
    this.#isOver = true;
    this.#isClosed = true;
  }

  /** Resolves once all webhooks are on, and all backfills have come to their end. */
  async end(): Promise<void> {
    this.#isOver = true;
    await Promise.all([this.#toggling, ...this.#making]);
    await this.#repeat('the webhook is on', 'PATCH', `${PATH}/${PATCHY.slice(1)}`,
      { enabled: true }, [200]);
    await this.#backfill(PATCHY.slice(1), [202]);
    for (const shelf of this.#options.shelves) {
      await until(`no job runs as ${shelf.name} sees it`, async () => {
        const answer = await shelf.ask('GET', '/api/jobs');
        return typeof answer !== 'string' && answer.status === 200
          && !answer.body.includes('"status":"running"');
      }, { msMax: WHOLE_MS_MAX });
    }
  }

  async #makeLate(name: string): Promise<void> {
    const { describe } = this.#options;
    const beginMs = nowMs();
    // The second answer to one that was lost is that the name is taken.
    await this.#repeat(`${name} is made`, 'POST', PATH,
      { ...describe(`/${name}`), name, order: { key: 'payload.data.book.id' } }, [201, 409]);
    // One that was lost may run.
    await this.#backfill(name, [202, 409]);
    this.late.push({ hook: `/${name}`, beginMs, endMs: nowMs() });
  }

  /** Off, on, and told of what it missed, at any node and whatever the answers are. */
  async #toggle(): Promise<void> {
    const { random } = this.#options;
    const path = `${PATH}/${PATCHY.slice(1)}`;
    while (!this.#isOver) {
      await delay(random() * PAUSE_MS);
      await this.#ask('PATCH', path, { enabled: false });
      await delay(random() * PAUSE_MS);
      await this.#ask('PATCH', path, { enabled: true });
      const answer = await this.#ask('POST', `${path}/backfill`, { since: this.#since });
      if (typeof answer !== 'string' && answer.status === 202) this.backfills += 1;
    }
  }

  async #backfill(name: string, statuses: readonly number[]): Promise<void> {
    await this.#repeat(`${name} is backfilled`, 'POST', `${PATH}/${name}/backfill`,
      { since: this.#since }, statuses);
    this.backfills += 1;
  }

  /** At any node, until one gives one of these answers. */
  async #repeat(
    what: string, method: string, path: string, body: unknown, statuses: readonly number[],
  ): Promise<void> {
    await until(what, async () => {
      if (this.#isClosed) return true;
      const answer = await this.#ask(method, path, body);
      if (typeof answer !== 'string' && statuses.includes(answer.status)) return true;
      await delay(AGAIN_MS);
      return false;
    }, { msMax: WHOLE_MS_MAX });
  }

  async #ask(method: string, path: string, body: unknown): Promise<Answer | Failure> {
    const { shelves, random } = this.#options;
    const shelf = pickShelf(shelves, random);
    if (shelf === null) return 'none';
    const answer = await shelf.ask(method, path, body);
    if (typeof answer !== 'string' && ![200, 201, 202, 409, 503].includes(answer.status)) {
      this.surprises.push(`${method} ${path} at ${shelf.name}: ${answer.status} ${answer.body}`);
    }
    return answer;
  }
}
