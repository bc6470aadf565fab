/** `doctor`: checks what a server needs and says what to do. Changes nothing. */
import { accessSync, constants, readFileSync, readdirSync, statSync, statfsSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { engineOf } from '../../../app/engine.ts';
import { DESCRIPTORS_RESERVED } from '../../../app/options.ts';
import { messageOf, systemCodeOf } from '../../../base/errors.ts';
import { redactText } from '../../../base/log.ts';
import { incomingResource } from '../../../webhooks/incoming/resource.ts';
import { findSecretless } from '../../../webhooks/incoming/verification.ts';
import { createNodeFiles } from '../../../store/disk/files.ts';
import { isReplica } from '../../../store/disk/inventory.ts';
import { loadSettings } from '../../../settings/load.ts';
import type { Settings } from '../../../settings/load.ts';
import { exchange } from '../../../server/local/call.ts';
import type { Tone } from '../../terminal/colour.ts';
import type { CommandContext } from '../context.ts';
import { findOwner } from '../../session/local.ts';
import { objectOf, textOf } from '../resource.ts';
import { isListening, tryToConnect } from '../../session/socket.ts';

type Finding = {
  readonly check: string;
  readonly status: 'ok' | 'warning' | 'failed';
  readonly detail: string;
  /** What to do; `''` for nothing. */
  readonly advice: string;
};
type Verdict = Omit<Finding, 'check'>;
type Check = (context: CommandContext, settings: Settings) => Verdict | Promise<Verdict>;

const GIBIBYTE = 1024 ** 3;
const FREE_BYTES_MIN = GIBIBYTE;
const CONNECT_TIMEOUT_MS = 2000;
const SERVER_TIMEOUT_MS = 5000;
// No clock that is right shows a time before this program was made.
const CLOCK_MS_MIN = Date.UTC(2025, 0, 1);
const CLOCK_SLACK_MS = 60_000;

const CHECKS: Readonly<Record<string, Check>> = {
  'node': checkNode,
  'data directory': checkDirectory,
  'lock': checkLock,
  'store': checkStore,
  'port': checkPort,
  'free disk': checkDisk,
  'file limits': checkLimits,
  'clock': checkClock,
  'proxy': checkProxy,
  'senders': checkSenders,
};

const TONES: Readonly<Record<Finding['status'], Tone>> = {
  ok: 'good', warning: 'warning', failed: 'bad',
};

/** Exit code 1 when a check failed. */
export async function examine(context: CommandContext): Promise<number> {
  const { settings, verdict } = loadOrDefault(context);
  const findings: Finding[] = [{ check: 'settings', ...verdict }];
  for (const [check, look] of Object.entries(CHECKS)) {
    findings.push({ check, ...await attempt(look, context, settings) });
  }
  await context.output.list(findings, [
    { title: 'CHECK', value: ({ check }) => check, isWhole: true },
    {
      title: 'STATUS', value: ({ status }) => status, isWhole: true,
      tone: ({ status }) => TONES[status],
    },
    { title: 'FOUND', value: ({ detail, advice }) =>
      advice === '' ? detail : `${detail}: ${advice}`, isProse: true },
  ], '');
  return findings.some(({ status }) => status === 'failed') ? 1 : 0;
}

/** The settings; the defaults where they are wrong, so that the rest can still be checked. */
function loadOrDefault(
  context: CommandContext,
): { readonly settings: Settings; readonly verdict: Verdict } {
  try {
    const { settings, warnings } = context.loadSettings();
    const [first] = warnings;
    return { settings, verdict: first === undefined
      ? ok('every setting is known and valid') : warning(first.problem, first.mend) };
  } catch (thrown) {
    return { settings: loadSettings().settings, verdict: failed(messageOf(thrown), '') };
  }
}

async function attempt(
  look: Check, context: CommandContext, settings: Settings,
): Promise<Verdict> {
  try {
    return await look(context, settings);
  } catch (thrown) {
    return warning(`could not be looked at (${messageOf(thrown)})`, '');
  }
}

function checkNode(): Verdict {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const isFit = major > 20 || (major === 20 && minor >= 15);
  const detail = `Node ${process.versions.node}`;
  return isFit ? ok(detail) : failed(detail, 'install 20.15 or later');
}

function checkDirectory({ enterData }: CommandContext): Verdict {
  const dataDirectory = enterData();
  const status = statSync(dataDirectory, { throwIfNoEntry: false });
  if (status === undefined) {
    return isWritable(dirname(dataDirectory))
      ? ok(`${dataDirectory} will be made at the first start`)
      : failed(`${dataDirectory} cannot be made`, 'make it, or name another with --data');
  }
  if (!status.isDirectory()) {
    return failed(`${dataDirectory} is not a directory`, 'name one with --data');
  }
  if (!isWritable(dataDirectory)) {
    const user = process.getuid?.();
    return failed(`${dataDirectory} cannot be written`, status.uid === user
      ? `chmod u+rwx ${dataDirectory}`
      : `give it to this user: chown ${user ?? '<user>'} ${dataDirectory}`);
  }
  return (status.mode & 0o077) === 0
    ? ok(`${dataDirectory} is writable, and private`)
    : warning(`${dataDirectory} is open to other users`, `chmod 700 ${dataDirectory}`);
}

async function checkLock({ enterData }: CommandContext): Promise<Verdict> {
  const owner = findOwner(enterData());
  if (owner === null) return ok('nobody holds the data directory');
  const { pid, socketPath } = owner;
  if (socketPath === null || !(await isListening(socketPath))) {
    return ok(`pid ${pid} held the data directory and serves no commands`);
  }
  const server = `the server that holds the data directory (pid ${pid})`;
  const signal = AbortSignal.timeout(SERVER_TIMEOUT_MS);
  try {
    await exchange({ socketPath, signal }, { method: 'GET', path: '/readyz' });
  } catch (thrown) {
    return signal.aborted ? failed(`${server} does not answer`, 'see its log, or restart it')
      : failed(`${server} is not ready`, messageOf(thrown));
  }
  return ok(`a server holds the data directory and answers (pid ${pid})`);
}

async function checkStore({ enterData }: CommandContext, settings: Settings): Promise<Verdict> {
  try {
    const engine = await engineOf(settings);
    if (engine !== null) return ok(`${engine.name}: ${await engine.inspect()}`);
    return isReplica(createNodeFiles(), enterData())
      ? warning('the data directory is a node\'s, whose records an engine keeps, and these '
        + 'settings name none', 'name it in store.url')
      : ok('files in the data directory');
  } catch (thrown) {
    return failed('store.url cannot be used', messageOf(thrown));
  }
}

/** Checks the ports that a running server has, which may differ from those of the settings. */
async function checkPort(
  { enterData, identity }: CommandContext, { server: { host, port } }: Settings,
): Promise<Verdict> {
  const socketPath = findOwner(enterData())?.socketPath ?? null;
  if (socketPath !== null && await isListening(socketPath)) return checkServersPorts(socketPath);
  if (port === 0) return ok('the kernel chooses a port');
  const code = await tryToListen(host, port);
  if (code === null) return ok(`port ${port} of ${host} is free`);
  if (code === 'EADDRINUSE') {
    return failed(`port ${port} of ${host} is in use`, 'choose another with --port');
  }
  // We are the directory's owner by now; a server opens the port while it is still root.
  if (code === 'EACCES' && identity.needsSwitch) {
    return warning(`port ${port} of ${host} is for root to open`, 'name it to serve with --port');
  }
  const advice = code === 'EACCES' ? 'choose a port above 1023' : 'correct --host';
  return failed(`port ${port} of ${host} cannot be listened on (${code})`, advice);
}

async function checkServersPorts(socketPath: string): Promise<Verdict> {
  const signal = AbortSignal.timeout(SERVER_TIMEOUT_MS);
  const call = { method: 'GET', path: '/control/places' } as const;
  const answer = await exchange({ socketPath, signal }, call).catch(() => null);
  if (answer === null) return warning('the running server does not say where it listens', '');
  const { places } = objectOf(answer.body);
  const urls: string[] = [];
  for (const place of Array.isArray(places) ? places.map(objectOf) : []) {
    const url = textOf(place['url']);
    const problem = await tryToConnect(
      { host: textOf(place['host']), port: Number(place['port']) }, CONNECT_TIMEOUT_MS,
    );
    if (problem !== null) {
      return failed(`our server listens on ${url}, where nobody answers (${problem})`,
        'see its log, or restart it');
    }
    urls.push(url);
  }
  return ok(urls.length === 0 ? 'our server listens on no port'
    : `our server listens on ${urls.join(' and ')}, and answers`);
}

function tryToListen(host: string, port: number): Promise<string | null> {
  return new Promise((resolve) => {
    const server = createServer();
    server.on('error', (error) => resolve(systemCodeOf(error) ?? messageOf(error)));
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(null)));
  });
}

