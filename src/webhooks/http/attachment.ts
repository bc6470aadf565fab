/** Answers with bytes that a stranger made or was sent: to be saved, and never shown as a page. */
import type { ResponseSpec, Exchange } from '../../server/http-route.ts';

const OCTETS = 'application/octet-stream';
const MEDIA_TYPE = /^[\w!#$%&'*+.^`|~-]+\/[\w!#$%&'*+.^`|~-]+(?:\s*;[\t\x20-\x7e]*)?$/;

export function attachmentResponse(description: string): ResponseSpec {
  return {
    status: 200, description, mediaType: '*/*',
    headers: { 'Content-Disposition': 'An attachment', 'X-Content-Type-Options': '`nosniff`' },
  };
}

/** `mediaType` is the one that came or went with the bytes; it counts where a header can say it. */
export function sendAttachment(
  exchange: Exchange, name: string, mediaType: string, bytes: Buffer,
): void {
  exchange.send(200, [
    'Content-Type', MEDIA_TYPE.test(mediaType) ? mediaType : OCTETS,
    'Content-Disposition', `attachment; filename="${name}"`,
    'Content-Security-Policy', "default-src 'none'; sandbox",
    'Cache-Control', 'no-cache',
  ], bytes);
}
