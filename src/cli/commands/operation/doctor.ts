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
import type { JsonObject } from '../../../base/schema.ts';
import { joinFirst } from '../../../base/text/error-message.ts';
import { SYSTEM_EVENTS } from '../../../webhooks/actions/event-name.ts';
import { incomingResource } from '../../../webhooks/incoming/incoming-resource.ts';
import { findWebhooksWithoutSecret } from '../../../webhooks/incoming/verification-member.ts';
import {
  findEndingCertificates,
} from '../../../webhooks/outgoing/client-certificate-member.ts';
import { outgoingResource } from '../../../webhooks/outgoing/outgoing-resource.ts';
import { missesSystemEvents } from '../../../webhooks/outgoing/outgoing-webhook.ts';
import { isDamage } from '../../../store/generations/damage-error.ts';
import { createNodeFiles } from '../../../store/disk/files.ts';
import { isReplicaDirectory, isStoreName } from '../../../store/disk/inventory.ts';
import { loadSettings } from '../../../settings/load-settings.ts';
import type { LoadedSettings, Settings } from '../../../settings/load-settings.ts';
import {
  describeOrigins, listPublicSettings, parsePublicSettings,
} from '../../../settings/public-settings.ts';
import type { Tone } from '../../terminal/colour.ts';
import type { CommandContext } from '../command-context.ts';
import { nodeResource } from '../../../nodes/node-resource.ts';
import { findOwner } from '../../api-client/local-app.ts';
import { expectObject, expectObjects, formatValue, webhookLabel } from '../resource-commands.ts';
import { tryToConnect } from '../../api-client/socket-target.ts';
import {
  checkAccess, checkBoundTokens, checkTokenExpiry, readStoredTokens,
} from './doctor-access.ts';
import { listWebhookTriggers } from './bound-tokens.ts';
import { checkBackups } from './doctor-backups.ts';
import { checkActions, checkCertificate, checkCommands } from './doctor-files.ts';
import { describeFollowers } from './doctor-followers.ts';
import { checkClock, checkDisk, checkLimits, checkNode } from './doctor-machine.ts';
import { checkOfServer, failed, hint, ok, warning } from './doctor-finding.ts';
import type { DoctorCheck, DoctorFinding, DoctorSubject } from './doctor-finding.ts';
import { describeSource, findRunningServer } from './running-server.ts';
import type { RunningServer } from './running-server.ts';

const CONNECT_TIMEOUT_MS = 2000;
/** The checks of this machine, which tell nothing of a server elsewhere. */
const MACHINE_CHECKS: readonly string[] = [
  'data directory', 'access', 'actions', 'commands', 'free disk', 'clock', 'proxy',
];

type NamedFinding = DoctorFinding & { readonly check: string };

const CHECKS: Readonly<Record<string, DoctorCheck>> = {
  'node': checkNode,
  'data directory': checkDirectory,
  'lock': checkLock,
  'store': checkStore,
  'access': checkAccess,
  'bound tokens': checkBoundTokens,
  'token expiry': checkTokenExpiry,
  'port': checkPort,
  'certificate': checkCertificate,
  'actions': async (subject) =>
    await findSwitchedOffActions(subject.getServer()) ?? checkActions(subject),
  'commands': checkCommands,
  'free disk': checkDisk,
  'file limits': checkLimits,
  'clock': checkClock,
  'proxy': checkProxy,
  'senders': checkOfServer(checkSenders),
  'own events': checkOfServer(checkOwnEvents),
  'incoming': checkOfServer(checkIncomingHealth),
  'outgoing': checkOfServer(checkOutgoingHealth),
  'outgoing TLS': checkOfServer(checkClientCertificates),
  'queue': checkOfServer(checkQueue),
  'order': checkOfServer(checkOrder),
  'hosts': checkOfServer(checkHosts),
  'followers': checkOfServer(checkFollowers),
  'nodes': checkOfServer(checkNodes),
  'backups': checkBackups,
};

const TONES: Readonly<Record<NamedFinding['status'], Tone>> = {
  ok: 'good', hint: 'warning', warning: 'warning', failed: 'bad',
};

