/**
 * Opens, while we are still root, what the owner of the data directory may not: a low port, and the
 * certificate. Only a flag, a variable or `--config` may name them: the settings in the data
 * directory are the owner's, not root's.
 */
import { readCertificate } from '../../../app/certificate.ts';
import type { PreopenedResources } from '../../../app/listening.ts';
import { reservePort } from '../../../server/listening/listener.ts';
import type { LoadedSettings } from '../../../settings/load-settings.ts';
import type { CommandContext } from '../command-context.ts';

// The first port that every user may listen on under Linux.
const FREE_PORT_MIN = 1024;

/** Opens nothing where the process keeps its user. Throws as listening does. */
export async function preopenResources(context: CommandContext): Promise<PreopenedResources> {
  if (!context.identity.needsSwitch) return { port: null, certificate: null };
  const loadedSettings = context.loadCallersSettings();
  const { host, port } = loadedSettings.settings.server;
  const isLow = isSetByCaller(loadedSettings, 'server.port') && port > 0 && port < FREE_PORT_MIN;
  return {
    certificate: openCertificate(context, loadedSettings),
    port: isLow ? await reservePort(host, port) : null,
  };
}

function openCertificate(
  { identity }: CommandContext, loadedSettings: LoadedSettings,
): PreopenedResources['certificate'] {
  const { tlsCert, tlsKey } = loadedSettings.settings.server;
  if (tlsCert === null || tlsKey === null) return null;
  // A file that the owner could replace is read later, as the owner.
  if (identity.isOwnersPath(tlsCert) || identity.isOwnersPath(tlsKey)) return null;
  return readCertificate(loadedSettings.settings);
}

function isSetByCaller({ origins }: LoadedSettings, name: string): boolean {
  return origins.get(name) !== 'default';
}
