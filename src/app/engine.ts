/** The engine that the settings name, and who we are to it. */
import { late } from '../base/late.ts';
import type { Settings } from '../settings/load.ts';
import type { Engine } from '../store/engines/engine.ts';

const withEngines = late(() => import('../store/engines/open.ts'));

/** Null: the store is files in the data directory. Throws `usage`. */
export async function engineOf({ store: { url, passwordFile } }: Settings): Promise<Engine | null> {
  if (url === null) return null;
  return withEngines(({ openEngine }) =>
    openEngine(url, { passwordFile, passFile: process.env.PGPASSFILE ?? null }));
}
