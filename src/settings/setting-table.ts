/**
 * The table of all settings, each with its name, type, default, unit and description.
 * `load-settings.ts` follows this table, `settings:show` and the manual print it, and the type
 * `Settings` is made from it.
 */
import { TIMER_SECONDS_MAX } from '../base/clock.ts';
import { ALLOWED_VARIABLES_DEFAULT } from '../base/hook-variables.ts';
import { LOG_LEVELS } from '../base/log.ts';
import {
  checkAbsolutePath, checkAllowedHost, checkAllowedVariable, checkBaseUri, checkColour,
  checkDeniedAddress, checkHost, checkMethod, checkNoProxy, checkOrigin, checkProxy, checkStoreUrl,
  checkTitle, checkToken, checkTrustedProxyAddress, checkWebhookPath,
} from './setting-checks.ts';
import type { SettingCheck } from './setting-checks.ts';

export type SettingKind =
  | { readonly is: 'number'; readonly minimum: number; readonly maximum: number;
    readonly isInteger: boolean }
  | { readonly is: 'boolean' }
  | { readonly is: 'choice'; readonly values: readonly string[] }
  /** `path`: relative ones are resolved from the settings file's folder, else the current one. */
  | { readonly is: 'text' | 'path'; readonly check?: SettingCheck; readonly isNullable: boolean }
  | SettingListKind
  | { readonly is: 'flagOrList'; readonly list: SettingListKind };

export type SettingListKind =
  { readonly is: 'list'; readonly items: SettingKind; readonly itemsMax: number };

type Setting<Value> = {
  readonly kind: SettingKind;
  readonly default: Value;
  readonly unit: string;
  readonly description: string;
  readonly isSecret: boolean;
};

const DAYS_MAX = 36_500;
const HOURS_MAX = DAYS_MAX * 24;
const COUNT_MAX = 1_000_000_000;
const BYTES_MAX = 1_000_000_000_000;
/** The greatest value of `server.maxBodyBytes`. */
export const BODY_BYTES_MAX = 268_435_456;
const MEMORY_MIB_MAX = 1_048_576;
const LIST_ITEMS_MAX = 1000;
const SCHEDULE_ITEMS_MAX = 100;

const seconds = (defaultValue: number, description: string, minimum = 0.001): Setting<number> =>
  number(defaultValue, 'seconds', description, minimum, TIMER_SECONDS_MAX);
const days = (defaultValue: number, description: string): Setting<number> =>
  number(defaultValue, 'days', description, 0, DAYS_MAX);
const count = (
  defaultValue: number, description: string, minimum: number, maximum = COUNT_MAX, unit = '',
): Setting<number> => ({
  kind: { is: 'number', minimum, maximum, isInteger: true },
  default: defaultValue, unit, description, isSecret: false,
});
const flag = (defaultValue: boolean, description: string): Setting<boolean> =>
  ({ kind: { is: 'boolean' }, default: defaultValue, unit: '', description, isSecret: false });
const optional = (check: SettingCheck | null, description: string): Setting<string | null> => ({
  kind: { is: 'text', isNullable: true, ...check === null ? {} : { check } },
  default: null, unit: '', description, isSecret: false,
});
const optionalPath = (description: string): Setting<string | null> => ({
  kind: { is: 'path', isNullable: true }, default: null, unit: '', description, isSecret: false,
});
const choice = <Value extends string>(
  defaultValue: Value, values: readonly Value[], description: string,
): Setting<Value> =>
  ({ kind: { is: 'choice', values }, default: defaultValue, unit: '', description,
    isSecret: false });
