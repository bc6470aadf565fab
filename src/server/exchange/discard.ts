/**
 * Closing a connection whose peer is still sending. Closed at once, the kernel would answer what
 * is under way with a reset, and the peer might lose the answer it has not read yet. So what it
 * sends is thrown away for a while: up to 64 KiB or one second.
 */
import type { Readable } from 'node:stream';
import type { Clock } from '../../base/clock.ts';

const BYTES_MAX = 65_536;
const DURATION_MS_MAX = 1_000;

/** Discards from `source` until it ends or a limit is reached, then calls `run` once. */
export function discardThen(source: Readable, clock: Clock, run: () => void): void {
  let discarded = 0;
  const finish = (): void => {
    timer.cancel();
    source.off('data', onData).off('end', finish).off('close', finish);
    // Paused, so that not even the rest is read.
    source.pause();
    run();
  };
  const onData = (chunk: Buffer): void => {
    discarded += chunk.length;
    if (discarded > BYTES_MAX) finish();
  };
  const timer = clock.startTimer(DURATION_MS_MAX, finish);
  source.on('error', ignore).on('data', onData).on('end', finish).on('close', finish);
  source.resume();
  if (source.destroyed) finish();
}

function ignore(): void {}
