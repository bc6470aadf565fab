/**
 * Has an engine commit something of the test's own again and again, past all proxies: while that is
 * not done, the engine is not there for any node. It knows nothing of why.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { Outages } from './outages.ts';
import type { Outage } from './outages.ts';

const PAUSE_MS = 50;
/** A commit that takes so long is as good as none. */
const LATE_TICKS = 5;
const TICK_MS = 50;

export class EngineProbe {
  readonly #commit: () => Promise<boolean>;
  readonly #outages = new Outages();
  readonly #ticker: NodeJS.Timeout;
  readonly #running: Promise<void>;
  /** Since the commit was begun, of those in which this process ran: it starts programs too. */
  #ticks = 0;
  #beganMs = 0;
  #isClosed = false;

  /** `commit` resolves with whether a quorum has confirmed it, within seconds. */
  constructor(commit: () => Promise<boolean>) {
    this.#commit = commit;
    this.#ticker = setInterval(() => this.#tick(), TICK_MS);
    this.#running = this.#run();
  }

  get outages(): readonly Outage[] {
    return this.#outages.spans;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#ticker);
    await this.#running;
  }

  async #run(): Promise<void> {
    while (!this.#isClosed) {
      this.#ticks = 0;
      this.#beganMs = performance.now();
      if (await this.#commit().catch(() => false)) this.#outages.end();
      else this.#outages.begin(this.#beganMs);
      await delay(PAUSE_MS);
    }
  }

  #tick(): void {
    this.#ticks += 1;
    if (this.#ticks === LATE_TICKS) this.#outages.begin(this.#beganMs);
  }
}