const text = (defaultValue: string, check: SettingCheck, description: string): Setting<string> => ({
  kind: { is: 'text', check, isNullable: false },
  default: defaultValue, unit: '', description, isSecret: false,
});
const paths = (description: string): Setting<readonly string[]> => ({
  kind: { is: 'list', items: { is: 'path', isNullable: false }, itemsMax: LIST_ITEMS_MAX },
  default: [], unit: '', description, isSecret: false,
});
const schedule = (
  defaultValue: readonly number[], description: string,
): Setting<readonly number[]> => ({
  kind: {
    is: 'list', itemsMax: SCHEDULE_ITEMS_MAX,
    items: { is: 'number', minimum: 0, maximum: TIMER_SECONDS_MAX, isInteger: false },
  },
  default: defaultValue, unit: 'seconds', description, isSecret: false,
});
const createListKind = (check: SettingCheck): SettingListKind =>
  ({ is: 'list', items: { is: 'text', check, isNullable: false }, itemsMax: LIST_ITEMS_MAX });
const texts = (
  defaultValue: readonly string[], check: SettingCheck, description: string,
): Setting<readonly string[]> =>
  ({ kind: createListKind(check), default: defaultValue, unit: '', description, isSecret: false });
const flagOrTexts = (
  defaultValue: boolean, check: SettingCheck, description: string,
): Setting<boolean | readonly string[]> => ({
  kind: { is: 'flagOrList', list: createListKind(check) },
  default: defaultValue, unit: '', description, isSecret: false,
});

function number(
  defaultValue: number, unit: string, description: string, minimum: number, maximum: number,
): Setting<number> {
  return {
    kind: { is: 'number', minimum, maximum, isInteger: false },
    default: defaultValue, unit, description, isSecret: false,
  };
}

const server = {
  port: count(8000, 'TCP port to listen on; 0 asks the kernel for one', 0, 65535),
  host: text('127.0.0.1', checkHost, 'address to listen on'),
  baseUri: optional(checkBaseUri,
    'what absolute URLs begin with, and links in answers; commands derive '
    + 'http://localhost:<port> without it'),
  webhookPath: optional(checkWebhookPath,
    'a second path of the incoming webhooks: with /hooks, /hooks/ci answers as /webhook/in/ci'),
  maxBodyBytes: count(1_048_576, 'larger request bodies get 413, compressed or not', 1,
    BODY_BYTES_MAX, 'bytes'),
  requestTimeout: seconds(30,
    'until a request, its body included, has arrived; of an import, until more has'),
  headersTimeout: seconds(10, 'for the head of a request, and for a TLS handshake'),
  keepAliveTimeout: seconds(65, 'an idle connection is kept'),
  shutdownTimeout: seconds(10, 'a stop waits for what is in flight', 0),
  console: flag(true, 'whether GET /console is there'),
  mcp: flag(false, 'whether POST /mcp is there, for programs that speak MCP'),
  paused: flag(false,
    'whether nothing is sent, run or backed up: deliveries and requests that are kept wait; as of '
    + 'a copy'),
  apiToken: {
    ...optional(checkToken, 'bearer token that opens /api; also HOOKSHELF_API_TOKEN'),
    isSecret: true,
  },
  tlsCert: optionalPath(
    'PEM file of the certificate chain; serves https. Read again on SIGHUP and SIGUSR1'),
  tlsKey: optionalPath('PEM file of the private key of server.tlsCert'),
  corsOrigins: texts([], checkOrigin,
    'web origins that may call the API and incoming webhooks; "*" needs a token'),
  allowedHosts: texts([], checkAllowedHost,
    'further names a Host header may have on loopback without a token'),
  maxConnections: count(10_000, 'open connections; kept below the file descriptor limit', 1),
  trustProxy: flagOrTexts(false, checkTrustedProxyAddress,
    'whose X-Forwarded-For, else Forwarded, is believed: true (loopback and private peers) or '
    + 'a list of addresses and CIDRs'),
};

const consoleLook = {
  title: text('hookshelf', checkTitle,
    'what the console calls itself, in its head and in the title of the window'),
  accent: optional(checkColour,
    'its colour, as #rrggbb; where text in it would be hard to read, it is darker or lighter'),
  images: flag(false,
    'whether browsers load covers of books from where these lie, which then learn of it; else '
    + 'spines are drawn'),
};

