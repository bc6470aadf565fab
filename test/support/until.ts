/** Waiting for another process, bounded. */
import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';

const WAIT_MS_MAX = 60_000;
const PAUSE_MS = 20;
// The runner of Node 20 never ends when a test that it ends by force has more to say than it reads.
const SEEN_LENGTH_MAX = 4000;

/** Resolves once `isSo`; fails after a minute, naming `what`, and the end of `seen`. */
export async function until(
  what: string, isSo: () => boolean | Promise<boolean>, seen: () => string = () => '',
): Promise<void> {
  const endMs = performance.now() + WAIT_MS_MAX;
  while (performance.now() < endMs) {
    if (await isSo()) return;
    await delay(PAUSE_MS);
  }
  assert.fail(`waited in vain until ${what}; seen: ${seen().slice(-SEEN_LENGTH_MAX)}`);
}
