/**
 * The URL of an etcd cluster:
 *
 *   etcd[s]://[user:password@]host[:2379][,host[:2379]…][/prefix][?compaction=engine]
 *
 * `etcds` speaks TLS and checks the certificate. All keys of a log begin with the prefix,
 * `hookshelf` by default, so that one etcd may keep several logs. With `compaction=engine` etcd
 * compacts its history itself; else trimming the log does.
 */
import { AppError } from '../../../base/errors.ts';

export type EtcdEndpoint = { readonly host: string; readonly port: number };

export type EtcdAddress = {
  readonly endpoints: readonly EtcdEndpoint[];
  readonly isTls: boolean;
  readonly prefix: string;
  readonly user: string | null;
  readonly password: string | null;
  readonly compacts: boolean;
  /** For people: without credentials. */
  readonly name: string;
};

const PORT = 2379;
const PREFIX = 'hookshelf';
const SHAPE = /^(etcds?):\/\/(?:([^@/?#]*)@)?([^@/?#]+)(\/[^?#]*)?(?:\?([^#]*))?$/;
const HOST = /^(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::([0-9]{1,5}))?$/;
const PREFIX_SHAPE = /^[A-Za-z0-9._-]+(\/[A-Za-z0-9._-]+)*$/;

/** Throws `usage` without showing what may be a password. */
export function parseEtcdUrl(url: string): EtcdAddress {
  const match = SHAPE.exec(url);
  if (match === null) {
    throw createUrlError('write etcd://host:2379,host:2379,host:2379, or etcds:// for TLS');
  }
  const [, scheme = '', credentials, hosts = '', path = '', query = ''] = match;
  const endpoints = hosts.split(',').map(parseHost);
  const prefix = trimSlashes(path) === '' ? PREFIX : trimSlashes(path);
  if (!PREFIX_SHAPE.test(prefix)) {
    throw createUrlError('its path begins all keys: letters, digits and ._- between slashes');
  }
  const names = endpoints.map(({ host, port }) =>
    `${host.includes(':') ? `[${host}]` : host}:${port}`);
  return {
    endpoints, prefix, isTls: scheme === 'etcds', ...parseCredentials(credentials),
    compacts: parseCompacts(query), name: `${scheme}://${names.join(',')}/${prefix}`,
  };
}

function parseHost(text: string): EtcdEndpoint {
  const [, host = '', port] = HOST.exec(text) ?? [];
  const number = port === undefined ? PORT : Number(port);
  if (host === '' || number < 1 || number > 65_535) {
    throw createUrlError('between its commas stand hosts, each as host:2379');
  }
  return { host: host.startsWith('[') ? host.slice(1, -1) : host, port: number };
}

function parseCredentials(text: string | undefined): Pick<EtcdAddress, 'user' | 'password'> {
  if (text === undefined) return { user: null, password: null };
  const colon = text.indexOf(':');
  const [user, password] = colon < 0 ? [text, null]
    : [text.slice(0, colon), text.slice(colon + 1)];
  try {
    return {
      user: decodeURIComponent(user),
      password: password === null ? null : decodeURIComponent(password),
    };
  } catch {
    throw createUrlError('a % in its user or password is written %25');
  }
}

function parseCompacts(query: string): boolean {
  if (query === '') return true;
  if (query === 'compaction=engine') return false;
  throw createUrlError('behind its ? can stand compaction=engine alone');
}

function trimSlashes(path: string): string {
  const steps = path.split('/');
  return steps.filter((step, index) => step !== '' || (index > 0 && index < steps.length - 1))
    .join('/');
}

function createUrlError(hint: string): AppError {
  return new AppError('usage', `the etcd URL cannot be used: ${hint}`);
}