/** Exit code 1 when a check failed. */
export async function runDoctor(context: CommandContext): Promise<number> {
  const { subject, findings: settingsFindings } = await findSubject(context);
  const findings: NamedFinding[] =
    settingsFindings.map((finding) => ({ check: 'settings', ...finding }));
  for (const [name, check] of Object.entries(CHECKS)) {
    if (context.serverUrl !== null && MACHINE_CHECKS.includes(name)) continue;
    for (const finding of [await tryCheck(check, subject)].flat()) {
      findings.push({ check: name, ...finding });
    }
  }
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
    return warning(`could not be looked at (${explainFileError(thrown)})`, '');
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
    : warning(`${dataDirectory} is open to other users`, `chmod 700 ${dataDirectory}`);
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
    const owner = findOwner(context.enterDataAsOwner());
    return ok(owner === null ? 'nobody holds the data directory'
      : `pid ${owner.pid} held the data directory and serves no commands`);
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
    await readStoredTokens();
    return ok('files in the data directory, all of which data:verify reads');
  } catch (thrown) {
    if (!isDamage(thrown)) throw thrown;
    return failed(messageOf(thrown), '');
  }
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

/** Finds webhooks that reject every request, as they need a secret and have none. */
async function checkSenders(server: RunningServer): Promise<DoctorFinding> {
  const webhooks = await fetchWebhooks(server, incomingResource.path);
  const [first, ...others] = findWebhooksWithoutSecret(webhooks);
  if (first === undefined) return ok('every webhook that needs a secret has one');
  const more = others.length === 0 ? '' : ` (and ${others.length} more)`;
  return warning(`${first}${more}`, 'set it: incomingwebhook:update --secret-file');
}

/** Finds the actions that the running server has switched off; null: none, or no server. */
async function findSwitchedOffActions(
  server: RunningServer | null,
): Promise<DoctorFinding | null> {
  if (server === null) return null;
  const switchedOff = expectObjects(await server.ask('/api/actions'))
    .filter(({ switchedOffUntil }) => typeof switchedOffUntil === 'string');
  if (switchedOff.length === 0) return null;
  const labels = switchedOff.map(({ identifier, module, switchedOffUntil }) =>
    `${formatValue(identifier)} (${formatValue(module)}) until ${formatValue(switchedOffUntil)}`);
  return warning(`switched off, as they ended the worker of the modules: ${labels.join(', ')}`,
    'see the log for how they ended it, and mend the modules');
}

/** Finds webhooks on `*` alone, which get every event except those about hookshelf itself. */
async function checkOwnEvents(server: RunningServer): Promise<DoctorFinding> {
  const webhooks = await fetchWebhooks(server, outgoingResource.path);
  const names = webhooks.filter((webhook) =>
    missesSystemEvents({ triggerEvents: listWebhookTriggers(webhook) })).map(webhookLabel);
  if (names.length === 0) return ok('no webhook on `*` misses an event about hookshelf itself');
  return hint(
    'on `*`, which hears no event about hookshelf itself, without the names of all: '
      + joinFirst(names),
    `a webhook of yours that is to hear them names each: ${SYSTEM_EVENTS.join(', ')}, or `
      + 'delivery.*; that of a customer must not, as they are about the webhooks of all');
}

/** Finds incoming webhooks whose actions fail, and those that reject most requests. */
function checkIncomingHealth(server: RunningServer): DoctorFinding {
  const webhooks = selectUnhealthy(server, 'incoming');
  if (webhooks.length === 0) return ok('no incoming webhook fails or rejects most requests');
  return warning(describeUnhealthy(webhooks),
    webhooks.some(({ state }) => state === 'failing')
      ? 'mend the action; what was accepted and has failed runs again by: request:replay --failed'
      : 'correct the webhook or its sender; the log has the check, and incomingwebhook:diagnose '
        + 'more');
}

/** Finds outgoing webhooks that fail, and those that were switched off by what they met. */
function checkOutgoingHealth(server: RunningServer): DoctorFinding {
  const webhooks = selectUnhealthy(server, 'outgoing');
  if (webhooks.length === 0) {
    return ok('no outgoing webhook fails or was switched off by a failure that nobody has seen');
  }
  return warning(describeUnhealthy(webhooks),
    webhooks.some(({ state }) => state === 'off')
      ? 'mend the target, then enable it: outgoingwebhook:enable; if it is to stay off: '
        + 'outgoingwebhook:acknowledge'
      : 'mend the target; what waits is tried again by itself, and what has failed by: '
        + 'delivery:retry --failed');
}

