/** Says of a data directory what a start would say, and changes nothing; also beside a server. */
import { COLLECTIONS, openApp } from '../app.ts';
import { AppError } from '../base/errors.ts';
import { silentLogger } from '../base/log.ts';
import { loadSettings } from '../settings/load-settings.ts';
import { verifyDirectory } from '../store/backup/verify.ts';
import type { VerifyReport } from '../store/backup/verify.ts';
import { createNodeFiles } from '../store/disk/files.ts';

/**
 * Throws `damaged` as `verifyDirectory` does, and for a record that a start does not read, though
 * its file is whole: one of another version.
 */
export async function verifyStart(directory: string): Promise<VerifyReport> {
  const files = createNodeFiles();
  const report = await verifyDirectory({ directory, files, specs: COLLECTIONS });
  // By the default settings: those of the server may name an engine.
  const { settings } = loadSettings();
  const app = await openApp({
    data: directory, settings, logger: silentLogger, role: 'command',
    refusal: new AppError('conflict', 'a verification changes nothing'),
  });
  await app.close();
  return report;
}
