/**
 * `doctor`: checks what a server needs and says what to do. Changes nothing. Where a server runs,
 * it is asked: this command has neither its environment nor, elsewhere, its machine.
 */
import { accessSync, constants, readdirSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import type { NetConnectOpts } from 'node:net';
import { dirname, join } from 'node:path';
import { createConfiguredEngine } from '../../../app/shared-log.ts';
import { messageOf, systemCodeOf } from '../../../base/errors.ts';
import { describeFileError, explainFileError } from '../../../base/file-error.ts';
import { redactText } from '../../../base/log.ts';
import { lazyImport } from '../../../base/lazy-import.ts';
import { quotePath } from '../../../base/text/shell-quote.ts';
import { isDamage } from '../../../store/generations/damage-error.ts';
import { createNodeFiles } from '../../../store/disk/files.ts';
import {
  isReplicaDirectory, isStoreName, listStateNames, readInventory,
} from '../../../store/disk/inventory.ts';
import { readCopiedOwner } from '../../../store/lock/directory-lock.ts';
import { loadSettings } from '../../../settings/load-settings.ts';
import type { LoadedSettings, Settings } from '../../../settings/load-settings.ts';
import {
  describeOrigins, listPublicSettings, parsePublicSettings,
} from '../../../settings/public-settings.ts';
import type { Tone } from '../../terminal/colour.ts';
import type { CommandContext } from '../command-context.ts';
import { findOwner } from '../../api-client/local-app.ts';
import { expectObject, formatValue } from '../resource-commands.ts';
import { tryToConnect } from '../../api-client/socket-target.ts';
import {
  checkAccess, checkBoundTokens, checkTokenExpiry, readStoredTokens,
} from './doctor-access.ts';
import { checkBackups } from './doctor-backups.ts';
import { checkActions, checkCertificate, checkCommands } from './doctor-files.ts';
import { checkClock, checkDisk, checkLimits, checkNode, checkVersion } from './doctor-machine.ts';
import { failed, hint, ok, warning } from './doctor-finding.ts';
import type { DoctorCheck, DoctorFinding, DoctorSubject } from './doctor-finding.ts';
import { SERVER_CHECKS } from './doctor-server.ts';
import { describeSource, findRunningServer } from './running-server.ts';
import type { RunningServer } from './running-server.ts';

// Loaded lazily: the module loads the whole app, which is not needed where a server runs.
const loadVerification = lazyImport(() => import('../../../app/verify-start.ts'));
const CONNECT_TIMEOUT_MS = 2000;
/** A store of this size takes about a second to read, and as much memory. */
const VERIFIED_BYTES_MAX = 128 * 2 ** 20;
/** The checks of this machine, which tell nothing of a server elsewhere. */
const MACHINE_CHECKS: readonly string[] = [
  'data directory', 'access', 'actions', 'commands', 'free disk', 'clock', 'proxy',
];

type NamedFinding = DoctorFinding & { readonly check: string };

const CHECKS: Readonly<Record<string, DoctorCheck>> = {
  'version': checkVersion,
  'node': checkNode,
  'data directory': checkDirectory,
  'lock': checkLock,
  'store': checkStore,
  'access': checkAccess,
  'bound tokens': checkBoundTokens,
  'token expiry': checkTokenExpiry,
  'port': checkPort,
  'certificate': checkCertificate,
  'actions': checkActions,
  'commands': checkCommands,
  'free disk': checkDisk,
  'file limits': checkLimits,
  'clock': checkClock,
  'proxy': checkProxy,
  ...SERVER_CHECKS,
  'backups': checkBackups,
};

const TONES: Readonly<Record<NamedFinding['status'], Tone>> = {
  ok: 'good', hint: 'warning', warning: 'warning', failed: 'bad',
};

/** Exit code 1 when a check failed. */
export async function runDoctor(context: CommandContext): Promise<number> {
  const refusal = findClosedDirectory(context);
  const findings = refusal === null ? await findAll(context)
    : [{ check: 'data directory', ...refusal }];
  await context.output.list(findings, [
    { title: 'CHECK', value: ({ check }) => check, fit: 'whole' },
    {
      title: 'STATUS', value: ({ status }) => status, fit: 'whole',
      tone: ({ status }) => TONES[status],
    },
    { title: 'FOUND', value: ({ detail, advice }) =>
      advice === '' ? detail : `${detail}: ${advice}`, fit: 'wrap' },
  ], '');
  return findings.some(({ status }) => status === 'failed') ? 1 : 0;
}

/** The one finding where we may not look into the data directory, or null: all else needs it. */
function findClosedDirectory(context: CommandContext): DoctorFinding | null {
  if (context.serverUrl !== null) return null;
  try {
    readdirSync(context.enterDataAsOwner());
    return null;
  } catch (thrown) {
    if (systemCodeOf(thrown) !== 'EACCES') return null;
    const { cause, remedy } = describeFileError(thrown);
    return failed(`nothing could be looked at (${cause})`, remedy ?? 'run doctor as its owner');
  }
}

async function findAll(context: CommandContext): Promise<readonly NamedFinding[]> {
  const { subject, findings: settingsFindings } = await findSubject(context);
  const findings: NamedFinding[] =
    settingsFindings.map((finding) => ({ check: 'settings', ...finding }));
  for (const [name, check] of Object.entries(CHECKS)) {
    if (context.serverUrl !== null && MACHINE_CHECKS.includes(name)) continue;
    for (const finding of [await tryCheck(check, subject)].flat()) {
      findings.push({ check: name, ...finding });
    }
  }
  return findings;
}

/** Finds the subject of the checks, and says whose settings it has. */
async function findSubject(context: CommandContext): Promise<{
  readonly subject: DoctorSubject; readonly findings: readonly DoctorFinding[];
}> {
  const { loaded, findings } = loadOwnSettings(context);
  try {
    const server = await findRunningServer(context);
    const settings = server === null ? loaded.settings
      : parsePublicSettings(server.settings, server.name);
    const origins = describeOrigins(server?.settings ?? listPublicSettings(loaded));
    return {
      subject: createSubject(context, settings, () => server),
      findings: [...findings, ok(`of ${describeSource(server, context)}: ${origins}`)],
    };
  } catch (thrown) {
    if (context.serverUrl !== null) throw thrown;
    const getServer = (): never => {
      throw thrown;
    };
    const problem = `of this command, as the server's are not known (${messageOf(thrown)})`;
    return {
      subject: createSubject(context, loaded.settings, getServer),
      findings: [...findings, warning(problem, '')],
    };
  }
}

function createSubject(
  context: CommandContext, settings: Settings, getServer: DoctorSubject['getServer'],
): DoctorSubject {
  let reading: ReturnType<typeof readStoredTokens> | null = null;
  return {
    context, settings, getServer,
    readStoredTokens: () => reading ??= readStoredTokens({ context, settings }),
  };
}

/** The settings of this command; the defaults where they are wrong, to check the rest. */
function loadOwnSettings(context: CommandContext): {
  readonly loaded: LoadedSettings; readonly findings: readonly DoctorFinding[];
} {
  try {
    const loaded = context.loadSettings();
    return { loaded, findings: loaded.warnings.map(({ problem, fix }) => warning(problem, fix)) };
  } catch (thrown) {
    const problem = `of this command: ${messageOf(thrown)}`;
    return { loaded: loadSettings(), findings: [failed(problem, '')] };
  }
}

async function tryCheck(
  check: DoctorCheck, subject: DoctorSubject,
): Promise<Awaited<ReturnType<DoctorCheck>>> {
  try {
    return await check(subject);
  } catch (thrown) {
    const reason = isDamage(thrown) ? 'see store' : explainFileError(thrown);
    return warning(`could not be looked at (${reason})`, '');
  }
}

function checkDirectory({ context }: DoctorSubject): DoctorFinding {
  const dataDirectory = context.enterDataAsOwner();
  const status = statSync(dataDirectory, { throwIfNoEntry: false });
  if (status === undefined) {
    const problem = `${dataDirectory} cannot be made`;
    return findRefusal(dirname(dataDirectory), constants.W_OK | constants.X_OK, problem)
      ?? ok(`${dataDirectory} will be made at the first start`);
  }
  if (!status.isDirectory()) {
    return failed(`${dataDirectory} is not a directory`, 'name one with --data');
  }
  const rights = constants.R_OK | constants.W_OK | constants.X_OK;
  const refusal = findRefusal(dataDirectory, rights, `${dataDirectory} cannot be written`)
    ?? findRefusalWithin(dataDirectory);
  if (refusal !== null) return refusal;
  return (status.mode & 0o077) === 0
    ? ok(`${dataDirectory} is writable, and private`)
    : warning(`${dataDirectory} is open to other users`, `chmod 700 ${quotePath(dataDirectory)}`);
}

/** Finds a file of somebody else, such as one that a command of root has left there. */
function findRefusalWithin(directory: string): DoctorFinding | null {
  for (const name of readdirSync(directory)) {
    const isWritten = isStoreName(name) || name === 'lock';
    const rights = isWritten ? constants.R_OK | constants.W_OK : constants.R_OK;
    const path = join(directory, name);
    const refusal = findRefusal(path, rights, `${path} cannot be used`);
    if (refusal !== null) return refusal;
  }
  return null;
}

/** Null where the rights are ours, or nothing is there; else `problem` with cause and remedy. */
function findRefusal(path: string, rights: number, problem: string): DoctorFinding | null {
  try {
    accessSync(path, rights);
    return null;
  } catch (thrown) {
    if (systemCodeOf(thrown) === 'ENOENT') return null;
    const { cause, remedy } = describeFileError(thrown);
    return failed(`${problem} (${cause})`, remedy ?? 'name another with --data');
  }
}

function checkLock({ context, getServer }: DoctorSubject): DoctorFinding {
  let server: RunningServer | null;
  try {
    server = getServer();
  } catch (thrown) {
    return failed(messageOf(thrown), 'see its log, or restart it');
  }
  if (server === null) {
    const data = context.enterDataAsOwner();
    const owner = findOwner(data);
    if (owner !== null) {
      return ok(`pid ${owner.pid} held the data directory and serves no commands`);
    }
    const copiedOwner = readCopiedOwner(data);
    return ok(copiedOwner === null ? 'nobody holds the data directory'
      : `nobody holds the data directory, which is a copy of that of pid ${copiedOwner.pid}: `
        + 'commands and serve work on the copy alone');
  }
  const { isReady, reason } = server.status;
  return isReady === true ? ok(`${server.name} answers`)
    : failed(`${server.name} is not ready`, formatValue(reason));
}

async function checkStore(
  { context, settings, getServer, readStoredTokens }: DoctorSubject,
): Promise<DoctorFinding> {
  const server = getServer();
  if (server !== null) {
    const { engine, durability } = expectObject(server.status['store']);
    return ok(typeof engine === 'string' ? `${engine}: ${formatValue(durability)}`
      : 'files in the data directory');
  }
  try {
    const engine = await createConfiguredEngine(settings);
    if (engine !== null) return ok(`${engine.name}: ${await engine.inspect()}`);
  } catch (thrown) {
    return failed('store.url cannot be used', messageOf(thrown));
  }
  if (isReplicaDirectory(createNodeFiles(), context.enterDataAsOwner())) {
    return warning('the data directory is a node\'s, whose records an engine keeps, and these '
      + 'settings name none', 'name it in store.url');
  }
  try {
    return await verifyStore(context.enterDataAsOwner(), readStoredTokens);
  } catch (thrown) {
    if (!isDamage(thrown)) throw thrown;
    return failed(messageOf(thrown), '');
  }
}

/** Reads what a start reads, and throws as that does; of a large store, the journals alone. */
async function verifyStore(
  directory: string, readStoredTokens: DoctorSubject['readStoredTokens'],
): Promise<DoctorFinding> {
  const files = createNodeFiles();
  const names = files.existsSync(directory) ? listStateNames(readInventory(files, directory)) : [];
  if (names.length === 0) {
    // Throws where `lock` tells that there was data.
    await readStoredTokens();
    return ok('nothing is stored yet');
  }
  const sizes = names.map((name) =>
    statSync(join(directory, name), { throwIfNoEntry: false })?.size ?? 0);
  if (sizes.reduce((sum, size) => sum + size, 0) > VERIFIED_BYTES_MAX) {
    await readStoredTokens();
    return hint('the journals are whole; not verified are the snapshots, which are large',
      'data:verify reads them');
  }
  const { verifyStart } = await loadVerification();
  const { notes } = await verifyStart(directory);
  return notes.length === 0 ? ok('files in the data directory, all of them whole')
    : warning(notes.join('; '), '');
}

/** Checks the ports that a running server has, which may differ from those of the settings. */
async function checkPort(
  { context, settings, getServer }: DoctorSubject,
): Promise<DoctorFinding> {
  const server = getServer();
  if (server !== null) return checkServersPorts(server, context.serverUrl === null);
  const { host, port } = settings.server;
  if (port === 0) return ok('the kernel chooses a port');
  const code = await tryToListen(host, port);
  if (code === null) return ok(`port ${port} of ${host} is free`);
  if (code === 'EADDRINUSE') {
    return failed(`port ${port} of ${host} is in use, though no server runs here: by another `
      + 'program, a server of another directory, or a socket unit that starts this one',
    'choose another with --port; a socket unit (systemctl list-sockets) is as it should be');
  }
  // We run as the directory's owner by now; a server opens the port while it is still root.
  if (code === 'EACCES' && context.identity.needsSwitch) {
    return warning(`port ${port} of ${host} is for root to open`, 'name it to serve with --port');
  }
  const advice = code === 'EACCES' ? 'choose a port above 1023' : 'correct --host';
  return failed(`port ${port} of ${host} cannot be listened on (${code})`, advice);
}

async function checkServersPorts(
  { status }: RunningServer, isOnThisMachine: boolean,
): Promise<DoctorFinding> {
  const { urls } = expectObject(status['server']);
  const names = Array.isArray(urls) ? urls.map(formatValue) : [];
  for (const url of isOnThisMachine ? names : []) {
    const address = parseAddress(url);
    const problem = address === null ? null : await tryToConnect(address, CONNECT_TIMEOUT_MS);
    if (problem !== null) {
      return failed(`our server listens on ${url}, where nobody answers (${problem})`,
        'see its log, or restart it');
    }
  }
  return ok(names.length === 0 ? 'our server listens on no port'
    : `our server listens on ${names.join(' and ')}${isOnThisMachine ? ', and answers' : ''}`);
}

/** Null for a unix socket whose path the system does not tell. */
function parseAddress(url: string): NetConnectOpts | null {
  if (!url.startsWith('unix:')) return parseTcpAddress(url);
  const path = url.slice('unix:'.length);
  return /^[/@]/.test(path) ? { path: path.replace(/^@/, '\0') } : null;
}

/** The URL may leave out the port of its scheme. */
function parseTcpAddress(url: string): { readonly host: string; readonly port: number } {
  const { hostname, port, protocol } = new URL(url);
  const defaultPort = protocol === 'https:' ? 443 : 80;
  return {
    host: hostname.replace(/^\[|\]$/g, ''), port: port === '' ? defaultPort : Number(port),
  };
}

/** Resolves with null once it has listened there, else with the error code of the system. */
function tryToListen(host: string, port: number): Promise<string | null> {
  return new Promise((resolve) => {
    const server = createServer();
    server.on('error', (error) => resolve(systemCodeOf(error) ?? messageOf(error)));
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(null)));
  });
}

async function checkProxy({ settings: { http } }: DoctorSubject): Promise<DoctorFinding> {
  if (http.proxy === null) return ok('none is set');
  const problem = await tryToConnect(parseTcpAddress(http.proxy), CONNECT_TIMEOUT_MS);
  const url = redactText(http.proxy);
  return problem === null ? ok(`${url} answers`)
    : failed(`${url} does not answer (${problem})`, 'correct http.proxy, or start the proxy');
}
