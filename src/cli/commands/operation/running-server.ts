/** A running server's own report, for commands whose settings may differ from the server's. */
import { systemClock } from '../../../base/clock.ts';
import { AppError } from '../../../base/errors.ts';
import type { JsonObject } from '../../../base/schema.ts';
import type { ApiClient } from '../../api-client/api-client.ts';
import { findOwner } from '../../api-client/local-app.ts';
import { findServerClient } from '../../api-client/open-api-client.ts';
import type { CommandContext } from '../command-context.ts';
import { formatValue, expectObject, expectObjects } from '../resource-commands.ts';

export type RunningServer = {
  /** For people: `the server that runs on <directory> (pid 7, version 1.0.0)`. */
  readonly name: string;
  /** The answer to `GET /api/status`. */
  readonly status: JsonObject;
  /** The answer to `GET /api/settings`: a row for each setting, secrets masked. */
  readonly settings: readonly JsonObject[];
  /**
   * Resolves with the body of the answer; each path is asked for once. Throws the AppError of a
   * problem document, and `unavailable` when no answer comes within five seconds.
   */
  ask(path: string): Promise<unknown>;
};

const ANSWER_MS_MAX = 5000;

/**
 * Asks the server that `--server` names, else the one that holds the data directory; null: none
 * does. Throws as `ask` does, `usage` where another user owns the lock, and `conflict` where
 * another process than a server holds the directory.
 */
export async function findRunningServer(context: CommandContext): Promise<RunningServer | null> {
  const target = await findClient(context);
  if (target === null) return null;
  const { client, name, pid } = target;
  const answers = new Map<string, Promise<unknown>>();
  const ask = (path: string): Promise<unknown> => {
    const answer = answers.get(path)
      ?? askWithin(client, path, pid === null ? name : `${name} (pid ${pid})`);
    answers.set(path, answer);
    return answer;
  };
  const settings = expectObjects(await ask('/api/settings'));
  const status = expectObject(await ask('/api/status'));
  const version = `version ${formatValue(status['version'])}`;
  const facts = pid === null ? version : `pid ${pid}, ${version}`;
  return { name: `${name} (${facts})`, status, settings, ask };
}

/** Says whose settings count. */
export function describeSource(server: RunningServer | null, context: CommandContext): string {
  return server?.name ?? `this command, as no server runs on ${context.enterDataAsOwner()}`;
}

async function findClient(context: CommandContext): Promise<{
  readonly client: ApiClient; readonly name: string;
  /** null: the server is elsewhere. */
  readonly pid: number | null;
} | null> {
  const { serverUrl } = context;
  if (serverUrl !== null) {
    const name = `the server at ${serverUrl.href.replace(/\/$/, '')}`;
    return { client: await context.openApiClient(), name, pid: null };
  }
  const data = context.enterDataAsOwner();
  const owner = findOwner(data);
  // The same owner as above, so that the pid is the client's.
  const client = await findServerClient({ clock: systemClock, findOwner: () => owner });
  return client === null || owner === null ? null
    : { client, name: `the server that runs on ${data}`, pid: owner.pid };
}

async function askWithin(client: ApiClient, path: string, name: string): Promise<unknown> {
  const signal = AbortSignal.timeout(ANSWER_MS_MAX);
  try {
    return (await client.request({ method: 'GET', path, signal })).body;
  } catch (thrown) {
    if (!signal.aborted) throw thrown;
    throw new AppError('unavailable', `${name} does not answer`, {}, thrown);
  }
}
