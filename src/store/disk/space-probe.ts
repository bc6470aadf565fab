/**
 * The space probe finds out when a full disk has room again: every second it tries to write and
 * sync 256 KiB to a file of its own. It does not try the journal: its last block may have room for
 * a small write where no batch would fit.
 */
import { join } from 'node:path';
import type { Clock, Timer } from '../../base/clock.ts';
import { writeFully } from './read-write.ts';
import type { Files } from './files.ts';

const PERIOD_MS = 1000;
const PROBE_BYTES = 256 * 1024;

export class SpaceProbe {
  readonly #path: string;
  readonly #files: Files;
  readonly #clock: Clock;
  readonly #onSpace: () => void;
  #timer: Timer | null = null;
  #attempt: Promise<void> = Promise.resolve();
  #isStopped = false;

  constructor(directory: string, files: Files, clock: Clock, onSpace: () => void) {
    this.#path = join(directory, 'probe.tmp');
    this.#files = files;
    this.#clock = clock;
    this.#onSpace = onSpace;
  }

  /** Tries every second until there is room. */
  start(): void {
    if (this.#timer !== null || this.#isStopped) return;
    this.#timer = this.#clock.startTimer(PERIOD_MS, () => {
      this.#attempt = this.#runAttempt();
    });
  }

  /** Resolves when no attempt is running. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#timer?.cancel();
    await this.#attempt;
  }

  async #runAttempt(): Promise<void> {
    const hasSpace = await this.#probe();
    this.#timer = null;
    if (hasSpace) this.#onSpace();
    else this.start();
  }

  async #probe(): Promise<boolean> {
    try {
      if (this.#files.existsSync(this.#path)) this.#files.unlinkSync(this.#path);
      const descriptor = this.#files.openSync(this.#path, 'create');
      try {
        await writeFully(this.#files, descriptor, Buffer.alloc(PROBE_BYTES, ' '), 0);
        await this.#files.datasync(descriptor);
      } finally {
        this.#files.closeSync(descriptor);
        this.#files.unlinkSync(this.#path);
      }
      return true;
    } catch {
      return false;
    }
  }
}