function checkDisk({ enterData }: CommandContext): Verdict {
  let folder = enterData();
  while (statSync(folder, { throwIfNoEntry: false }) === undefined) folder = dirname(folder);
  const { bavail, bsize } = statfsSync(folder);
  const detail = `${(bavail * bsize / GIBIBYTE).toFixed(1)} GiB free`;
  return bavail * bsize >= FREE_BYTES_MIN
    ? ok(detail) : warning(detail, 'a compaction needs as much room as the data has');
}

function checkLimits(_context: CommandContext, { server }: Settings): Verdict {
  const limits = readFileSync('/proc/self/limits', 'utf8');
  const [, soft = ''] = /^Max open files\s+(\S+)/m.exec(limits) ?? [];
  const detail = `${soft} open files, ${server.maxConnections} connections wanted`;
  const isFit = soft === 'unlimited'
    || Number(soft) >= server.maxConnections + DESCRIPTORS_RESERVED;
  return isFit ? ok(detail)
    : warning(detail, `ulimit -n ${server.maxConnections + DESCRIPTORS_RESERVED}, or lower `
      + 'server.maxConnections; fewer connections are accepted as it is');
}

function checkClock({ enterData, io }: CommandContext): Verdict {
  const nowMs = io.now();
  const shown = new Date(nowMs).toISOString();
  if (nowMs < CLOCK_MS_MIN) return failed(`the clock shows ${shown}`, 'set the clock');
  const newestMs = newestChange(enterData());
  return newestMs > nowMs + CLOCK_SLACK_MS
    ? warning(`the clock shows ${shown}, before the newest file was written`, 'set the clock')
    : ok(`the clock shows ${shown}`);
}