const http = {
  timeout: seconds(5, 'one whole attempt'),
  connectTimeout: seconds(2, 'until the socket, TLS and proxy tunnel are ready'),
  verify: flag(true, 'TLS certificate verification'),
  proxy: { ...optional(checkProxy, 'http://<user>:<password>@<host>:<port>'), isSecret: true },
  noProxy: texts([], checkNoProxy,
    'hosts that bypass the proxy: exact, .suffix, host:port, [v6], CIDR, *'),
  denyAddresses: texts(['link-local', 'metadata'], checkDeniedAddress,
    'addresses never connected to: link-local, metadata, loopback, private, CIDRs'),
  maxSocketsPerHost: count(64, 'sockets to one host', 1, 65_535),
  retries: count(2, 'further attempts after a network or transient error', 0, 100),
  retryDelayMs: number(200, 'milliseconds', 'between attempts', 0, TIMER_SECONDS_MAX * 1000),
  totalTimeout: seconds(15, 'all attempts and waits of one call'),
};

const incoming = {
  defaultAllowedMethods: texts(['POST'], checkMethod, 'used when the hook sets none'),
  allowUnsignedWhenSecretMissing: flag(true,
    'false: a hook without a secret answers 401 to everything'),
  actionTimeout: seconds(30, 'one action, then it has failed'),
  rateLimit: number(0, 'requests a second',
    'for one hook, over it 429; 0 is off', 0, COUNT_MAX),
  maxConcurrent: count(100, 'actions under way at once for one hook; over it 503', 1),
  retrySchedule: schedule([5, 60, 600, 3600, 21_600],
    'waits between the runs of a request that was accepted, or is replayed'),
  maxInFlightPerHook: count(8,
    'such requests of one hook that run at once; 1 is strict order', 1, 65_535),
};

const inbox = {
  retentionDays: days(7, 'requests that are done, filtered or duplicates are kept'),
  failedRetentionDays: days(30, 'failed requests are kept for inspection'),
  maxCount: count(100_000,
    'requests kept; the oldest finished ones go first, and what would add to as many that are '
    + 'pending or pinned gets 503', 1),
  maxBytes: count(268_435_456,
    'the same of bodies and headers. At most an eighth of --max-memory', 1, BYTES_MAX, 'bytes'),
};

const outgoing = {
  retrySchedule: schedule([5, 300, 1800, 7200, 18_000, 36_000, 36_000],
    'waits between durable delivery attempts'),
  retentionDays: days(7, 'delivered and cancelled deliveries are kept'),
  retentionCount: count(10_000, 'delivered and cancelled deliveries kept at most', 0),
  retentionBytes: count(67_108_864,
    'of delivered and cancelled deliveries, with what they sent. At most a sixteenth of '
    + '--max-memory', 0, BYTES_MAX, 'bytes'),
  failedRetentionDays: days(30, 'failed deliveries are kept, unless others need their room'),
  maxPending: count(100_000, 'pending deliveries; what would queue one more gets 503', 1),
  maxPendingBytes: count(268_435_456,
    'of deliveries that wait or have failed; what would queue more gets 503. At most an eighth of '
    + '--max-memory', 1, BYTES_MAX, 'bytes'),
  maxInFlight: count(64, 'delivery attempts under way at once', 1, 65_535),
  maxInFlightPerHook: count(8, 'the same for one hook; 1 is strict order', 1, 65_535),
};

const events = {
  keep: choice('heard', ['heard', 'all'],
    'heard: events that fire a webhook, or would if it were on; all: also those that fire none'),
  retentionDays: days(7, 'events without deliveries are kept'),
  maxBytes: count(268_435_456,
    'of such events; the oldest go first. At most an eighth of --max-memory', 0, BYTES_MAX,
    'bytes'),
};

