/** Request ids that callers give, so that they find their request in our log. */
import type { IncomingMessage } from 'node:http';

const REQUEST_ID_PATTERN = /^[A-Za-z0-9._-]{1,128}$/;

/** The id that the request came with; null when there is none, or one that no log should hold. */
export function readRequestId(request: IncomingMessage): string | null {
  const id = request.headers['x-request-id'];
  return typeof id === 'string' && REQUEST_ID_PATTERN.test(id) ? id : null;
}
