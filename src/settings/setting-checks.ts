/** Checks of single settings: each gives the value's canonical form or says what it must be. */
import { isIP } from 'node:net';
import { isAbsolute, resolve } from 'node:path';
import { ADDRESS_GROUPS } from '../base/network/address-groups.ts';
import { isAddressBlock } from '../base/network/address-set.ts';
import { VARIABLE_NAME_PATTERN } from '../base/hook-variables.ts';
import { findNearest } from '../base/text/nearest.ts';

/** The canonical form of a setting's text, or what is expected: "must be <expected>". */
export type SettingCheck =
  (text: string) => { readonly value: string } | { readonly expected: string };

// Letters, digits, `-` and `_` in labels with dots between. A name that began with `-` could be
// taken for an option.
const HOST_NAME = /^(?!-)[A-Za-z0-9_-]{1,63}(\.[A-Za-z0-9_-]{1,63})*\.?$/;
const HOST_NAME_LENGTH_MAX = 253;
const DENY_GROUPS = [...ADDRESS_GROUPS.keys()];
const URL_LENGTH_MAX = 2048;
const TITLE_LENGTH_MAX = 60;
const WEBHOOK_PATH_LENGTH_MAX = 128;

/** `host`: the address to listen on. */
export const checkHost: SettingCheck = (text) => {
  const host = stripBrackets(text);
  const isHost = isIP(host) !== 0 || isHostName(host);
  return isHost ? { value: host } : { expected: 'an IP address or a host name' };
};

export const checkBaseUri: SettingCheck = (text) => {
  const url = parseHttpUrl(text);
  if (url === null || url.username !== '' || url.password !== ''
    || url.search !== '' || url.hash !== '') {
    return { expected: 'an http or https URL without credentials and query' };
  }
  const whole = `${url.origin}${url.pathname}`;
  let end = whole.length;
  while (whole[end - 1] === '/') end -= 1;
  return { value: whole.slice(0, end) };
};

/**
 * `webhookPath`. adnanh/webhook has its prefix without slashes, `hooks`. The router compares
 * segments as they stand, and clients take `.` and `..` out of a path.
 */
export const checkWebhookPath: SettingCheck = (text) => {
  const path = `/${text.replace(/^\//, '').replace(/\/$/, '')}`;
  return path.length <= WEBHOOK_PATH_LENGTH_MAX && path !== '/webhook/in'
    && /^(?:\/(?!\.{1,2}(?:\/|$))[\w.~-]+)+$/.test(path)
    ? { value: path }
    : { expected: `a path such as /hooks, other than /webhook/in, of at most ${
      WEBHOOK_PATH_LENGTH_MAX} characters: A-Z a-z 0-9 . _ ~ - between slashes` };
};

/** `proxy`, through which the service sends. */
export const checkProxy: SettingCheck = (text) => {
  const url = parseHttpUrl(text);
  if (url === null || url.pathname !== '/' || url.search !== '' || url.hash !== '') {
    return { expected: 'a URL like http://<user>:<password>@<host>:<port>' };
  }
  return { value: text };
};

// An Authorization header can carry these characters (RFC 6750 §2.1).
export const checkToken: SettingCheck = (text) => /^[A-Za-z0-9._~+/-]+=*$/.test(text)
  ? { value: text }
  : { expected: 'one or more of A-Z a-z 0-9 . _ ~ + / -, with = at the end only' };

/** `corsOrigins`: the text must have a scheme, a host and maybe a port, and nothing else. */
export const checkOrigin: SettingCheck = (text) => {
  if (text === '*') return { value: text };
  const url = parseHttpUrl(text);
  const bare = text.replace(/\/$/, '').toLowerCase();
  return url !== null && url.username === ''
    && `${url.protocol}//${formatHostWithPort(url, bare)}` === bare
    ? { value: url.origin }
    : { expected: 'an origin like https://example.com, or "*"' };
};

/** `allowedHosts`, and the hosts of `noProxy`. */
export const checkAllowedHost: SettingCheck = (text) => {
  const { host, isValid } = splitPort(text);
  return isValid && (isIP(stripBrackets(host)) !== 0 || isHostName(host))
    ? { value: text.toLowerCase() }
    : { expected: 'a host name or address, with or without a port' };
};

