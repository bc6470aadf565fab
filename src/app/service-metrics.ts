/** The metrics of store, search, client and webhooks, for `GET /metrics`. */
import { COMMIT, VERSION } from '../base/version.ts';
import type { IndexStatus } from '../books/book-queries.ts';
import type { FollowerView } from '../followers/follower.ts';
import type { ClientStatistics } from '../client/http-client.ts';
import type { ScheduledBackups } from '../maintenance/scheduled-backups.ts';
import {
  counter, gauge, type Histogram, type LabelledValue, type MetricSource,
} from '../server/metrics/metric-source.ts';
import type { Store } from '../store/store-port.ts';
import { listUnhealthyWebhooks } from '../webhooks/health/health-monitor.ts';
import type { Webhooks } from '../webhooks/webhooks.ts';

export function storeMetrics(
  store: Store, collections: readonly string[], isWritable: () => boolean,
): readonly MetricSource[] {
  return [
    counter('store_commits_total', 'Batches made durable, each with one fdatasync.',
      () => store.statistics.batches),
    counter('store_transactions_total', 'Transactions committed.',
      () => store.statistics.transactions),
    gauge('store_journal_bytes', 'Bytes in the current journal.',
      () => store.statistics.journalBytes),
    gauge('store_sequence', 'Sequence number of the last committed transaction.',
      () => store.statistics.sequence),
    gauge('store_generation', 'Generation of the data directory.',
      () => store.statistics.generation),
    gauge('store_compacting', '1 while a new generation is being written.',
      () => Number(store.statistics.isCompacting)),
    gauge('store_writable', '1 while writes are taken.', () => Number(isWritable())),
    gauge('store_records', 'Records by collection.', () => collections.map((name) =>
      ({ labels: { collection: name }, value: store.collection(name).size })), ['collection']),
    gauge('store_record_bytes', 'Bytes of records by collection.', () => collections.map((name) =>
      ({ labels: { collection: name }, value: store.collection(name).bytesTotal })),
    ['collection']),
  ];
}

export function indexMetrics(indexes: IndexStatus): readonly MetricSource[] {
  return [
    gauge('search_index_bytes', 'Bytes of the search index; 0 until a search needs it.',
      () => indexes.listReports().find(({ index }) => index === 'words')?.bytes ?? 0),
    gauge('search_index_outgrown', '1 while the catalog has outgrown its share of --max-memory.',
      () => Number(indexes.hasOutgrownWords)),
    gauge('catalog_index_bytes', 'Bytes of each index of the catalog that queries have needed.',
      () => indexes.listReports().map(({ index, bytes }) =>
        ({ labels: { index }, value: bytes })), ['index']),
  ];
}

export function clientMetrics(statistics: () => ClientStatistics): readonly MetricSource[] {
  return [
    counter('client_calls_total', 'Calls of the shared HTTP client.', () => statistics().calls),
    counter('client_attempts_total', 'Attempts of those calls.', () => statistics().attempts),
    counter('client_failures_total', 'Calls that ended without an answer.',
      () => statistics().failures),
  ];
}

export function deliveryMetrics(webhooks: Webhooks): readonly MetricSource[] {
  const read = (): ReturnType<Webhooks['statistics']> => webhooks.statistics();
  return [
    gauge('deliveries_pending', 'Deliveries that wait for an attempt or are in one.',
      () => read().pending),
    gauge('delivery_queue_limit', 'How many deliveries may wait: outgoing.maxPending.',
      () => read().room.pendingMax),
    gauge('delivery_queue_bytes', 'Bytes of the deliveries that wait or have failed.',
      () => read().room.bytes),
    gauge('delivery_queue_bytes_limit',
      'How many bytes these may have: outgoing.maxPendingBytes, or an eighth of --max-memory.',
      () => read().room.bytesMax),
    gauge('delivery_queue_full', '1 while the queue refused what came last, and would again.',
      () => Number(read().room.fullReason !== null)),
    gauge('delivery_queue_full_webhook',
      'How many deliveries wait for a webhook whose events get 503, so that others have room.',
      () => read().room.fullWebhooks.map(({ webhook, pending }) =>
        ({ labels: { webhook }, value: pending })), ['webhook']),
    gauge('deliveries_in_flight', 'Attempts under way.', () => read().inFlight),
    gauge('deliveries_in_flight_by_host', 'Attempts under way by host.',
      () => read().inFlightByHost.map(({ host, inFlight }) =>
        ({ labels: { host }, value: inFlight })), ['host']),
    gauge('deliveries_oldest_pending_seconds',
      'How long the oldest pending delivery has waited; a delayed one since its time.',
      () => read().oldestPendingMs / 1000),
    counter('delivery_attempts_total', 'Attempts, by what came of them.',
      () => Object.entries(read().figures.attempts).map(([outcome, value]) =>
        ({ labels: { outcome }, value })), ['outcome']),
    counter('delivery_failures_total',
      "Failed attempts by the webhook's name, else its identifier; forward and other stand for "
      + 'what has no series of its own.',
      () => read().failures.map(({ hook, count }) => ({ labels: { hook }, value: count })),
      ['hook']),
    histogram('delivery_attempt_duration_seconds', 'Time that an attempt took.',
      () => read().figures.attemptDurations),
    histogram('delivery_latency_seconds', 'Time from the creation of a delivery to its arrival.',
      () => read().figures.latencies),
  ];
}

