/** Waiting for another process, bounded. */
import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';

const LOOKS_MAX = 1500;
const PAUSE_MS = 20;

/** Resolves once `isSo`; fails after half a minute, naming `what`, and `seen`. */
export async function until(
  what: string, isSo: () => boolean | Promise<boolean>, seen: () => string = () => '',
): Promise<void> {
  for (let look = 0; look < LOOKS_MAX; look += 1) {
    if (await isSo()) return;
    await delay(PAUSE_MS);
  }
  assert.fail(`waited in vain until ${what}; seen: ${seen()}`);
}
