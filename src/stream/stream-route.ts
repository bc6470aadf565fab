/** `GET /api/stream`. */
import { AppError } from '../base/errors.ts';
import { suggestName, quote } from '../base/text/error-message.ts';
import { EVENT_STREAM, EVENT_STREAM_HEADERS } from '../server/event-stream.ts';
import { boundTokenError, problemResponses } from '../server/problem.ts';
import { parseQuery } from '../server/query.ts';
import type { Exchange, ParameterSpec, HttpRoute } from '../server/http-route.ts';
import type { Broadcast, BroadcastOptions } from './broadcast.ts';
import { parsePosition } from './stream-event.ts';
import type { StreamFilter, StreamPosition, StreamView } from './stream-event.ts';
import type { StreamTopic } from './stream-topic.ts';

/** After a client ended its side: the first write makes its kernel reset, the second fails. */
const PROBE_MS = 1000;

type StreamOptions = Pick<BroadcastOptions, 'topics' | 'clock'> & {
  /** The webhooks with this identifier, name or path segment; at least one. */
  readonly findWebhookIds: (name: string) => readonly string[];
  /** Whether the caller's token is still valid. */
  readonly mayRead: (exchange: Exchange) => boolean;
  /** Finds what the caller sees; null: everything. */
  readonly findView: (exchange: Exchange) => StreamView | null;
};

export function createStreamRoute(broadcast: Broadcast, options: StreamOptions): HttpRoute {
  const { topics, clock, findWebhookIds, mayRead, findView } = options;
  return {
    method: 'GET', path: '/api/stream', operationId: 'streamChanges', access: 'read',
    bound: { scope: 'read' },
    summary: 'Committed changes as server-sent events, as they happen', tool: 'none',
    parameters: createParameters(topics),
    isLongLived: true,
    responses: [
      {
        status: 200, mediaType: EVENT_STREAM, schema: { kind: 'string' },
        description: 'Events without end, and a comment line every 15 s',
      },
      ...problemResponses(400, 410, 503),
    ],
    async handle(exchange) {
      const view = findView(exchange);
      if (view !== null) checkTopicsOfView(view, exchange.search);
      const query = parseQuery(exchange.search, ['topics', 'hook', 'lastEventId']);
      const filter = parseFilter(query, topics, findWebhookIds, view);
      const position = readPosition(exchange, query.get('lastEventId'));
      const { request, response } = exchange;
      if (request.method === 'HEAD') {
        return exchange.sendStream(200, EVENT_STREAM_HEADERS, () => null);
      }
      const reader = await broadcast.open(filter, position, {
        mayRead: () => mayRead(exchange),
        cut: () => {
          exchange.log.info('a reader of the event stream was too slow and is cut');
          response.destroy();
        },
      });
      const { expiresAtMs } = exchange.grant ?? {};
      const expiry = expiresAtMs === undefined ? null
        : clock.startTimer(expiresAtMs - clock.now(), () => broadcast.endRefused());
      const leave = (): void => broadcast.leave(reader);
      response.once('close', leave);
      if (response.destroyed) leave();
      // A client may end its side and still read, but most that do have gone.
      const onEnd = (): void => {
        broadcast.probe(reader);
        clock.startTimer(PROBE_MS, () => broadcast.probe(reader));
      };
      request.socket.once('end', onEnd);
      try {
        return await exchange.sendStream(200, EVENT_STREAM_HEADERS, () => reader.pull());
      } finally {
        // The connection may be used again.
        request.socket.off('end', onEnd);
        expiry?.cancel();
        leave();
      }
    },
  };
}

function createParameters(topics: readonly StreamTopic[]): readonly ParameterSpec[] {
  const names = topics.map(({ name }) => name).join(', ');
  const defaults = listDefaultNames(topics).join(', ');
  const text = { kind: 'string' } as const;
  return [
    {
      name: 'topics', in: 'query', schema: text,
      description: `Of what: some of ${names}, with commas between them; without it of ${defaults}`,
    },
    {
      name: 'hook', in: 'query', schema: text,
      description: 'Only requests and deliveries of this webhook: its identifier, name or path '
        + 'segment; of both where one that comes in and one that goes out share a name',
    },
    {
      name: 'Last-Event-ID', in: 'header', schema: text,
      description: 'The id of the last event seen: the stream goes on after it',
    },
    {
      name: 'lastEventId', in: 'query', schema: text,
      description: 'The same, where no header can be set; the header counts where both are given',
    },
  ];
}

/** Throws `forbidden`, before anything else of the query is looked at. */
function checkTopicsOfView(view: StreamView, search: string): void {
  const names = new URLSearchParams(search).getAll('topics').flatMap((text) => text.split(','));
  if (!names.every((name) => view.topics.includes(name))) throw boundTokenError();
}

function parseFilter(
  query: ReadonlyMap<string, string>, topics: readonly StreamTopic[],
  hooksNamed: StreamOptions['findWebhookIds'], view: StreamView | null,
): StreamFilter {
  const topicNames = topics.map(({ name }) => name);
  const names = query.get('topics')?.split(',')
    ?? view?.defaultTopics ?? listDefaultNames(topics);
  const unknown = names.find((name) => !topicNames.includes(name));
  if (unknown !== undefined) {
    throw new AppError('malformed', `\`topics\` must be some of ${topicNames.join(', ')}, with `
      + `commas between them, not ${quote(unknown)}${suggestName(unknown, topicNames)}`);
  }
  const webhook = query.get('hook');
  const webhookIds = webhook === undefined ? null : hooksNamed(webhook);
  const selectedTopics = topics.filter(({ name }) => names.includes(name));
  if (webhookIds === null || selectedTopics.some(({ hasWebhooks }) => hasWebhooks)) {
    return { topics: selectedTopics, webhookIds, view };
  }
  throw new AppError('malformed', '`hook` selects requests and deliveries, and `topics` names '
    + 'neither');
}

/** The topics of a reader that names none. */
function listDefaultNames(topics: readonly StreamTopic[]): readonly string[] {
  return topics.filter(({ isOptional = false }) => !isOptional).map(({ name }) => name);
}

function readPosition(exchange: Exchange, parameter: string | undefined): StreamPosition | null {
  const header = exchange.request.headers['last-event-id'];
  const text = typeof header === 'string' && header !== '' ? header : parameter;
  return text === undefined || text === '' ? null : parsePosition(text);
}
