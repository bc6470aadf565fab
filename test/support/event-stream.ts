/** A reader of server-sent events, as a browser's: it knows the last id it has seen. */
import { once } from 'node:events';
import { request } from 'node:http';
import type { ClientRequest, IncomingMessage } from 'node:http';
import { until } from './until.ts';

export type SeenEvent = { readonly id: string; readonly event: string; readonly data: string };

export type Following = {
  readonly status: number;
  readonly response: IncomingMessage;
  readonly events: readonly SeenEvent[];
  /** Everything that has come, as it is. */
  text(): string;
  /** Of the last complete block. */
  lastId(): string;
  isEnded(): boolean;
  /** Waits for that many events. */
  until(count: number): Promise<void>;
  /** Tears the connection. */
  close(): Promise<void>;
};

type FollowOptions = {
  readonly path?: string;
  readonly lastEventId?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
};

/** Resolves with the head of the answer. */
export async function followStream(
  place: { readonly port: number } | { readonly socketPath: string },
  { path = '/api/stream', lastEventId, headers = {} }: FollowOptions = {},
): Promise<Following> {
  const asked: ClientRequest = request({
    ...place, host: '127.0.0.1', path, agent: false,
    headers: { ...headers, ...lastEventId === undefined ? {} : { 'Last-Event-ID': lastEventId } },
  });
  asked.on('error', () => {});
  asked.end();
  const [response] = await once(asked, 'response') as [IncomingMessage];
  const events: SeenEvent[] = [];
  let text = '';
  let rest = '';
  let lastId = lastEventId ?? '';
  let isEnded = false;
  response.setEncoding('utf8');
  response.on('data', (chunk: string) => {
    text += chunk;
    const blocks = (rest + chunk).split('\n\n');
    rest = blocks.pop() ?? '';
    for (const block of blocks) {
      const { id = lastId, event = '', data } = fieldsOf(block);
      lastId = id;
      if (data !== undefined) events.push({ id, event, data });
    }
  });
  response.on('error', () => {});
  const closed = new Promise<void>((resolve) => {
    response.on('close', () => {
      isEnded = true;
      resolve();
    });
  });
  return {
    status: response.statusCode ?? 0, response, events,
    text: () => text, lastId: () => lastId, isEnded: () => isEnded,
    until: (count) => until(`there are ${count} events`, () => events.length >= count,
      { seen: () => `${events.length} events, ${isEnded ? 'ended' : 'open'}` }),
    async close() {
      asked.destroy();
      await closed;
    },
  };
}

function fieldsOf(block: string): Partial<Record<string, string>> {
  const lines = block.split('\n').filter((line) => !line.startsWith(':') && line !== '');
  return Object.fromEntries(lines.map((line) => {
    const colon = line.indexOf(': ');
    return [line.slice(0, colon), line.slice(colon + 2)];
  }));
}
