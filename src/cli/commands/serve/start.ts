/** `serve`, in this process, or under a memory cap in one that starts with it. */
import type { CommandContext } from '../context.ts';
import { loadQuietly } from '../../process/load-quietly.ts';

const MEGABYTES_MIN = 64;
const MEGABYTES_MAX = 1_048_576;
const MEBIBYTE = 1 << 20;

export async function serve(context: CommandContext): Promise<number> {
  const megabytes = context.given.integer('max-memory', MEGABYTES_MIN, MEGABYTES_MAX);
  if (megabytes !== undefined) {
    // Wrong settings are better told before a second process stands between; where it will run as
    // another user it tells them itself.
    if (!context.identity.isBorrowed) context.loadSettings();
    const { isCapped, runCapped } = await import('../../process/memory-cap.ts');
    if (!isCapped(megabytes)) return runCapped(megabytes, () => context.identity.enter());
  }
  const { runServer } = await loadQuietly(() => import('./server.ts'));
  return runServer(context, megabytes === undefined ? Infinity : megabytes * MEBIBYTE);
}