/** `noProxy`: targets that are reached without the proxy. */
export const checkNoProxy: SettingCheck = (text) => {
  if (text === '*' || isAddressBlock(text)) return { value: text };
  const bare = text.replace(/^\*?\./, '');
  return 'expected' in checkAllowedHost(bare)
    ? { expected: 'a host, .suffix, host:port, [v6], CIDR or *' } : { value: text };
};

/** `denyAddresses`. `isAddressBlock` takes a single address as well. */
export const checkDeniedAddress: SettingCheck = (text) => {
  if (DENY_GROUPS.includes(text) || isAddressBlock(text)) return { value: text };
  const near = findNearest(text, DENY_GROUPS);
  const hint = near === null ? '' : ` (did you mean ${near}?)`;
  return { expected: `${DENY_GROUPS.join(', ')}, an address or a CIDR${hint}` };
};

/** `trustProxy`: proxies in front of us. `isAddressBlock` takes a single address as well. */
export const checkTrustedProxyAddress: SettingCheck = (text) => {
  const plain = stripBrackets(text);
  return isAddressBlock(plain)
    ? { value: plain } : { expected: 'an address or a CIDR such as 10.0.0.0/8' };
};

export const checkMethod: SettingCheck = (text) => /^[A-Z]{1,32}$/.test(text)
  ? { value: text } : { expected: 'a method in upper case, such as POST' };

// The engine checks more when it is opened. A looser check would let through texts whose password
// the masking does not find.
export const checkStoreUrl: SettingCheck = (text) =>
  /^(postgres|postgresql|etcd|etcds):\/\/([^@\s/?#]*@)?[^@\s/?#]*([/?][^@\s#]*)?$/.test(text)
    ? { value: text }
    : { expected: 'a URL like postgres://<user>:<password>@<host>/<database> or '
      + 'etcd://<host>:2379,<host>:2379 (in a user or password / is %2F, @ is %40, ? is %3F and '
      + '# is %23)' };

/** `actions.commandDirectory`: a relative path would depend on where somebody starts the server. */
export const checkAbsolutePath: SettingCheck = (text) => isAbsolute(text) && !text.includes('\0')
  ? { value: resolve(text) } : { expected: 'an absolute path' };

/** `actions.environment`: `*` alone would allow what runs programs, such as LD_PRELOAD. */
export const checkAllowedVariable: SettingCheck = (text) =>
  VARIABLE_NAME_PATTERN.test(text.replace(/\*$/, '')) ? { value: text }
    : { expected: 'the name of a variable, or a prefix such as HOOK_*' };

/** `console.title`: spaces at its ends would not be shown. */
export const checkTitle: SettingCheck = (text) => {
  const title = text.trim();
  return title !== '' && [...text].length <= TITLE_LENGTH_MAX && !/\p{Cc}/u.test(title)
    ? { value: title }
    : { expected: `1 to ${TITLE_LENGTH_MAX} characters on one line, not only spaces` };
};

/** `console.accent`. */
export const checkColour: SettingCheck = (text) => /^#[0-9a-f]{6}$/i.test(text)
  ? { value: text.toLowerCase() } : { expected: 'a colour as #rrggbb, such as #0b6e4f' };

function parseHttpUrl(text: string): URL | null {
  if (text.length > URL_LENGTH_MAX || !/^https?:\/\/[^/]/i.test(text) || /\s/.test(text)
    || !URL.canParse(text)) return null;
  return new URL(text);
}

// URL drops a scheme's own port; an origin that names it is the same origin.
function formatHostWithPort(url: URL, bare: string): string {
  const port = /:(\d+)$/.exec(bare.slice(url.protocol.length))?.[1];
  return port === undefined || url.port === port ? url.host : `${url.hostname}:${port}`;
}

function isHostName(text: string): boolean {
  // A text of digits and dots that is no address is a mistyped address, not a name.
  return text.length <= HOST_NAME_LENGTH_MAX && HOST_NAME.test(text) && !/^[\d.]+$/.test(text);
}

/** Splits `host`, `host:port` or `[v6]:port`; a text of another form has no valid host. */
function splitPort(text: string): { readonly host: string; readonly isValid: boolean } {
  const [, host = '', port] = /^(\[[^\]]*\]|[^:]*)(?::(\d{1,5}))?$/.exec(text) ?? [];
  return { host, isValid: host !== '' && Number(port ?? 1) <= 65_535 };
}

function stripBrackets(text: string): string {
  return text.startsWith('[') && text.endsWith(']') ? text.slice(1, -1) : text;
}