export function incomingMetrics(webhooks: Webhooks): readonly MetricSource[] {
  return [
    gauge('inbox_full', '1 while the inbox refused the last request, and would again.',
      () => Number(webhooks.findInboxShortage() !== null)),
    counter('incoming_rejected_total',
      "Calls that were rejected, by the webhook's name, else its path segment, and by check.",
      () => webhooks.rejections().map(({ hook, reason, count }) =>
        ({ labels: { hook, reason }, value: count })), ['hook', 'reason']),
    counter('incoming_unparsed_total',
      "Requests that no payload could be made of, by the webhook's name, else its path segment.",
      () => webhooks.unparsed().map(({ hook, count }) => ({ labels: { hook }, value: count })),
      ['hook']),
  ];
}

export function followerMetrics(list: () => readonly FollowerView[]): readonly MetricSource[] {
  const read = (valueOf: (follower: FollowerView) => number) => () => list().map((follower) =>
    ({ labels: { copy: follower.copy, name: follower.name }, value: valueOf(follower) }));
  const labels = ['copy', 'name'] as const;
  return [
    gauge('followers_connected', 'Followers that keep a copy of the data and are connected.',
      () => list().filter(({ isConnected }) => isConnected).length),
    gauge('follower_lag_transactions', 'Transactions that are not on the disk of a copy yet.',
      read(({ behindTransactions }) => behindTransactions), labels),
    gauge('follower_lag_seconds',
      'How long ago the oldest transaction was committed that is not on the disk of a copy.',
      read(({ behindSeconds }) => behindSeconds), labels),
  ];
}

/** `read` gives milliseconds since the epoch; null without a certificate. */
export function certificateMetric(read: () => number | null): MetricSource {
  return gauge('tls_certificate_expiry_timestamp_seconds',
    'When the TLS certificate in use expires, in seconds since the epoch.', readTime(read));
}

/** `newestMs` is since the epoch; null while there is no backup, or another node makes them. */
export function backupMetrics(
  backups: Pick<ScheduledBackups, 'newestMs' | 'status'>,
): readonly MetricSource[] {
  return [
    gauge('last_backup_timestamp_seconds',
      'When the newest verified backup that the server made by itself was made, in seconds since '
      + 'the epoch.', readTime(() => backups.newestMs)),
    gauge('last_backup_failed',
      '1 while the last backup that the server tried to make by itself failed, the first one too.',
      () => Number(backups.status.failure !== null)),
  ];
}

/** Without a time the metric has no sample. */
function readTime(read: () => number | null): () => readonly LabelledValue<number, never>[] {
  return () => {
    const timeMs = read();
    return timeMs === null ? [] : [{ labels: {}, value: timeMs / 1000 }];
  };
}

export function healthMetrics({ health }: Webhooks): readonly MetricSource[] {
  return [
    gauge('webhooks', 'Webhooks by direction and state.', () =>
      Object.entries(health).flatMap(([direction, monitor]) =>
        Object.entries(monitor.countStates()).map(([state, value]) =>
          ({ labels: { direction, state }, value }))), ['direction', 'state']),
    gauge('webhook_unhealthy_since_timestamp_seconds',
      'Since when a webhook fails, rejects most requests, or is off by a failure: the hundred that '
      + 'have been so for longest.',
      () => listUnhealthyWebhooks(health).map(({ direction, label: webhook, state, sinceMs }) =>
        ({ labels: { direction, webhook, state }, value: sinceMs / 1000 })),
      ['direction', 'webhook', 'state']),
  ];
}

export function buildMetrics(): readonly MetricSource[] {
  const labels = { version: VERSION, commit: COMMIT ?? '', node: process.versions.node };
  return [gauge('build_info', 'What runs: always 1.', () => [{ labels, value: 1 }],
    ['version', 'commit', 'node'])];
}

function histogram(name: string, help: string, read: () => Histogram): MetricSource {
  return {
    name: `hookshelf_${name}`, type: 'histogram', help, labels: [],
    read: () => [{ labels: {}, value: read() }],
  };
}
