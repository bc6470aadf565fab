/** Turns the credentials of a URL into HTTP Basic credentials (RFC 7617). */

/** The value of an `Authorization` header, or null when `url` has no credentials. */
export function basicAuthorization(url: URL): string | null {
  if (url.username === '' && url.password === '') return null;
  const credentials = [decode(url.username), Buffer.from(':'), decode(url.password)];
  return `Basic ${Buffer.concat(credentials).toString('base64')}`;
}

// Percent-decodes to bytes, which need not be UTF-8. A lone `%` stands for itself.
function decode(text: string): Buffer {
  const bytes = text.replace(/%([0-9a-f]{2})/gi, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 16)));
  return Buffer.from(bytes, 'latin1');
}
