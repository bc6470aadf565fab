/** The credentials of a URL as HTTP Basic credentials (RFC 7617). */

/** The header value, or null when `url` has no credentials. They are percent-decoded. */
export function basicAuthorization(url: URL): string | null {
  if (url.username === '' && url.password === '') return null;
  const credentials = [decode(url.username), Buffer.from(':'), decode(url.password)];
  return `Basic ${Buffer.concat(credentials).toString('base64')}`;
}

// By bytes, because what was encoded need not be UTF-8; a lone `%` stands for itself.
function decode(text: string): Buffer {
  const bytes = text.replace(/%([0-9a-f]{2})/gi, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 16)));
  return Buffer.from(bytes, 'latin1');
}
