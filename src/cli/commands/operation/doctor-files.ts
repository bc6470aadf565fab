/** What `doctor` looks at of the files that settings name: the certificate, and custom actions. */
import { readCertificate } from '../../../app/listening.ts';
import { loadCustomActions } from '../../../app/relay.ts';
import { messageOf } from '../../../base/errors.ts';
import type { Settings } from '../../../settings/load.ts';
import type { CommandContext } from '../context.ts';
import { failed, ok, warning } from './doctor-finding.ts';
import type { Examined } from './doctor-finding.ts';

export function checkCertificate(
  { enterData, identity }: CommandContext, settings: Settings,
): Examined {
  enterData();
  try {
    return ok(readCertificate(settings) === null ? 'none is set: plain HTTP'
      : 'the certificate and its key can be used');
  } catch (thrown) {
    // We are the directory's owner by now; a server reads it while it is still root.
    return identity.needsSwitch
      ? warning(messageOf(thrown), 'root may still read it: name it to serve in the environment')
      : failed(messageOf(thrown), '');
  }
}

/** Loads them as a start does: what a module does when it is loaded happens here, too. */
export async function checkActions(
  { enterData }: CommandContext, settings: Settings,
): Promise<Examined> {
  try {
    const { length } = await loadCustomActions(enterData(), settings);
    return ok(length === 0 ? 'the built-in ones'
      : `${length} custom ${length === 1 ? 'module loads' : 'modules load'}`);
  } catch (thrown) {
    return failed(messageOf(thrown), '');
  }
}
