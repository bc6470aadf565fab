/**
 * Headers that belong to one connection or frame a message: hop-by-hop headers (RFC 9110 §7.6.1),
 * Host, Content-Length and Expect, in lower case. The HTTP client alone sets them. They are never
 * configured or forwarded: a header that contradicts the frame makes request smuggling possible.
 */
export const CONNECTION_HEADERS: ReadonlySet<string> = new Set([
  'host', 'content-length', 'transfer-encoding', 'connection', 'keep-alive', 'upgrade', 'te',
  'trailer', 'expect', 'proxy-connection', 'proxy-authorization',
]);
