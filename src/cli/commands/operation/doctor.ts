/** `doctor`: checks what a server needs and says what to do. Changes nothing. */
import { accessSync, constants, readdirSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import type { NetConnectOpts } from 'node:net';
import { dirname, join } from 'node:path';
import { createConfiguredEngine } from '../../../app/shared-log.ts';
import { messageOf, systemCodeOf } from '../../../base/errors.ts';
import { describeFileError, explainFileError } from '../../../base/file-error.ts';
import { redactText } from '../../../base/log.ts';
import type { JsonObject } from '../../../base/schema.ts';
import { SYSTEM_EVENTS } from '../../../webhooks/actions/event-name.ts';
import { incomingResource } from '../../../webhooks/incoming/incoming-resource.ts';
import { findWebhooksWithoutSecret } from '../../../webhooks/incoming/verification-member.ts';
import {
  findEndingCertificates,
} from '../../../webhooks/outgoing/client-certificate-member.ts';
import { outgoingResource } from '../../../webhooks/outgoing/outgoing-resource.ts';
import { missesSystemEvents } from '../../../webhooks/outgoing/outgoing-webhook.ts';
import { createNodeFiles } from '../../../store/disk/files.ts';
import { isReplicaDirectory, isStoreName } from '../../../store/disk/inventory.ts';
import { loadSettings } from '../../../settings/load-settings.ts';
import type { Settings } from '../../../settings/load-settings.ts';
import { callApi } from '../../../server/local/api-call.ts';
import type { Tone } from '../../terminal/colour.ts';
import type { CommandContext } from '../command-context.ts';
import { findOwner } from '../../api-client/local-app.ts';
import { parseObject, formatValue, webhookLabel } from '../resource-commands.ts';
import { isListening, tryToConnect } from '../../api-client/socket-target.ts';
import { checkAccess } from './doctor-access.ts';
import { checkBackups } from './doctor-backups.ts';
import { checkActions, checkCertificate, checkCommands } from './doctor-files.ts';
import { describeFollowers } from './doctor-followers.ts';
import { checkClock, checkDisk, checkLimits, checkNode } from './doctor-machine.ts';
import { failed, hint, ok, warning } from './doctor-finding.ts';
import type { DoctorCheck, DoctorFinding } from './doctor-finding.ts';

const CONNECT_TIMEOUT_MS = 2000;
const SERVER_TIMEOUT_MS = 5000;
const WITHOUT_SERVER = 'looked at while a server runs';
/** At most so many webhooks are named in a finding. */
const NAMED_MAX = 5;

type NamedFinding = DoctorFinding & { readonly check: string };

const CHECKS: Readonly<Record<string, DoctorCheck>> = {
  'node': checkNode,
  'data directory': checkDirectory,
  'lock': checkLock,
  'store': checkStore,
  'access': checkAccess,
  'port': checkPort,
  'certificate': checkCertificate,
  'actions': async (context, settings) =>
    await findSwitchedOffActions(context) ?? checkActions(context, settings),
  'commands': checkCommands,
  'free disk': checkDisk,
  'file limits': checkLimits,
  'clock': checkClock,
  'proxy': checkProxy,
  'senders': checkSenders,
  'own events': checkOwnEvents,
  'outgoing': checkOutgoingHealth,
  'outgoing TLS': checkClientCertificates,
  'order': checkOrder,
  'hosts': checkHosts,
  'followers': checkFollowers,
  'backups': async (context, settings) =>
    checkBackups(context, settings, await fetchFromServer(context, '/api/status')),
};

const TONES: Readonly<Record<NamedFinding['status'], Tone>> = {
  ok: 'good', hint: 'warning', warning: 'warning', failed: 'bad',
};

/** Exit code 1 when a check failed. */
export async function runDoctor(context: CommandContext): Promise<number> {
  const { settings, settingsFinding } = loadSettingsOrDefaults(context);
  const findings: NamedFinding[] = [{ check: 'settings', ...settingsFinding }];
  for (const [name, check] of Object.entries(CHECKS)) {
    findings.push({ check: name, ...await tryCheck(check, context, settings) });
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

/** The settings; the defaults where they are wrong, so that the rest can still be checked. */
function loadSettingsOrDefaults(
  context: CommandContext,
): { readonly settings: Settings; readonly settingsFinding: DoctorFinding } {
  try {
    const { settings, warnings } = context.loadSettings();
    const [first] = warnings;
    return { settings, settingsFinding: first === undefined
      ? ok('every setting is known and valid') : warning(first.problem, first.fix) };
  } catch (thrown) {
    return { settings: loadSettings().settings, settingsFinding: failed(messageOf(thrown), '') };
  }
}

async function tryCheck(
  check: DoctorCheck, context: CommandContext, settings: Settings,
): Promise<DoctorFinding> {
  try {
    return await check(context, settings);
  } catch (thrown) {
    return warning(`could not be looked at (${explainFileError(thrown)})`, '');
  }
}

function checkDirectory({ enterDataAsOwner }: CommandContext): DoctorFinding {
  const dataDirectory = enterDataAsOwner();
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

async function checkLock({ enterDataAsOwner }: CommandContext): Promise<DoctorFinding> {
  const owner = findOwner(enterDataAsOwner());
  if (owner === null) return ok('nobody holds the data directory');
  const { pid, socketPath } = owner;
  if (socketPath === null || !(await isListening(socketPath))) {
    return ok(`pid ${pid} held the data directory and serves no commands`);
  }
  const server = `the server that holds the data directory (pid ${pid})`;
  const signal = AbortSignal.timeout(SERVER_TIMEOUT_MS);
  try {
    await callApi({ socketPath, signal }, { method: 'GET', path: '/readyz' });
  } catch (thrown) {
    return signal.aborted ? failed(`${server} does not answer`, 'see its log, or restart it')
      : failed(`${server} is not ready`, messageOf(thrown));
  }
  return ok(`a server holds the data directory and answers (pid ${pid})`);
}

async function checkStore(
  { enterDataAsOwner }: CommandContext, settings: Settings,
): Promise<DoctorFinding> {
  try {
    const engine = await createConfiguredEngine(settings);
    if (engine !== null) return ok(`${engine.name}: ${await engine.inspect()}`);
    return isReplicaDirectory(createNodeFiles(), enterDataAsOwner())
      ? warning('the data directory is a node\'s, whose records an engine keeps, and these '
        + 'settings name none', 'name it in store.url')
      : ok('files in the data directory');
  } catch (thrown) {
    return failed('store.url cannot be used', messageOf(thrown));
  }
}

/** Checks the ports that a running server has, which may differ from those of the settings. */
async function checkPort(
  { enterDataAsOwner, identity }: CommandContext, { server: { host, port } }: Settings,
): Promise<DoctorFinding> {
  const socketPath = findOwner(enterDataAsOwner())?.socketPath ?? null;
  if (socketPath !== null && await isListening(socketPath)) return checkServersPorts(socketPath);
  if (port === 0) return ok('the kernel chooses a port');
  const code = await tryToListen(host, port);
  if (code === null) return ok(`port ${port} of ${host} is free`);
  if (code === 'EADDRINUSE') {
    return failed(`port ${port} of ${host} is in use, though no server runs here: by another `
      + 'program, a server of another directory, or a socket unit that starts this one',
    'choose another with --port; a socket unit (systemctl list-sockets) is as it should be');
  }
  // We run as the directory's owner by now; a server opens the port while it is still root.
  if (code === 'EACCES' && identity.needsSwitch) {
    return warning(`port ${port} of ${host} is for root to open`, 'name it to serve with --port');
  }
  const advice = code === 'EACCES' ? 'choose a port above 1023' : 'correct --host';
  return failed(`port ${port} of ${host} cannot be listened on (${code})`, advice);
}

async function checkServersPorts(socketPath: string): Promise<DoctorFinding> {
  const signal = AbortSignal.timeout(SERVER_TIMEOUT_MS);
  const call = { method: 'GET', path: '/control/places' } as const;
  const response = await callApi({ socketPath, signal }, call).catch(() => null);
  if (response === null) return warning('the running server does not say where it listens', '');
  const { places } = parseObject(response.body);
  const urls: string[] = [];
  for (const listener of Array.isArray(places) ? places.map(parseObject) : []) {
    const url = formatValue(listener['url']);
    const address = readAddress(listener);
    const problem = address === null ? null : await tryToConnect(address, CONNECT_TIMEOUT_MS);
    if (problem !== null) {
      return failed(`our server listens on ${url}, where nobody answers (${problem})`,
        'see its log, or restart it');
    }
    urls.push(url);
  }
  return ok(urls.length === 0 ? 'our server listens on no port'
    : `our server listens on ${urls.join(' and ')}, and answers`);
}

/** Null for a unix socket whose path the system does not tell. */
function readAddress({ host, port, path }: JsonObject): NetConnectOpts | null {
  if (path === null) return null;
  return typeof path === 'string' ? { path: path.replace(/^@/, '\0') }
    : { host: formatValue(host), port: Number(port) };
}

/** Resolves with null once it has listened there, else with the error code of the system. */
function tryToListen(host: string, port: number): Promise<string | null> {
  return new Promise((resolve) => {
    const server = createServer();
    server.on('error', (error) => resolve(systemCodeOf(error) ?? messageOf(error)));
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(null)));
  });
}

async function checkProxy(_context: CommandContext, { http }: Settings): Promise<DoctorFinding> {
  if (http.proxy === null) return ok('none is set');
  const { hostname, port, protocol } = new URL(http.proxy);
  const defaultPort = protocol === 'https:' ? 443 : 80;
  const host = hostname.replace(/^\[|\]$/g, '');
  const problem = await tryToConnect(
    { host, port: port === '' ? defaultPort : Number(port) }, CONNECT_TIMEOUT_MS,
  );
  const url = redactText(http.proxy);
  return problem === null ? ok(`${url} answers`)
    : failed(`${url} does not answer (${problem})`, 'correct http.proxy, or start the proxy');
}

/** Finds webhooks that reject every request, as they need a secret and have none. */
async function checkSenders(context: CommandContext): Promise<DoctorFinding> {
  const webhooks = await fetchWebhooks(context, incomingResource.path);
  if (webhooks === null) return ok(WITHOUT_SERVER);
  const [first, ...others] = findWebhooksWithoutSecret(webhooks);
  if (first === undefined) return ok('every webhook that needs a secret has one');
  const more = others.length === 0 ? '' : ` (and ${others.length} more)`;
  return warning(`${first}${more}`, 'set it: incomingwebhook:update --secret-file');
}

/** Finds the actions that the running server has switched off; null: none, or no server. */
async function findSwitchedOffActions(context: CommandContext): Promise<DoctorFinding | null> {
  const actions = await fetchFromServer(context, '/api/actions');
  const switchedOff = (Array.isArray(actions) ? actions.map(parseObject) : [])
    .filter(({ switchedOffUntil }) => typeof switchedOffUntil === 'string');
  if (switchedOff.length === 0) return null;
  const labels = switchedOff.map(({ identifier, module, switchedOffUntil }) =>
    `${formatValue(identifier)} (${formatValue(module)}) until ${formatValue(switchedOffUntil)}`);
  return warning(`switched off, as they ended the worker of the modules: ${labels.join(', ')}`,
    'see the log for how they ended it, and mend the modules');
}

/** Finds webhooks on `*` alone, which get every event except those about hookshelf itself. */
async function checkOwnEvents(context: CommandContext): Promise<DoctorFinding> {
  const webhooks = await fetchWebhooks(context, outgoingResource.path);
  if (webhooks === null) return ok(WITHOUT_SERVER);
  const names = webhooks.filter((webhook) => missesSystemEvents(parseTriggers(webhook)))
    .map(webhookLabel);
  if (names.length === 0) return ok('no webhook on `*` misses an event about hookshelf itself');
  const more = names.length > NAMED_MAX ? ` and ${names.length - NAMED_MAX} more` : '';
  const label = `${names.slice(0, NAMED_MAX).join(', ')}${more}`;
  return hint(
    `on \`*\`, which hears no event about hookshelf itself, without the names of all: ${label}`,
    `a webhook that is to hear them names each: ${SYSTEM_EVENTS.join(', ')}, or delivery.*`);
}

/** Finds outgoing webhooks that fail, and those that were switched off by what they met. */
async function checkOutgoingHealth(context: CommandContext): Promise<DoctorFinding> {
  const status = await fetchFromServer(context, '/api/status');
  if (status === null) return ok(WITHOUT_SERVER);
  const { unhealthy } = parseObject(status);
  const labels = (Array.isArray(unhealthy) ? unhealthy.map(parseObject) : [])
    .filter(({ direction }) => direction === 'outgoing')
    .map(({ webhook, state, reason }) => `${formatValue(webhook)} is ${formatValue(state)} `
      + `(${typeof reason === 'string' ? reason : 'no reason is known'})`);
  if (labels.length === 0) return ok('no outgoing webhook fails or was switched off by a failure');
  const more = labels.length > NAMED_MAX ? ` and ${labels.length - NAMED_MAX} more` : '';
  return warning(`${labels.slice(0, NAMED_MAX).join('; ')}${more}`,
    'mend the target, then enable it: outgoingwebhook:enable');
}

/** Finds webhooks whose targets will soon refuse them, or do already. */
async function checkClientCertificates(context: CommandContext): Promise<DoctorFinding> {
  const webhooks = await fetchWebhooks(context, outgoingResource.path);
  if (webhooks === null) return ok(WITHOUT_SERVER);
  const [first, ...others] = findEndingCertificates(webhooks, context.io.now());
  if (first === undefined) return ok('no client certificate ends within 30 days');
  const more = others.length === 0 ? '' : ` (and ${others.length} more)`;
  return warning(`${first}${more}`, 'renew it: outgoingwebhook:update --client-certificate');
}

/** Finds keys whose first delivery holds back many others. */
async function checkOrder(context: CommandContext): Promise<DoctorFinding> {
  const status = await fetchFromServer(context, '/api/status');
  if (status === null) return ok(WITHOUT_SERVER);
  const { heldBack } = parseObject(status);
  const keys = Array.isArray(heldBack) ? heldBack.map(parseObject) : [];
  if (keys.length === 0) return ok('no key holds back more than a hundred deliveries');
  const labels = keys.slice(0, NAMED_MAX).map(({ hook, key, waiting }) =>
    `${JSON.stringify(key)} of ${formatValue(hook)} (${formatValue(waiting)} wait)`);
  const more = keys.length > NAMED_MAX ? ` and ${keys.length - NAMED_MAX} more` : '';
  return warning(`keys hold back what comes after: ${labels.join(', ')}${more}`,
    'see why the first is not done, and retry or cancel it: delivery:list --hook, request:list');
}

/** Finds webhooks that wait for a place at their host, as others have them. */
async function checkHosts(context: CommandContext): Promise<DoctorFinding> {
  const status = await fetchFromServer(context, '/api/status');
  if (status === null) return ok(WITHOUT_SERVER);
  const { waiting } = parseObject(status);
  const waits = Array.isArray(waiting) ? waiting.map(parseObject) : [];
  if (waits.length === 0) return ok('no webhook waits for a place at its host');
  const labels = waits.slice(0, NAMED_MAX).map(({ hook, target, since, behind }) =>
    `${formatValue(hook)} for ${formatValue(target)} since ${formatValue(since)}, behind `
    + (Array.isArray(behind) ? behind.map(formatValue).join(', ') : ''));
  const more = waits.length > NAMED_MAX ? ` and ${waits.length - NAMED_MAX} more` : '';
  return warning(`webhooks wait for a place at their host: ${labels.join('; ')}${more}`,
    'see why those before them are slow, disable them, or raise http.maxSocketsPerHost');
}

async function checkFollowers(context: CommandContext): Promise<DoctorFinding> {
  const status = await fetchFromServer(context, '/api/status');
  if (status === null) return ok(WITHOUT_SERVER);
  const tokens = await fetchFromServer(context, '/api/tokens');
  return describeFollowers(status, tokens, context.io.now());
}

function parseTriggers(
  { triggerEvent, triggerEvents }: JsonObject,
): { readonly triggerEvent?: string; readonly triggerEvents?: readonly string[] } {
  return typeof triggerEvent === 'string' ? { triggerEvent }
    : { triggerEvents: Array.isArray(triggerEvents) ? triggerEvents.map(String) : [] };
}

/** The first thousand webhooks, asked of the running server; null without one. */
async function fetchWebhooks(
  context: CommandContext, path: string,
): Promise<readonly JsonObject[] | null> {
  const body = await fetchFromServer(context, `${path}?limit=1000`);
  if (body === null) return null;
  return Array.isArray(body) ? body.map(parseObject) : [];
}

/** Resolves with the body that the running server answers; null without a server. */
async function fetchFromServer(
  { enterDataAsOwner }: CommandContext, path: string,
): Promise<unknown> {
  const socketPath = findOwner(enterDataAsOwner())?.socketPath ?? null;
  if (socketPath === null || !(await isListening(socketPath))) return null;
  const signal = AbortSignal.timeout(SERVER_TIMEOUT_MS);
  return (await callApi({ socketPath, signal }, { method: 'GET', path })).body;
}
