/** Connects what people look at with what it is read from. */
import { timeText } from '../base/clock.ts';
import { VERSION } from '../base/version.ts';
import type { LogLines } from '../monitoring/log-lines.ts';
import { monitoringRoutes } from '../monitoring/routes.ts';
import type { Status } from '../monitoring/routes.ts';
import type { Statistics } from '../monitoring/statistics.ts';
import type { Route } from '../server/route.ts';
import type { LoadedSettings } from '../settings/load.ts';
import { shownSettings } from '../settings/shown.ts';
import type { OpenedStore } from '../store/store.ts';
import { requestKind } from '../webhooks/requests/unit-of-work.ts';
import type { Webhooks } from '../webhooks/webhooks.ts';

type MonitoringParts = {
  readonly store: OpenedStore;
  readonly collections: readonly string[];
  readonly webhooks: Webhooks;
  /** With where each came from. */
  readonly settings: Pick<LoadedSettings, 'settings' | 'origins'>;
  readonly statistics: Statistics;
  readonly lines: LogLines;
  readonly startedMs: number;
};

export function composeMonitoring(parts: MonitoringParts): readonly Route[] {
  const { settings, statistics, lines } = parts;
  return monitoringRoutes({
    statistics, lines,
    status: () => statusOf(parts),
    settings: () => shownSettings(settings),
  });
}

function statusOf({ store, collections, webhooks, startedMs }: MonitoringParts): Status {
  const { generation, sequence, journalBytes, isCompacting, compactedMs } = store.statistics;
  const { pending, inFlight, oldestPendingMs } = webhooks.statistics();
  const sum = (of: (name: string) => number): number =>
    collections.reduce((total, name) => total + of(name), 0);
  const requests = requestKind.totals.committed(store);
  return {
    isReady: store.failure === null, reason: store.failure,
    version: VERSION, node: process.versions.node, startedAt: timeText(startedMs),
    store: {
      records: sum((name) => store.collection(name).size),
      bytes: sum((name) => store.collection(name).bytesTotal),
      journalBytes, generation, sequence, isCompacting,
      compactedAt: timeOrNull(compactedMs), backedUpAt: timeOrNull(store.backupMs),
    },
    deliveries: { pending, inFlight, oldestPendingMs: Math.round(oldestPendingMs) },
    requests: { pending: requests.pending, failed: requests.failed },
  };
}

function timeOrNull(ms: number | null): string | null {
  return ms === null ? null : timeText(ms);
}
