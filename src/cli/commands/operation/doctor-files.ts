/**
 * The checks of `doctor` for files that settings name: the certificate, custom actions, and the
 * commands that hooks run.
 */
import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';
import { messageOf } from '../../../base/errors.ts';
import { explainFileError } from '../../../base/file-error.ts';
import type { Settings } from '../../../settings/load-settings.ts';
import {
  ACTIONS_FOLDER, findActionModules,
} from '../../../webhooks/actions/modules/load-action-modules.ts';
import { CommandDirectory } from '../../../webhooks/actions/commands/command-directory.ts';
import type { CommandContext } from '../command-context.ts';
import { failed, ok, warning } from './doctor-finding.ts';
import type { DoctorFinding } from './doctor-finding.ts';

/** At most so many commands are named in a finding. */
const NAMED_MAX = 5;

export async function checkCertificate(
  { enterDataAsOwner, identity, io }: CommandContext, settings: Settings,
): Promise<DoctorFinding> {
  if (settings.server.tlsCert === null) return ok('none is set: plain HTTP');
  enterDataAsOwner();
  try {
    // Loaded lazily: most servers have no certificate, and containers run `doctor` often.
    const { RENEWAL_HINT, examineValidity, readCertificate } =
      await import('../../../app/certificate.ts');
    const certificate = readCertificate(settings);
    const term = certificate === null ? null : examineValidity(certificate, io.now());
    if (term === null || term.problem === null) {
      return ok('the certificate and its key can be used');
    }
    return term.isExpired ? failed(term.problem, RENEWAL_HINT)
      : warning(term.problem, RENEWAL_HINT);
  } catch (thrown) {
    // We run as the directory's owner by now; a server reads the file while it is still root.
    return identity.needsSwitch
      ? warning(messageOf(thrown), 'root may still read it: name it to serve in the environment')
      : failed(messageOf(thrown), '');
  }
}

/** Looks at the files of the action modules as a start does, and runs none of them. */
export function checkActions(
  { enterDataAsOwner }: CommandContext, { actions }: Settings,
): DoctorFinding {
  const folder = join(enterDataAsOwner(), ACTIONS_FOLDER);
  try {
    const modules = findActionModules({ folder, paths: actions.modules });
    for (const { resolvePath } of modules) accessSync(resolvePath(), constants.R_OK);
    const { length } = modules;
    return ok(length === 0 ? 'the built-in ones'
      : `${length} custom ${length === 1 ? 'module' : 'modules'}, which a start loads`);
  } catch (thrown) {
    return failed(explainFileError(thrown), '');
  }
}

/** Looks at the folder of the action run-command and at its programs, as each run does. */
export function checkCommands(
  { enterDataAsOwner }: CommandContext, { actions }: Settings,
): DoctorFinding {
  const { commandDirectory: path, workingDirectories } = actions;
  if (path === null) return ok('actions.commandDirectory names no folder: no hook runs a command');
  enterDataAsOwner();
  try {
    const commands = new CommandDirectory({ path, workingDirectories }).list();
    const refused = commands.filter(({ problem }) => problem !== null);
    if (refused.length > 0) {
      const names = refused.slice(0, NAMED_MAX)
        .map(({ name, problem }) => `${name} (${problem ?? ''})`).join(', ');
      const more = refused.length > NAMED_MAX ? ` and ${refused.length - NAMED_MAX} more` : '';
      return warning(`no hook may run ${names}${more}`, '');
    }
    return commands.length === 0
      ? warning(`no file in ${path} is executable`, `put programs there, and chmod u+x them`)
      : ok(`${path} holds ${commands.length} executable `
        + (commands.length === 1 ? 'file' : 'files'));
  } catch (thrown) {
    return failed(explainFileError(thrown), '');
  }
}
