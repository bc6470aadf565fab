/** The rules of single senders that a scheme cannot express as data. */
import { loadCrypto } from '../../../base/node-modules.ts';
import type { Quirk } from '../verification/verify.ts';

/** Gitea and Gogs sign the JSON, even if a form carries it (services/webhook/deliver.go). */
export const giteaQuirk: Quirk = {
  body(reader) {
    const json = reader.read({ form: 'payload' });
    return json === null ? reader.request.body : Buffer.from(json, 'utf8');
  },
};

/** What lacks a required attribute is no CloudEvent. */
export const cloudEventsQuirk: Quirk = {
  findContentProblem: (reader) => reader.cloudEvent().problem,
};

/**
 * Twilio signs the URL in the form that it calls, which may have gained or lost its standard port.
 * If the body is no form, the query holds the body's SHA-256 (twilio-node, webhooks.ts).
 */
export const twilioQuirk: Quirk = {
  *urls(url, reader) {
    const { search } = reader.request;
    const query = url.indexOf('?');
    const bare = query === -1 ? url : url.slice(0, query);
    const calledUrl = search === '' ? url : `${bare}?${search}`;
    yield calledUrl;
    yield* listPortVariants(calledUrl);
  },
  check(reader) {
    const { body } = reader.request;
    if (reader.isForm()) {
      return reader.form() === null ? 'the form has more fields than are looked at, unsigned'
        : null;
    }
    if (body.length === 0) return null;
    // The digest is a part of the signed address, so no address but the called one is tried.
    const claimedDigest = reader.read({ query: 'bodySHA256' });
    if (claimedDigest === null) {
      return 'the body is no form, and no bodySHA256 in the query covers it';
    }
    return claimedDigest.toLowerCase() === computeDigest(body) ? null
      : 'bodySHA256 in the query is not that of the body';
  },
  makeBodyParameter(body, isForm) {
    return isForm || body.length === 0 ? null : `bodySHA256=${computeDigest(body)}`;
  },
};

const STANDARD_PORTS: Readonly<Record<string, string>> = { 'https:': '443', 'http:': '80' };

/** The address with its standard port, and without any port. */
function listPortVariants(text: string): readonly string[] {
  const match = /^(https?:)\/\/([^/?#]*)(.*)$/s.exec(text);
  if (match === null) return [];
  const [, scheme = '', authority = '', rest = ''] = match;
  const host = authority.replace(/:\d{1,5}$/, '');
  const port = host === authority ? STANDARD_PORTS[scheme] ?? '' : authority.slice(host.length + 1);
  return [`${scheme}//${host}${rest}`, `${scheme}//${host}:${port}${rest}`];
}

function computeDigest(body: Buffer): string {
  return loadCrypto().createHash('sha256').update(body).digest('hex');
}
