/**
 * The checks of `doctor` for files that settings name: the certificate, the modules of custom
 * actions, and the programs of the action run-command. All are looked at as the owner of the data
 * directory: root becomes that user for good, as a server does.
 */
import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';
import { isAccessRefused, isError, messageOf } from '../../../base/errors.ts';
import { explainFileError } from '../../../base/file-error.ts';
import { lazyImport } from '../../../base/lazy-import.ts';
import type { JsonObject } from '../../../base/schema.ts';
import { joinFirst } from '../../../base/text/error-message.ts';
import {
  ACTIONS_FOLDER, findActionModules,
} from '../../../webhooks/actions/modules/load-action-modules.ts';
import { listCommands } from '../../../webhooks/actions/commands/command-directory.ts';
import type { Settings } from '../../../settings/load-settings.ts';
import { expectObject, expectObjects, formatValue } from '../resource-commands.ts';
import { failed, hint, ok, warning } from './doctor-finding.ts';
import type { DoctorFinding, DoctorFindings, DoctorSubject } from './doctor-finding.ts';
import type { RunningServer } from './running-server.ts';

// Loaded lazily: most servers have no certificate, and containers run `doctor` often.
const loadCertificates = lazyImport(() => import('../../../app/certificate.ts'));
const NO_CERTIFICATE = 'none is set: plain HTTP';

/**
 * Checks the certificate that a running server uses, and its files. The server reads these again at
 * SIGHUP: if they are broken, it keeps the old certificate, and its next start fails.
 */
export async function checkCertificate(
  { context, settings, getServer }: DoctorSubject,
): Promise<DoctorFindings> {
  const server = getServer();
  if (server !== null) {
    const { certificate } = expectObject(server.status['server']);
    if (certificate === null) return ok(NO_CERTIFICATE);
    const inUse = await describeExpiry(
      Date.parse(formatValue(expectObject(certificate)['expiresAt'])), context.io.now());
    const problem = context.serverUrl === null ? await findFileProblem(context, settings) : null;
    return problem === null ? inUse : [inUse, warning(
      `of the files, which the next start reads: ${problem}`, 'mend them and send SIGHUP')];
  }
  if (settings.server.tlsCert === null) return ok(NO_CERTIFICATE);
  context.identity.becomeOwner();
  try {
    const { readCertificate, readExpiryMs } = await loadCertificates();
    const certificate = readCertificate(settings);
    return certificate === null ? ok(NO_CERTIFICATE)
      : await describeExpiry(readExpiryMs(certificate), context.io.now());
  } catch (thrown) {
    // We are the owner of the data directory by now. A server that root starts reads the files as
    // root, unless the settings file in the data directory names them, which is the owner's.
    return context.identity.needsSwitch
      ? warning(messageOf(thrown), 'where root may read the files, name them in '
        + 'HOOKSHELF_SERVER_TLS_CERT and HOOKSHELF_SERVER_TLS_KEY of serve')
      : failed(messageOf(thrown), '');
  }
}

/** Finds what is wrong with the files. null also where we may not read them: the server may. */
async function findFileProblem(
  context: DoctorSubject['context'], settings: Settings,
): Promise<string | null> {
  context.identity.becomeOwner();
  try {
    (await loadCertificates()).readCertificate(settings);
    return null;
  } catch (thrown) {
    return isError(thrown) && isAccessRefused(thrown.cause) ? null : messageOf(thrown);
  }
}

async function describeExpiry(expiresMs: number, nowMs: number): Promise<DoctorFinding> {
  const { RENEWAL_HINT, examineValidity } = await loadCertificates();
  const { problem, isExpired, daysLeft } = examineValidity(expiresMs, nowMs);
  if (problem !== null) return (isExpired ? failed : warning)(problem, RENEWAL_HINT);
  const lastDay = new Date(expiresMs).toISOString().slice(0, 10);
  return ok(`the certificate can be used until ${lastDay}, for ${daysLeft} days`);
}

/**
 * Asks the server which actions are missing or switched off. Without a server it finds the modules
 * of custom actions, and loads none of them: a module is code that would run here.
 */
export async function checkActions(
  { context: { enterDataAsOwner }, settings: { actions }, getServer }: DoctorSubject,
): Promise<DoctorFinding> {
  const server = getServer();
  if (server !== null) {
    const known = expectObjects(await server.ask('/api/actions'));
    const unusable = await findMissingActions(server, known) ?? findSwitchedOffActions(known);
    if (unusable !== null) return unusable;
  }
  const folder = join(enterDataAsOwner(), ACTIONS_FOLDER);
  try {
    const modules = findActionModules({ folder, paths: actions.modules });
    for (const { resolvePath } of modules) accessSync(resolvePath(), constants.R_OK);
    const { length } = modules;
    if (length === 0) return ok('the built-in ones');
    const label = `${length} custom ${length === 1 ? 'module' : 'modules'}`;
    return server === null
      ? hint(`${label}, which doctor does not load`, 'serve loads them, and says what is wrong')
      : ok(`${label}, which the server has loaded`);
  } catch (thrown) {
    return failed(explainFileError(thrown), '');
  }
}

/** Finds configurations whose action the running server does not have; null: there are none. */
async function findMissingActions(
  server: RunningServer, actions: readonly JsonObject[],
): Promise<DoctorFinding | null> {
  const configurations = await server.ask('/api/action-configurations?limit=1000');
  const known = new Set(actions.map(({ identifier }) => identifier));
  const missing = expectObjects(configurations)
    .filter(({ actionType }) => !known.has(actionType));
  if (missing.length === 0) return null;
  const labels = missing.map(({ identifier, actionType }) =>
    `${formatValue(identifier)} (${formatValue(actionType)})`);
  return failed(`these run an action that the server does not have: ${joinFirst(labels)}`,
    missing.some(({ actionType }) => actionType === 'run-command')
      ? 'name the folder of the programs in actions.commandDirectory, in settings.json of the data '
        + 'directory, and start again'
      : 'put the module back, or delete what runs it');
}

/** Finds the actions that the server has switched off; null: there are none. */
function findSwitchedOffActions(actions: readonly JsonObject[]): DoctorFinding | null {
  const switchedOff = actions
    .filter(({ switchedOffUntil }) => typeof switchedOffUntil === 'string');
  if (switchedOff.length === 0) return null;
  const labels = switchedOff.map(({ identifier, module, switchedOffUntil }) =>
    `${formatValue(identifier)} (${formatValue(module)}) until ${formatValue(switchedOffUntil)}`);
  return warning(`switched off, as they ended the thread that runs modules: ${labels.join(', ')}`,
    'the log tells how each of them ended it: mend these modules');
}

/** Checks the folder of the action run-command and its programs by the rules of each run. */
export function checkCommands(
  { context: { identity }, settings: { actions } }: DoctorSubject,
): DoctorFinding {
  const { commandDirectory: path, workingDirectories } = actions;
  if (path === null) return ok('actions.commandDirectory names no folder: none can be run');
  identity.becomeOwner();
  try {
    const commands = listCommands({ path, workingDirectories });
    const problems = commands.flatMap(({ name, problem }) =>
      problem === null ? [] : [`${name} (${problem})`]);
    if (problems.length > 0) return warning(`hooks cannot run ${joinFirst(problems)}`, '');
    return commands.length === 0
      ? warning(`no file in ${path} is executable`, 'put programs there, and chmod +x them')
      : ok(`${path} holds ${commands.length} executable `
        + (commands.length === 1 ? 'file' : 'files'));
  } catch (thrown) {
    return failed(explainFileError(thrown), '');
  }
}
