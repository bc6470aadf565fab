/**
 * What root opens for a server before it becomes the user whom the data directory belongs to: a low
 * port, and a certificate that this user may not read. Only what the caller has named counts, by a
 * flag, a variable or in `--config`: the settings in the data directory are that user's.
 */
import { readCertificate } from '../../../app/listening.ts';
import type { Opened } from '../../../app/listening.ts';
import { holdPort } from '../../../server/listening/listener.ts';
import type { LoadedSettings } from '../../../settings/load.ts';
import type { CommandContext } from '../context.ts';

// Linux's first port that everybody may listen on.
const FREE_PORT_MIN = 1024;

/** Nothing where whoever serves can open all by itself. Throws as listening does. */
export async function openAhead(context: CommandContext): Promise<Opened> {
  if (!context.identity.isBorrowed) return { port: null, certificate: null };
  const loaded = context.loadCallersSettings();
  const { host, port } = loaded.settings.server;
  const isLow = isNamed(loaded, 'server.port') && port > 0 && port < FREE_PORT_MIN;
  return {
    certificate: openCertificate(context, loaded),
    port: isLow ? await holdPort(host, port) : null,
  };
}

function openCertificate(
  { identity }: CommandContext, loaded: LoadedSettings,
): Opened['certificate'] {
  const { tlsCert, tlsKey } = loaded.settings.server;
  if (tlsCert === null || tlsKey === null) return null;
  // In the hands of that user, they are read later, by that user.
  if (identity.isTheirs(tlsCert) || identity.isTheirs(tlsKey)) return null;
  return readCertificate(loaded.settings);
}

function isNamed({ origins }: LoadedSettings, name: string): boolean {
  return origins.get(name) !== 'default';
}
