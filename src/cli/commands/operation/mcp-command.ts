/**
 * `hookshelf mcp` passes messages of the Model Context Protocol, one a line of stdin, on to the
 * API, and writes what that answers to stdout, a line a message.
 */
import { AppError, messageOf } from '../../../base/errors.ts';
import { isJsonObject } from '../../../base/fields.ts';
import type { JsonObject, JsonValue } from '../../../base/schema.ts';
import { RELAY_HEADER, RELAY_PATH, formatRelayHeader } from '../../../mcp/doors.ts';
import { INTERNAL_ERROR } from '../../../mcp/message.ts';
import { EVENT_STREAM } from '../../../server/event-stream.ts';
import { connectionLostError, readResponseBody } from '../../../server/local/api-call.ts';
import { readLines } from '../../api-client/read-lines.ts';
import { readEvents } from '../../api-client/server-sent-events.ts';
import type { CommandContext } from '../command-context.ts';

export async function relayMcp(context: CommandContext): Promise<void> {
  // Wrong settings, or a wrong directory, end it at once, and not the first call.
  const hasServer = context.serverUrl === null && await context.openServerClient() !== null;
  if (!hasServer) context.loadSettings();
  const relay = new McpRelay(context);
  for await (const line of readLines(withLastLine(context.io.stdin))) {
    relay.pass(line);
    await relay.waitForRoom();
  }
  await relay.end();
}

/** The last line counts, ended or not. */
async function* withLastLine(stream: AsyncIterable<unknown>): AsyncGenerator<unknown> {
  yield* stream;
  yield '\n';
}

/** Each call has a connection, of which the socket of the server queues 511. */
const CALLS_MAX = 100;

type RelayCall = {
  readonly id: JsonValue | undefined;
  readonly isWait: boolean;
  readonly controller: AbortController;
  readonly done: Promise<void>;
};

class McpRelay {
  readonly #context: CommandContext;
  readonly #calls = new Set<RelayCall>();
  #isInitialized = false;

  constructor(context: CommandContext) {
    this.#context = context;
  }

  pass(line: string): void {
    if (line.trim() === '') return;
    const { id, method, params } = parseMessage(line);
    const { requestId, name } = isJsonObject(params) ? params : {};
    if (id === undefined && typeof method === 'string') {
      if (method === 'notifications/cancelled') this.#abort((call) => call.id === requestId);
      return;
    }
    const controller = new AbortController();
    const call: RelayCall = {
      id, isWait: name === 'requests_wait', controller,
      done: this.#answer(line, id, controller.signal).finally(() => this.#calls.delete(call)),
    };
    this.#calls.add(call);
    this.#isInitialized ||= method === 'initialize';
  }

  /** Resolves when another call may begin. */
  async waitForRoom(): Promise<void> {
    if (this.#calls.size >= CALLS_MAX) {
      await Promise.race([...this.#calls].map(({ done }) => done));
    }
  }

  /** Resolves when all is answered but what waits for something to happen. */
  async end(): Promise<void> {
    const waits = [...this.#calls].filter(({ isWait }) => isWait);
    await Promise.all([...this.#calls].filter(({ isWait }) => !isWait).map(({ done }) => done));
    // Without a server a wait is refused at once.
    const client = waits.length === 0 ? null
      : await this.#context.openApiClient().catch(() => null);
    if (client?.hasServer === true) this.#abort(({ isWait }) => isWait);
    await Promise.all(waits.map(({ done }) => done));
  }

  #abort(isMeant: (call: RelayCall) => boolean): void {
    for (const call of this.#calls) {
      if (isMeant(call)) call.controller.abort();
    }
  }

  async #answer(line: string, id: JsonValue | undefined, signal: AbortSignal): Promise<void> {
    let answer: string | null = null;
    try {
      answer = await this.#call(line, signal);
    } catch (thrown) {
      if (!signal.aborted && !(thrown instanceof AppError)) throw thrown;
      const error = { code: INTERNAL_ERROR, message: messageOf(thrown) };
      answer = JSON.stringify({ jsonrpc: '2.0', id, error });
    }
    // Lets go of the data directory first, so that a server can start.
    const isLast = this.#calls.size === 1 && this.#context.serverUrl === null;
    if (isLast) await this.#context.closeApiClient();
    // A call that was cancelled gets no answer.
    if (answer !== null && !signal.aborted) this.#write(answer);
  }

  /** The answer; null: the events of the answer, the last of which it is, are written already. */
  async #call(line: string, signal: AbortSignal): Promise<string | null> {
    const { args } = this.#context;
    const client = await this.#context.openApiClient();
    const response = await client.stream({
      method: 'POST', path: RELAY_PATH, body: Buffer.from(line), signal,
      headers: {
        'accept': `application/json, ${EVENT_STREAM}`,
        [RELAY_HEADER]: formatRelayHeader(args.find('scope') ?? 'read', this.#isInitialized),
      },
    });
    if (response.headers['content-type'] !== EVENT_STREAM) {
      return (await readResponseBody(response)).toString();
    }
    try {
      for await (const { data } of readEvents(response)) {
        if (data !== null) this.#write(data);
      }
    } catch (thrown) {
      throw connectionLostError(thrown);
    }
    return null;
  }

  #write(text: string): void {
    this.#context.io.stdout.write(`${text}\n`);
  }
}

/** Empty for a line that is no JSON object: the server will refuse it. */
function parseMessage(line: string): JsonObject {
  try {
    const message: unknown = JSON.parse(line);
    return isJsonObject(message) ? message : {};
  } catch {
    return {};
  }
}
