/**
 * The URL of a PostgreSQL database, as in `store.url` and `data:move --to`:
 * postgres://<user>[:<password>]@<host>[:<port>][,<host>[:<port>]…]/<database>[?<name>=<value>…]
 * A host that begins with a slash (percent-encoded, or as the parameter `host`) is the folder of a
 * Unix socket. Several hosts are the machines of one service: the engine looks for the primary.
 */
import { AppError } from '../../../base/errors.ts';
import { didYouMean } from '../../../base/text/nearest.ts';

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
  readonly connectTimeoutMs: number;
  readonly applicationName: string;
};

/** `host` is a folder when it begins with a slash. */
export type PostgresHost = { readonly host: string; readonly port: number };

export type PostgresTls = {
  /** `name`: certificate and host name, `chain`: the certificate alone, `none`: nothing. */
  readonly verifies: 'name' | 'chain' | 'none';
  /** PEM files; null: the system's authorities, and no certificate of our own. */
  readonly authorities: string | null;
  readonly certificate: string | null;
  readonly key: string | null;
};

const STANDARD_PORT = 5432;
const PORT_MAX = 65_535;
const TIMEOUT_S = 5;
const TIMEOUT_S_MAX = 60;
const SHAPE = 'postgres://<user>@<host>:5432/<database>';
const PARAMETERS = [
  'host', 'sslmode', 'sslrootcert', 'sslcert', 'sslkey', 'verify', 'durability',
  'connect_timeout', 'application_name', 'target_session_attrs',
];
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
  const hosts = readHosts(parameters.get('host') ?? hostList);
  checkTarget(parameters.get('target_session_attrs'));
  return {
    hosts, user, database,
    password: colon < 0 ? null : decodePercent(credentials.slice(colon + 1)),
    tls: readTls(parameters, hosts),
    durability: readDurability(parameters.get('durability')),
    connectTimeoutMs: readTimeoutS(parameters.get('connect_timeout')) * 1000,
    applicationName: parameters.get('application_name') ?? 'hookshelf',
  };
}

/** Formats the hosts and database for people, without credentials. */
export function formatAddress({ hosts, database }: PostgresAddress): string {
  return `postgres://${hosts.map(formatHost).join(',')}/${database}`;
}

export function formatHost({ host, port }: PostgresHost): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
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
  const [certificate = null, key = null] = [parameters.get('sslcert'), parameters.get('sslkey')];
  if ((certificate === null) !== (key === null)) {
    throw createUrlError('must give both `sslcert` and `sslkey`, or neither');
  }
  const files = { authorities: root === 'system' ? null : root, certificate, key };
  switch (mode) {
    case 'disable': return null;
    case 'verify-full': return { verifies: 'name', ...files };
    case 'verify-ca': return { verifies: 'chain', ...files };
    case 'require':
      if (verify === 'no') return { verifies: 'none', ...files };
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

function readTimeoutS(text: string | undefined): number {
  if (text === undefined) return TIMEOUT_S;
  const seconds = /^\d{1,3}$/.test(text) ? Number(text) : 0;
  if (seconds >= 1 && seconds <= TIMEOUT_S_MAX) return seconds;
  throw createUrlError(`says connect_timeout=${text}; it is 1 to ${TIMEOUT_S_MAX} seconds`);
}

function checkTarget(text: string | undefined): void {
  if (text === undefined || text === 'read-write' || text === 'primary') return;
  throw createUrlError(
    `says target_session_attrs=${text}; only a primary is of use here (read-write)`);
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
