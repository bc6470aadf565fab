/**
 * The URL of a PostgreSQL database, as in `store.url` and `data:move --to`:
 * postgres://<user>[:<password>]@<host>[:<port>][,<host>[:<port>]…]/<database>[?<name>=<value>…]
 * A host that begins with a slash (percent-encoded) is the folder of a Unix socket. Several hosts
 * are the machines of one service: the engine looks for the primary.
 *
 * A password that is not in the URL is in the file `store.passwordFile`, else in the file that
 * PGPASSFILE names, whose lines are `host:port:database:user:password`, with `*` for any and `\`
 * before a `:` or `\` that is meant (PostgreSQL's chapter "The Password File"). Files are read at
 * each connection, so that a password can be changed while the server runs.
 */
import { AppError } from '../../../base/errors.ts';
import { didYouMean } from '../../../base/text/nearest.ts';
import { readPasswordFile, readPrivateFile } from '../password-file.ts';
import type { PasswordFiles } from '../password-file.ts';

export type PostgresAddress = {
  readonly hosts: readonly PostgresHost[];
  readonly user: string;
  /** Null: it comes from a file, or the server asks for none. */
  readonly password: string | null;
  readonly database: string;
  /** Null: not encrypted. */
  readonly tls: PostgresTls | null;
  /** The user's promise that replaces synchronous standbys; null: standbys are required. */
  readonly durability: 'engine' | 'primary' | null;
};

/** `host` is a folder when it begins with a slash. */
export type PostgresHost = { readonly host: string; readonly port: number };

export type PostgresTls = {
  /** `name`: certificate and host name, `chain`: the certificate alone, `none`: nothing. */
  readonly verifies: 'name' | 'chain' | 'none';
  /** A PEM file; null: the system's authorities. */
  readonly authorities: string | null;
};

const STANDARD_PORT = 5432;
const PORT_MAX = 65_535;
const SHAPE = 'postgres://<user>@<host>:5432/<database>';
const PARAMETERS = ['sslmode', 'sslrootcert', 'verify', 'durability'];
// A folder of sockets, or a name of this machine.
const LOCAL = /^(\/.*|localhost|127(\.\d{1,3}){3}|::1)$/i;
const DURABILITIES = ['engine', 'primary'] as const;

