/**
 * Opens a command's session: through the server that holds the data directory, else on an app of
 * its own, built in this process.
 */
import { sleep } from '../../base/clock.ts';
import type { Clock } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';
import { createMemoryTarget } from '../../server/local/memory-target.ts';
import type { LocalApp, Owner } from './local.ts';
import { createSession } from './session.ts';
import type { Session, SessionOptions } from './session.ts';
import { isListening, socketTarget } from './socket.ts';

type OpenOptions = Pick<SessionOptions, 'onWait'> & {
  readonly clock: Clock;
  findOwner(): Owner | null;
  /** Throws `conflict` when another process holds the directory. */
  openLocal(): Promise<LocalApp>;
};

// Another command is done by then, or is at something that takes long.
const WAIT_MS = 5000;
const POLL_MS = 50;

/** Throws `conflict` when another process, which is no server, keeps the directory for 5 s. */
export async function openSession(options: OpenOptions): Promise<Session> {
  const { clock, findOwner, openLocal } = options;
  const deadline = clock.monotonicMs() + WAIT_MS;
  for (;;) {
    const owner = findOwner();
    if (owner !== null && owner.socketPath !== null && await isListening(owner.socketPath)) {
      const target = socketTarget(owner.socketPath, owner.pid, clock);
      return createSession(target, { ...options, isRemote: true });
    }
    try {
      const app = await openLocal();
      const target = createMemoryTarget(app.dispatcher);
      return createSession(target, { ...options, isRemote: false, close: () => app.close() });
    } catch (thrown) {
      const isHeld = thrown instanceof AppError && thrown.code === 'conflict';
      if (!isHeld || clock.monotonicMs() >= deadline) throw thrown;
    }
    await sleep(clock, POLL_MS);
  }
}
