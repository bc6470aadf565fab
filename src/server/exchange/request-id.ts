/** Request ids that callers give, so that they find their request in our log. */
import type { IncomingMessage } from 'node:http';

const SANE = /^[A-Za-z0-9._-]{1,128}$/;

/** The id that the request came with; null when there is none, or one that no log should hold. */
export function givenRequestId(request: IncomingMessage): string | null {
  const given = request.headers['x-request-id'];
  return typeof given === 'string' && SANE.test(given) ? given : null;
}
