/** Follows the event stream for a command that prints what comes, until a signal ends it. */
import { sleep, systemClock } from '../../../../base/clock.ts';
import { AppError } from '../../../../base/errors.ts';
import { parseJsonText } from '../../../../base/json/exact-parser.ts';
import type { JsonObject } from '../../../../base/schema.ts';
import { readEvents } from '../../../api-client/server-sent-events.ts';
import type { CommandContext } from '../../command-context.ts';
import { expectObject } from '../../resource-commands.ts';

/** The kind of thing that is followed, and its name in notes. */
type StreamSubject = {
  /** The path of a stream of one topic. */
  readonly path: string;
  /** `requests` */
  readonly plural: string;
  /** The command that lists those that were missed. */
  readonly listCommand: string;
  /** Said once the stream is open. */
  readonly startNote: string;
  /** Handles the data of one event. */
  handle(data: JsonObject): Promise<void>;
};

const RECONNECT_MS = 1000;

/** Throws `usage` while no server runs. */
export async function requireServer({ openApiClient }: CommandContext): Promise<void> {
  if ((await openApiClient()).hasServer) return;
  throw new AppError('usage', 'nothing comes in while no server runs: start one with hookshelf '
    + 'serve, or name one with --server');
}

/** Reconnects again and again, and continues after the last event that was handled. */
export async function followStream(
  { output, openApiClient }: CommandContext, subject: StreamSubject,
): Promise<void> {
  const apiClient = await openApiClient();
  const { path, plural, listCommand, startNote } = subject;
  let lastId: string | null = null;
  let isFirst = true;
  let isDisconnected = false;
  while (!output.isClosed) {
    try {
      const headers = lastId === null ? {} : { 'Last-Event-ID': lastId };
      const response = await apiClient.stream({ method: 'GET', path, headers });
      if (isFirst) output.note(startNote);
      if (isDisconnected) output.note('connected again');
      [isFirst, isDisconnected] = [false, false];
      await readStream(response, subject, () => output.isClosed, (id) => {
        lastId = id;
      });
    } catch (thrown) {
      if (isFirst || !isTemporary(thrown)) throw thrown;
      if (thrown instanceof AppError && thrown.code === 'gone') {
        lastId = null;
        output.note(`${plural} that came meanwhile are not known to the stream any more: see `
          + `hookshelf ${listCommand}; going on from now`);
        continue;
      }
    }
    if (output.isClosed) return;
    if (!isDisconnected) {
      output.note('the server has ended the connection; trying to connect again');
    }
    isDisconnected = true;
    await sleep(systemClock, RECONNECT_MS);
  }
}

function isTemporary(thrown: unknown): boolean {
  return thrown instanceof AppError && ['unavailable', 'gone'].includes(thrown.code);
}

/** Reads events until the connection ends or breaks. `onHandled` gets the id of each. */
async function readStream(
  response: AsyncIterable<unknown>, { handle }: StreamSubject, isClosed: () => boolean,
  onHandled: (id: string | null) => void,
): Promise<void> {
  const events = readEvents(response);
  try {
    for (;;) {
      const next = await events.next().catch(() => null);
      if (next === null || next.done === true) return;
      const { id, data } = next.value;
      if (data !== null) await handle(expectObject(parseJsonText(data)));
      // Only now: an event that was not handled to its end comes again.
      onHandled(id);
      if (isClosed()) return;
    }
  } finally {
    // The server never ends the stream: it has to be closed.
    await events.return(undefined);
  }
}

/** `12:03:11`, in the local time zone. */
export function formatLocalTime(text: string): string {
  return new Date(text).toTimeString().slice(0, 8);
}
