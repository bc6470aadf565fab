/**
 * Opens the API client of a command: through the server that holds the data directory, else on an
 * app that is opened in this process.
 */
import { sleep } from '../../base/clock.ts';
import type { Clock } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';
import { createMemoryTarget } from '../../server/local/memory-target.ts';
import { COMMAND_WAIT_MS } from '../../store/lock/directory-lock.ts';
import type { LocalApp, DirectoryOwner } from './local-app.ts';
import { createApiClient } from './api-client.ts';
import type { ApiClient, ApiClientOptions } from './api-client.ts';
import { isListening, createSocketTarget } from './socket-target.ts';

type OpenApiClientOptions = Pick<ApiClientOptions, 'onWait'> & {
  readonly clock: Clock;
  findOwner(): DirectoryOwner | null;
  /** Throws `conflict` when another process holds the directory. */
  openLocalApp(): Promise<LocalApp>;
};

const POLL_MS = 50;

/** Throws `conflict` when another process, not a server, holds the directory for too long. */
export async function openApiClient(options: OpenApiClientOptions): Promise<ApiClient> {
  const { clock, openLocalApp } = options;
  const deadline = clock.monotonicMs() + COMMAND_WAIT_MS;
  for (;;) {
    const client = await findServerClient(options);
    if (client !== null) return client;
    try {
      const app = await openLocalApp();
      const target = createMemoryTarget(app.requestListener);
      return createApiClient(target, { ...options, hasServer: false, close: () => app.close() });
    } catch (thrown) {
      const isHeld = thrown instanceof AppError && thrown.code === 'conflict';
      if (!isHeld || clock.monotonicMs() >= deadline) throw thrown;
    }
    await sleep(clock, POLL_MS);
  }
}

/** The client of the server that holds the data directory; null: none does. */
export async function findServerClient(
  options: Omit<OpenApiClientOptions, 'openLocalApp'>,
): Promise<ApiClient | null> {
  const owner = options.findOwner();
  if (owner === null || owner.socketPath === null) return null;
  if (!await isListening(owner.socketPath)) return null;
  const target = createSocketTarget(owner.socketPath, owner.pid, options.clock);
  return createApiClient(target, { ...options, hasServer: true });
}
