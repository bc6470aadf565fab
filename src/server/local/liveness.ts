/**
 * Aborts a request whose server hangs. After a silence the server is asked whether it is alive, as
 * it may be silent for long and still work, during a compaction for example. Time in which our own
 * side is the slow one does not count.
 */
import type { ClientRequest, IncomingMessage } from 'node:http';
import type { Clock, Timer } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';

export type LivenessOptions = {
  readonly clock: Clock;
  /** The silence after which the server is asked whether it is alive. */
  readonly silenceMs: number;
  /** The silence after which the request is aborted, even if the server is alive. */
  readonly silenceMsMax: number;
  /** null when the server is alive; else the error that says why not. */
  readonly checkAlive: () => Promise<AppError | null>;
};

export function watchLiveness(request: ClientRequest, options: LivenessOptions): void {
  const { clock, silenceMs } = options;
  let response: IncomingMessage | null = null;
  let isOver = false;
  let previousBytes = 0;
  let silentMs = 0;
  let timer: Timer;
  const bytesRead = (): number => request.socket?.bytesRead ?? 0;
  const checkSilence = async (): Promise<void> => {
    const bytes = bytesRead();
    const isSilent = bytes === previousBytes && isServersTurn(request, response);
    previousBytes = bytes;
    silentMs = isSilent ? silentMs + silenceMs : 0;
    const problem = isSilent ? await findProblem(options, silentMs) : null;
    // The response may have come while we asked.
    if (isOver) return;
    if (problem !== null && bytesRead() === bytes) (response ?? request).destroy(problem);
    else timer = clock.startTimer(silenceMs, checkSilence);
  };
  timer = clock.startTimer(silenceMs, checkSilence);
  request.once('response', (incoming: IncomingMessage) => {
    response = incoming;
  });
  request.once('close', () => {
    isOver = true;
    timer.cancel();
  });
}

/** False while our body is still to be sent, or the response still to be read by our side. */
function isServersTurn(request: ClientRequest, response: IncomingMessage | null): boolean {
  const isAsked = request.writableEnded || request.writableNeedDrain;
  return isAsked && (response === null || response.readableLength === 0);
}

async function findProblem(
  { silenceMsMax, checkAlive }: LivenessOptions, silentMs: number,
): Promise<AppError | null> {
  if (silentMs < silenceMsMax) return checkAlive();
  return new AppError('unavailable', `the server lives, but gave no answer for ${silentMs / 1000} `
    + 's: see its log. What was asked may or may not have been done');
}
