/**
 * A hint that others have written: etcd's watch on one key, from now on. Nothing relies on it, so
 * a watch that ends is begun anew with no regard to what lay between.
 */
import type { ClientRequest } from 'node:http';
import type { Timer } from '../../../base/clock.ts';
import type { Gateway } from './etcd-gateway.ts';

const PAUSE_MS = 250;
// Every node writes each 5 s, so that a silent connection is a dead one.
const SILENCE_MS_MAX = 30_000;

/** Calls `wake` for each event on the key. Returns what ends it. */
export function watchKey(gateway: Gateway, key: string, wake: () => void): () => void {
  let isEnded = false;
  let request: ClientRequest | null = null;
  let pause: Timer | null = null;
  const begin = (): void => {
    if (isEnded) return;
    const watchRequest = gateway.open('/v3/watch', (response) => {
      // The first says that it was created; what came before it is asked for once more.
      response.on('data', wake);
      // Told as the close of the request too.
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
