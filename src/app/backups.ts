/** Connects backups that the server makes by itself. */
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/log.ts';
import { checkOutsideData, listBackups } from '../maintenance/backup-folder.ts';
import { ScheduledBackups } from '../maintenance/scheduled-backups.ts';
import type { Metrics } from '../server/metrics/metrics.ts';
import type { Settings } from '../settings/load-settings.ts';
import { createNodeFiles } from '../store/disk/files.ts';
import type { OpenedStore } from '../store/store.ts';
import type { Webhooks } from '../webhooks/webhooks.ts';
import type { Nodes } from './nodes.ts';
import { backupMetrics } from './service-metrics.ts';

type BackupsDeps = {
  readonly store: OpenedStore;
  readonly nodes: Nodes | null;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly webhooks: Pick<Webhooks, 'tellBackupFailed'>;
  readonly isEmpty: () => boolean;
};

/** Throws `usage` where `to`, which `name` sets, is the data directory or below it. */
export function checkBackupFolder(
  { to }: Pick<Settings['backup'], 'to'>, data: string, name = 'backup.to',
): void {
  if (to !== null) checkOutsideData(to, data, name);
}

/** The name of the newest backup there; null without one. Throws as a start on the folder does. */
export function findNewestBackup(folder: string, data: string, nowMs: number): string | null {
  checkBackupFolder({ to: folder }, data);
  return listBackups(createNodeFiles(), folder, nowMs).at(-1)?.name ?? null;
}

/** The caller starts and closes it. */
export function openBackups(
  { store, nodes, clock, logger, metrics, webhooks, isEmpty }: BackupsDeps,
  { to, everyHours, keep }: { readonly to: string; readonly everyHours: number;
    readonly keep: number; },
): ScheduledBackups {
  const backups = new ScheduledBackups({
    store, clock, log: logger, files: createNodeFiles(), plan: { to, everyHours, keep }, isEmpty,
    isMaker: () => nodes === null || nodes.ownership.isMaintainer(),
    async onFailure(failure) {
      try {
        await webhooks.tellBackupFailed(failure);
      } catch (error) {
        logger.warning('an event of our own could not be told',
          { event: 'store.backup_failed', error });
      }
    },
  });
  metrics.add(...backupMetrics(backups));
  return backups;
}