/** Throws `usage` for a wrong URL. Its message never shows the password. */
export function parsePostgresUrl(url: string): PostgresAddress {
  const match = /^postgres(?:ql)?:\/\/(?:([^@/?#]*)@)?([^/?#]*)(?:\/([^?#]*))?(?:\?([^#]*))?$/
    .exec(url);
  if (match === null) {
    throw createUrlError(`is no URL like ${SHAPE}; in a user or password, write / as `
    + '%2F, @ as %40, ? as %3F and # as %23');
  }
  const [, credentials = '', hostList = '', path = '', query = ''] = match;
  const colon = credentials.indexOf(':');
  const user = decodePercent(colon < 0 ? credentials : credentials.slice(0, colon));
  if (user === '') throw createUrlError(`names no user; it is ${SHAPE}`);
  const database = decodePercent(path);
  if (database === '' || database.includes('/')) {
    throw createUrlError(`names no database; it is ${SHAPE}`);
  }
  const parameters = readParameters(query);
  const hosts = readHosts(hostList);
  return {
    hosts, user, database,
    password: colon < 0 ? null : decodePercent(credentials.slice(colon + 1)),
    tls: readTls(parameters, hosts),
    durability: readDurability(parameters.get('durability')),
  };
}

/** Formats the hosts and database for people, without credentials. */
export function formatAddress({ hosts, database }: PostgresAddress): string {
  return `postgres://${hosts.map(formatHost).join(',')}/${database}`;
}

export function formatHost({ host, port }: PostgresHost): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** The password for a host; null when none is given. Throws `usage` for a file of no use. */
export function findPassword(
  address: PostgresAddress, { host, port }: PostgresHost, files: PasswordFiles,
): string | null {
  if (address.password !== null) return address.password;
  if (files.passwordFile !== null) return readPasswordFile(files.passwordFile);
  if (files.passFile === null) return null;
  const criteria = [host.startsWith('/') ? 'localhost' : host, String(port), address.database,
    address.user];
  for (const line of readPrivateFile(files.passFile, 'the file of PGPASSFILE').split(/\r?\n/)) {
    const fields = line.startsWith('#') ? [] : splitFields(line);
    const [password] = fields.slice(criteria.length);
    const isMatch = criteria.every((value, index) => ['*', value].includes(fields[index] ?? ''));
    if (isMatch && password !== undefined) return password;
  }
  return null;
}

function splitFields(line: string): string[] {
  return [...line.matchAll(/(?:^|:)((?:\\.|[^\\:])*)/g)]
    .map(([, field = '']) => field.replace(/\\(.)/g, '$1'));
}

function readParameters(query: string): ReadonlyMap<string, string> {
  const parameters = new Map<string, string>();
  // A plus stays a plus, as in PostgreSQL's own programs; URLSearchParams reads a space.
  for (const [name, value] of new URLSearchParams(query.replaceAll('+', '%2B'))) {
    if (!PARAMETERS.includes(name)) {
      throw createUrlError(`has a parameter \`${name}\` that is none of ${PARAMETERS.join(', ')}${
        didYouMean(name, PARAMETERS)}`);
    }
    if (parameters.has(name)) throw createUrlError(`gives \`${name}\` twice`);
    if (value === '') throw createUrlError(`gives \`${name}\` no value`);
    parameters.set(name, value);
  }
  return parameters;
}

function readHosts(hostList: string): readonly PostgresHost[] {
  return hostList.split(',').map((hostText) => {
    const [, bracketed, plain = '', digits] =
      /^(?:\[([^\]]*)\]|([^:]*))(?::(\d*))?$/.exec(hostText) ?? [];
    const host = decodePercent(bracketed ?? plain);
    if (host === '') {
      throw createUrlError(`names no host, or a port that is no number; it is ${SHAPE}`);
    }
    const port = digits === undefined || digits === '' ? STANDARD_PORT : Number(digits);
    if (port < 1 || port > PORT_MAX) {
      throw createUrlError(`has the port ${digits}, not 1 to ${PORT_MAX}`);
    }
    return { host, port };
  });
}

// TLS is required between machines, unless the URL turns it off.
function readTls(
  parameters: ReadonlyMap<string, string>, hosts: readonly PostgresHost[],
): PostgresTls | null {
  const isLocal = hosts.every(({ host }) => LOCAL.test(host));
  const mode = parameters.get('sslmode') ?? (isLocal ? 'disable' : 'verify-full');
  const verify = parameters.get('verify');
  if (verify !== undefined && verify !== 'no') {
    throw createUrlError('says `verify`, which can only be no');
  }
  const root = parameters.get('sslrootcert') ?? 'system';
  const authorities = root === 'system' ? null : root;
  switch (mode) {
    case 'disable': return null;
    case 'verify-full': return { verifies: 'name', authorities };
    case 'verify-ca': return { verifies: 'chain', authorities };
    case 'require':
      if (verify === 'no') return { verifies: 'none', authorities };
      throw createUrlError(
        'says sslmode=require, which does not check who answers, so that anybody between '
        + 'could read and change everything: say sslmode=verify-full (and sslrootcert=<PEM file> '
        + 'when the authority is your own), or add verify=no if that is enough for you');
    case 'allow': case 'prefer':
      throw createUrlError(
        `says sslmode=${mode}, which goes on without TLS when somebody asks for it: say `
        + 'sslmode=verify-full, or sslmode=disable on a network that you trust');
    default:
      throw createUrlError(
        `says sslmode=${mode}; it is verify-full, verify-ca, require or disable`);
  }
}

function readDurability(text: string | undefined): PostgresAddress['durability'] {
  if (text === undefined) return null;
  const durability = DURABILITIES.find((durability) => durability === text);
  if (durability !== undefined) return durability;
  throw createUrlError(
    `says durability=${text}; it is engine (the service keeps several copies by itself, `
    + 'as Aurora and CockroachDB do) or primary (one PostgreSQL machine is enough for me)');
}

function decodePercent(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw createUrlError('has a % that begins no escape such as %40; write % itself as %25');
  }
}

function createUrlError(problem: string): AppError {
  return new AppError('usage', `the PostgreSQL URL ${problem}`);
}