function selectUnhealthy(
  { status: { unhealthy } }: RunningServer, direction: 'incoming' | 'outgoing',
): readonly JsonObject[] {
  return (Array.isArray(unhealthy) ? unhealthy.map(expectObject) : [])
    .filter((webhook) => webhook['direction'] === direction);
}

function describeUnhealthy(webhooks: readonly JsonObject[]): string {
  return joinFirst(webhooks.map(({ webhook, state, reason }) =>
    `${formatValue(webhook)} is ${formatValue(state)} `
      + `(${typeof reason === 'string' ? reason : 'no reason is known'})`), { separator: '; ' });
}

/** Tells whether the queue of deliveries is full: then what would queue one more gets 503. */
function checkQueue({ status }: RunningServer): DoctorFinding {
  const { fullReason } = expectObject(status['deliveries']);
  return typeof fullReason !== 'string' ? ok('there is room for deliveries')
    : warning(`what would queue a delivery gets 503: ${fullReason}`,
      'see why targets do not take what waits, cancel it by delivery:cancel, or raise that');
}

/** Finds webhooks whose targets will soon refuse them, or do already. */
async function checkClientCertificates(
  server: RunningServer, { io }: CommandContext,
): Promise<DoctorFinding> {
  const webhooks = await fetchWebhooks(server, outgoingResource.path);
  const [first, ...others] = findEndingCertificates(webhooks, io.now());
  if (first === undefined) return ok('no client certificate ends within 30 days');
  const more = others.length === 0 ? '' : ` (and ${others.length} more)`;
  return warning(`${first}${more}`, 'renew it: outgoingwebhook:update --client-certificate');
}

/** Finds keys whose first delivery holds back many others. */
function checkOrder({ status }: RunningServer): DoctorFinding {
  const { heldBack } = status;
  const keys = Array.isArray(heldBack) ? heldBack.map(expectObject) : [];
  if (keys.length === 0) return ok('no key holds back more than a hundred deliveries');
  const labels = keys.map(({ hook, key, waiting }) =>
    `${JSON.stringify(key)} of ${formatValue(hook)} (${formatValue(waiting)} wait)`);
  return warning(`keys hold back what comes after: ${joinFirst(labels)}`,
    'see why the first is not done, and retry or cancel it: delivery:list --hook, request:list');
}

/** Finds webhooks that wait for a place at their host, as others have them. */
function checkHosts({ status }: RunningServer): DoctorFinding {
  const { waiting } = status;
  const waits = Array.isArray(waiting) ? waiting.map(expectObject) : [];
  if (waits.length === 0) return ok('no webhook waits for a place at its host');
  const labels = waits.map(({ hook, target, since, behind }) =>
    `${formatValue(hook)} for ${formatValue(target)} since ${formatValue(since)}, behind `
    + (Array.isArray(behind) ? behind.map(formatValue).join(', ') : ''));
  return warning('webhooks wait for a place at their host: '
    + joinFirst(labels, { separator: '; ' }),
    'see why those before them are slow, disable them, or raise http.maxSocketsPerHost');
}

async function checkFollowers(
  { status, ask }: RunningServer, { io }: CommandContext,
): Promise<DoctorFinding> {
  return describeFollowers(status, await ask('/api/tokens'), io.now());
}

/** Finds nodes that have stopped, or do not reach the engine. */
async function checkNodes({ ask }: RunningServer): Promise<DoctorFinding> {
  const nodes = expectObjects(await ask(nodeResource.path));
  if (nodes.length === 0) return ok('no engine: the server is alone');
  const labels = nodes.filter(({ isLive }) => isLive !== true)
    .map(({ identifier, address, lastHeardAt }) => `${formatValue(address ?? identifier)} since `
      + formatValue(lastHeardAt));
  return labels.length === 0 ? ok(`all ${nodes.length} are heard`)
    : warning(`silent: ${joinFirst(labels)}`, 'see its log, or start it again');
}

/** The first thousand webhooks. */
async function fetchWebhooks(
  { ask }: RunningServer, path: string,
): Promise<readonly JsonObject[]> {
  return expectObjects(await ask(`${path}?limit=1000`));
}
