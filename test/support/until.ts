/** Waiting, bounded, for what another process or a later turn of the event loop does. */
import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';

const WAIT_MS_MAX = 60_000;
const PAUSE_MS = 5;
// The runner of Node 20 never ends when a test that it ends by force has more to say than it reads.
const SEEN_LENGTH_MAX = 4000;

export type UntilOptions = {
  /** A failure shows the end of its result. */
  readonly seen?: () => string;
  readonly msMax?: number;
};

/** Resolves once `isSo`; fails after a minute, or `msMax`, and names `what` it waited for. */
export async function until(
  what: string, isSo: () => boolean | Promise<boolean>, options: UntilOptions = {},
): Promise<void> {
  const { seen = () => '', msMax = WAIT_MS_MAX } = options;
  const endMs = performance.now() + msMax;
  while (performance.now() < endMs) {
    if (await isSo()) return;
    await delay(PAUSE_MS);
  }
  assert.fail(`waited ${msMax} ms in vain until ${what}; seen: ${seen().slice(-SEEN_LENGTH_MAX)}`);
}
