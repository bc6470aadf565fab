/** Detects a server that hangs: after a long silence it is asked for `/healthz`. */
import type { Clock } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';
import { callApi } from '../../server/local/api-call.ts';
import type { ApiTarget } from '../../server/local/api-call.ts';

// After SILENCE_MS the server is asked whether it lives; it has ALIVE_MS_MAX to answer.
const SILENCE_MS = 10_000;
const ALIVE_MS_MAX = 5000;
const SILENCE_MS_MAX = 600_000;

/** `server` names the server in an error message. */
export function withLiveness(target: ApiTarget, server: string, clock: Clock): ApiTarget {
  return {
    ...target,
    liveness: {
      clock, silenceMs: SILENCE_MS, silenceMsMax: SILENCE_MS_MAX,
      checkAlive: () => checkAlive(target, server, clock),
    },
  };
}

async function checkAlive(
  target: ApiTarget, server: string, clock: Clock,
): Promise<AppError | null> {
  const controller = new AbortController();
  const { signal } = controller;
  const timer = clock.startTimer(ALIVE_MS_MAX, () => controller.abort());
  try {
    await callApi(target, { method: 'GET', path: '/healthz', signal });
    return null;
  } catch (cause) {
    if (!signal.aborted) return null;
    const waitedS = (SILENCE_MS + ALIVE_MS_MAX) / 1000;
    return new AppError('unavailable', `${server} hangs: it said nothing for `
      + `${waitedS} s; see its log, or restart it. What was asked may or may not have been done`,
    {}, cause);
  } finally {
    timer.cancel();
  }
}
