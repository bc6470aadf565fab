/** A request of the inbox as the API represents it. */
import type { RouteRun, StoredRequest } from '../../../webhooks/inbox/stored-request.ts';

export type InboxRequest = Pick<StoredRequest,
  'id' | 'hook' | 'receivedAt' | 'method' | 'path' | 'query' | 'headers' | 'bodyBytes'
  | 'bodySha256' | 'client' | 'event' | 'eventId' | 'verdict' | 'status' | 'answered'
  | 'duplicateOf' | 'replayOf' | 'pinned'> & {
  readonly routes: readonly Pick<RouteRun, 'name' | 'status' | 'attempts' | 'nextAttemptAt'>[];
  /** Present when no payload could be made of the body. */
  readonly unparsed?: true;
  /** The `bodyFormat` that would have made one; null: none would. */
  readonly fittingBodyFormat?: string | null;
};

export function requestPath(id: string): string {
  return `/api/requests/${encodeURIComponent(id)}`;
}
