/** Request ids that clients choose, so that they find their requests in our log. */
import type { IncomingMessage } from 'node:http';

const REQUEST_ID_PATTERN = /^[A-Za-z0-9._-]{1,128}$/;

/** The client's id for the request; null without one, and for one that is unfit for a log. */
export function readRequestId(request: IncomingMessage): string | null {
  const id = request.headers['x-request-id'];
  return typeof id === 'string' && REQUEST_ID_PATTERN.test(id) ? id : null;
}
