/** Connects the routes for operators, and the console, with the rooms whose state they show. */
import { formatTimestamp, formatTimestampOrNull } from '../base/clock.ts';
import type { Clock } from '../base/clock.ts';
import { AppError, messageOf } from '../base/errors.ts';
import { readPackageFile } from '../base/files/package-file.ts';
import { COMMIT, VERSION } from '../base/version.ts';
import type { IndexStatus } from '../books/book-queries.ts';
import type { FollowerView } from '../followers/follower.ts';
import type { LogLines } from '../monitoring/log-lines.ts';
import { monitoringRoutes } from '../monitoring/monitoring-routes.ts';
import type { ServiceStatus } from '../monitoring/monitoring-schema.ts';
import type { Statistics } from '../monitoring/statistics.ts';
import { consoleRoutes } from '../server/documents/console-routes.ts';
import type { HttpRoute } from '../server/http-route.ts';
import type { LoadedSettings } from '../settings/load-settings.ts';
import { listPublicSettings } from '../settings/public-settings.ts';
import type { OpenedStore } from '../store/store.ts';
import { listUnhealthyWebhooks } from '../webhooks/health/health-monitor.ts';
import type { Webhooks } from '../webhooks/webhooks.ts';
import { examineValidity } from './certificate.ts';
import type { Listening } from './listening.ts';
import { readDescriptorsMax } from './room-options.ts';

type MonitoringDeps = {
  readonly store: OpenedStore;
  /** Why this process cannot serve; null when it can. */
  readonly unreadiness: () => string | null;
  readonly collections: readonly string[];
  readonly indexes: IndexStatus;
  readonly countImportedRecords: () => number;
  readonly webhooks: Webhooks;
  /** The settings, and where each came from. */
  readonly settings: Pick<LoadedSettings, 'settings' | 'origins'>;
  readonly statistics: Statistics;
  readonly lines: LogLines;
  readonly listening: () => Pick<Listening, 'addresses' | 'baseUri' | 'certificateExpiresMs'>;
  readonly readBackups: () => ServiceStatus['backups'];
  readonly listFollowers: () => readonly FollowerView[];
  readonly clock: Clock;
  readonly startedMs: number;
};

/** Most keys, and most webhooks that wait for a place at their host, in the status. */
const HELD_BACK_MAX = 100;
const WAITING_MAX = 100;

export function composeMonitoring(deps: MonitoringDeps): readonly HttpRoute[] {
  const { settings, statistics, lines, webhooks } = deps;
  return [
    ...monitoringRoutes({
      statistics, logLines: lines,
      readHistory: (window) => webhooks.health.outgoing.statistics.readTotals(window),
      describeWebhook: (webhookId) => webhooks.describeWebhook(webhookId),
      findSeenWebhooks(exchange) {
        const visibility = webhooks.findVisibility(exchange);
        return visibility && ((webhookId) => visibility.seesWebhook(webhookId));
      },
      getStatus: () => readStatus(deps),
      listSettings: () => listPublicSettings(settings),
    }),
    ...settings.settings.server.console
      ? consoleRoutes(readConsoleFile, settings.settings.console) : [],
  ];
}

function readStatus(
  {
    store, unreadiness, collections, indexes, countImportedRecords, webhooks, listening,
    listFollowers, readBackups, settings, clock, startedMs,
  }: MonitoringDeps,
): ServiceStatus {
  const reason = unreadiness();
  const { generation, sequence, journalBytes, isCompacting, compactedMs } = store.statistics;
  const { pending, room, inFlight, oldestPendingMs } = webhooks.statistics();
  const sum = (count: (name: string) => number): number =>
    collections.reduce((total, name) => total + count(name), 0);
  const requests = webhooks.requests.totals();
  const backups = readBackups();
  return {
    isReady: reason === null, reason, isPaused: settings.settings.server.paused,
    version: VERSION, commit: COMMIT, node: process.versions.node,
    startedAt: formatTimestamp(startedMs),
    server: describeServer(listening(), clock.now()),
    store: {
      engine: store.replica?.engine ?? null, durability: store.replica?.durability ?? null,
      records: sum((name) => store.collection(name).size),
      bytes: sum((name) => store.collection(name).bytesTotal),
      journalBytes, generation, sequence, isCompacting,
      compactedAt: formatTimestampOrNull(compactedMs),
      backedUpAt: findLater(formatTimestampOrNull(store.backupMs), backups?.newestAt ?? null),
    },
    catalog: { indexes: indexes.listReports(), importedRecords: countImportedRecords() },
    deliveries: { pending, ...room, inFlight, oldestPendingMs: Math.round(oldestPendingMs) },
    requests: {
      pending: requests.pending, failed: requests.failed,
      fullReason: webhooks.findInboxShortage(),
    },
    webhooks: countWebhooks(webhooks.health),
    heldBack: webhooks.listLongLanes(HELD_BACK_MAX)
      .map(({ queueKey, key, waiting }) => ({ hook: queueKey, key, waiting })),
    unhealthy: listUnhealthyWebhooks(webhooks.health)
      .map(({ direction, identifier: hook, label: webhook, state, sinceMs, reason }) =>
        ({ direction, hook, webhook, state, since: formatTimestamp(sinceMs), reason })),
    waiting: webhooks.listHostWaits().slice(0, WAITING_MAX),
    backups,
    followers: listFollowers(),
  };
}

function describeServer(
  { addresses, baseUri, certificateExpiresMs }: ReturnType<MonitoringDeps['listening']>,
  nowMs: number,
): ServiceStatus['server'] {
  const filesMax = readDescriptorsMax();
  return {
    urls: addresses.map(({ url }) => url), baseUri,
    certificate: certificateExpiresMs === null ? null : {
      expiresAt: formatTimestamp(certificateExpiresMs),
      daysLeft: examineValidity(certificateExpiresMs, nowMs).daysLeft,
    },
    openFilesMax: filesMax === Infinity ? null : filesMax,
  };
}

/** The later one of two timestamps, whose form sorts as their times do. */
function findLater(left: string | null, right: string | null): string | null {
  return (left ?? '') > (right ?? '') ? left : right;
}

function countWebhooks({ incoming, outgoing }: Webhooks['health']): ServiceStatus['webhooks'] {
  const [left, right] = [incoming.countStates(), outgoing.countStates()];
  return {
    healthy: left.healthy + right.healthy, failing: left.failing + right.failing,
    rejecting: left.rejecting + right.rejecting, off: left.off + right.off,
    lastTryFailed: incoming.countJustFailed() + outgoing.countJustFailed(),
  };
}

/** A file that the build makes, beside the program or inside the binary. */
function readConsoleFile(name: string): string {
  try {
    return readPackageFile(`dist/console/${name}`).toString();
  } catch (thrown) {
    const problem = `the console cannot be read; npm run build makes it (${messageOf(thrown)})`;
    throw new AppError('unavailable', problem, {}, thrown);
  }
}