const store = {
  url: {
    ...optional(checkStoreUrl, 'database that keeps the journal for several nodes: '
      + 'postgres://<user>@<host>/<database>, etcd://<host>:2379; files in the data directory '
      + 'without it'),
    isSecret: true,
  },
  passwordFile: optionalPath('file of the password for store.url, readable by its owner alone'),
};

const backup = {
  to: optionalPath('directory that the server backs up into by itself; best on another disk'),
  everyHours: number(24, 'hours', 'between two such backups; 0 is off', 0, HOURS_MAX),
  keep: count(7, 'such backups kept; older ones are deleted once a newer one is verified', 1),
};

const actions = {
  modules: paths('paths of custom action modules; `actions` may be this list'),
  commandDirectory: optional(checkAbsolutePath,
    'folder of the programs that the action run-command may run; without it there is no such '
    + 'action'),
  workingDirectories: texts([], checkAbsolutePath,
    'folders that such a program may run in, besides those below actions.commandDirectory'),
  environment: texts(ALLOWED_VARIABLES_DEFAULT, checkAllowedVariable,
    'variables that hooks may give such a program: names, and prefixes that end in *'),
  maxCommands: count(4, 'programs that run at once; others wait', 1),
  maxMemory: count(128, 'of JavaScript heap and buffers for all custom action modules', 16,
    MEMORY_MIB_MAX, 'MiB'),
};

/** The table, in groups whose members are settings. */
const SETTINGS = {
  server,
  console: consoleLook,
  http,
  incoming,
  inbox,
  events,
  outgoing,
  store,
  backup,
  catalog: { events: flag(true, 'whether changes of books are events') },
  actions,
  log: {
    level: choice('info', LOG_LEVELS, `least level that is written: ${LOG_LEVELS.join(', ')}`),
    format: choice('auto', ['auto', 'json', 'pretty'],
      'auto: pretty on a terminal, JSON elsewhere'),
    access: choice('errors', ['all', 'errors', 'off'],
      'a line for each request: all, errors (5xx and slower than 1 s), off'),
  },
};

type ValueOf<Entry> = Entry extends Setting<infer Value> ? Value : never;

/** All settings, frozen, in the units of the table: `settings.http.timeout` is in seconds. */
export type Settings = {
  readonly [Group in keyof typeof SETTINGS]:
    { readonly [Name in keyof typeof SETTINGS[Group]]: ValueOf<typeof SETTINGS[Group][Name]> };
};

/** Settings as a program may give them: some of them, in the groups of the settings file. */
export type SettingsInput = DeepPartial<Omit<Settings, 'actions'>> & {
  /** A list is `actions.modules`. */
  readonly actions?: readonly string[] | DeepPartial<Settings['actions']> | undefined;
  /** In the program that they come from, two of the groups stand here. */
  readonly Vendor?: { readonly Webhook?: DeepPartial<Pick<Settings, 'http' | 'incoming'>> };
};

type DeepPartial<Whole> = {
  readonly [Name in keyof Whole]?:
    | (Whole[Name] extends readonly unknown[] | string | number | boolean | null
      ? Whole[Name] : DeepPartial<Whole[Name]>)
    | undefined;
};

export type SettingRow = {
  /** The group and the name with a dot between them, such as `http.retryDelayMs`. */
  readonly name: string;
  /** The environment variable, such as `HOOKSHELF_HTTP_RETRY_DELAY_MS`. */
  readonly variable: string;
} & Setting<unknown>;

/** The table in order, one row a setting. */
export const SETTING_ROWS: readonly SettingRow[] = Object.entries(SETTINGS).flatMap(
  ([group, members]) => Object.entries(members).map(([name, setting]) =>
    createRow(`${group}.${name}`, setting)));

function createRow(name: string, setting: Setting<unknown>): SettingRow {
  if (Array.isArray(setting.default)) Object.freeze(setting.default);
  const words = name.replace(/[A-Z]/g, '_$&').replaceAll('.', '_').toUpperCase();
  return { name, variable: `HOOKSHELF_${words}`, ...setting };
}