function newestChange(directory: string): number {
  try {
    return readdirSync(directory).reduce((newest, name) =>
      Math.max(newest, statSync(join(directory, name)).mtimeMs), 0);
  } catch {
    return 0;
  }
}

async function checkProxy(_context: CommandContext, { http }: Settings): Promise<Verdict> {
  if (http.proxy === null) return ok('none is set');
  const { hostname, port, protocol } = new URL(http.proxy);
  const defaultPort = protocol === 'https:' ? 443 : 80;
  const host = hostname.replace(/^\[|\]$/g, '');
  const problem = await tryToConnect(
    { host, port: port === '' ? defaultPort : Number(port) }, CONNECT_TIMEOUT_MS,
  );
  const shown = redactText(http.proxy);
  return problem === null ? ok(`${shown} answers`)
    : failed(`${shown} does not answer (${problem})`, 'correct http.proxy, or start the proxy');
}

/** Whether a webhook refuses everything, as the server knows it. */
async function checkSenders({ enterData }: CommandContext): Promise<Verdict> {
  const socketPath = findOwner(enterData())?.socketPath ?? null;
  if (socketPath === null || !(await isListening(socketPath))) {
    return ok('looked at while a server runs');
  }
  const signal = AbortSignal.timeout(SERVER_TIMEOUT_MS);
  const call = { method: 'GET', path: `${incomingResource.path}?limit=1000` } as const;
  const { body } = await exchange({ socketPath, signal }, call);
  const [first, ...others] = findSecretless(Array.isArray(body) ? body.map(objectOf) : []);
  if (first === undefined) return ok('every webhook that needs a secret has one');
  const more = others.length === 0 ? '' : ` (and ${others.length} more)`;
  return warning(`${first}${more}`, 'set it: incomingwebhook:update --secret-file');
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK | constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function ok(detail: string): Verdict {
  return { status: 'ok', detail, advice: '' };
}

function warning(detail: string, advice: string): Verdict {
  return { status: 'warning', detail, advice };
}

function failed(detail: string, advice: string): Verdict {
  return { status: 'failed', detail, advice };
}
