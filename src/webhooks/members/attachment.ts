/**
 * Sends bytes that a stranger made, or was sent, as a file to be saved: a browser must never render
 * them.
 */
import type { ResponseSpec, Exchange } from '../../server/http-route.ts';

const OCTETS = 'application/octet-stream';
const MEDIA_TYPE = /^[\w!#$%&'*+.^`|~-]+\/[\w!#$%&'*+.^`|~-]+(?:\s*;[\t\x20-\x7e]*)?$/;

export function attachmentResponse(description: string): ResponseSpec {
  return {
    status: 200, description, mediaType: '*/*',
    headers: { 'Content-Disposition': 'An attachment', 'X-Content-Type-Options': '`nosniff`' },
  };
}

/** `mediaType`, that of the bytes as they came or went, is used if a header can hold it. */
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
