/**
 * Watches one key of etcd for a hint that others have written. Nothing relies on the hint, so a
 * watch that ends is begun again without asking for the changes between.
 */
import type { ClientRequest } from 'node:http';
import type { Timer } from '../../../base/clock.ts';
import type { Gateway } from './etcd-gateway.ts';

const PAUSE_MS = 250;
// Every node writes each 5 s, so a connection that is silent for longer is dead.
const SILENCE_MS_MAX = 30_000;

/** Calls `wake` for each event on the key. Returns a function that ends the watch. */
export function watchKey(gateway: Gateway, key: string, wake: () => void): () => void {
  let isEnded = false;
  let request: ClientRequest | null = null;
  let pause: Timer | null = null;
  const begin = (): void => {
    if (isEnded) return;
    const watchRequest = gateway.open('/v3/watch', (response) => {
      // The first message says that the watch was created: `wake` reads any earlier entries.
      response.on('data', wake);
      // `close` follows both, and begins the next watch.
      response.on('error', () => watchRequest.destroy());
      response.on('end', () => watchRequest.destroy());
    });
    request = watchRequest;
    watchRequest.setTimeout(SILENCE_MS_MAX, () => watchRequest.destroy());
    watchRequest.on('error', () => watchRequest.destroy());
    watchRequest.on('close', () => {
      if (!isEnded) pause = gateway.clock.startTimer(PAUSE_MS, begin);
    });
    watchRequest.end(JSON.stringify({ create_request: { key } }));
  };
  begin();
  return () => {
    isEnded = true;
    pause?.cancel();
    request?.destroy();
  };
}
