/** The nodes as this one sees them, for the API and as metrics. */
import { formatTimestamp, type Clock } from '../base/clock.ts';
import { counter, gauge, type MetricSource } from '../server/metrics/metric-source.ts';
import type { Replica } from '../store/store-port.ts';
import type { Membership } from './membership.ts';
import type { NodeView } from './node-routes.ts';

/** A node that has not heard from the engine for longer is not ready. */
const SILENT_MS = 5000;

type NodeViewDeps = {
  readonly node: string;
  readonly membership: Membership;
  readonly replica: Replica;
  readonly clock: Clock;
};

/** All nodes, sorted by identifier. */
export function listNodeViews(
  { node, membership, replica, clock }: NodeViewDeps,
): readonly NodeView[] {
  const { table } = membership;
  const nowMs = clock.now();
  const monotonicMs = clock.monotonicMs();
  return [...table.nodes].map(([identifier, { record, heardMs }]): NodeView => {
    const { version, address, startedAt, position, lag } = record;
    const isSelf = identifier === node;
    return {
      identifier, isSelf, isLive: table.isLive(identifier, monotonicMs), version, address,
      startedAt, lastHeardAt: formatTimestamp(isSelf ? nowMs : nowMs - (monotonicMs - heardMs)),
      ...isSelf ? getPosition(replica) : { position, lag }, shards: table.listShards(identifier),
    };
  }).sort((left, right) => left.identifier < right.identifier ? -1 : 1);
}

export function getPosition(
  { sequence, headSequence }: Replica,
): { readonly position: number; readonly lag: number } {
  return { position: sequence, lag: Math.max(0, headSequence - sequence) };
}

/** Why this node is not ready; null when it is. */
export function explainUnreadiness(replica: Replica, clock: Clock): string | null {
  if (replica.isReloading) return 'what this node holds is being loaded anew';
  const silentMs = clock.monotonicMs() - replica.lastResponseMs;
  if (silentMs < SILENT_MS) return null;
  const { engine, disconnectReason } = replica;
  return `the engine (${engine}) was last heard ${Math.round(silentMs / 1000)} s ago`
    + (disconnectReason === null ? '' : `: ${disconnectReason}`);
}

export function createNodeMetrics(deps: NodeViewDeps): readonly MetricSource[] {
  const { membership: { table, leaseChanges, clockOffsets }, replica, clock } = deps;
  const liveNodes = (): readonly string[] => [...table.nodes.keys()]
    .filter((id) => table.isLive(id, clock.monotonicMs()));
  return [
    counter('log_appends_total', 'Batches that this node has appended to the log of the engine.',
      () => replica.figures.appends),
    counter('log_append_seconds_total', 'Time that those appends took together.',
      () => replica.figures.durationMs / 1000),
    counter('log_append_transactions_total', 'Transactions in those batches.',
      () => replica.figures.transactions),
    counter('log_append_conflicts_total', 'Appends that began anew as another node was first.',
      () => replica.figures.conflicts),
    gauge('log_lag_transactions', 'Transactions in the log that are not applied here yet.',
      () => getPosition(replica).lag),
    gauge('log_silent_seconds', 'Time since the engine was last heard.',
      () => Math.max(0, clock.monotonicMs() - replica.lastResponseMs) / 1000),
    counter('lease_changes_total', 'Shards that this node has claimed, released and lost.',
      () => Object.entries(leaseChanges).map(([change, value]) => ({ labels: { change }, value })),
      ['change']),
    gauge('node_shards', 'Shards of webhooks whose work this node does.',
      () => table.ownShards().length),
    gauge('nodes_live', 'Nodes that were heard within the length of their leases.',
      () => liveNodes().length),
    gauge('node_clock_offset_seconds', 'Clock of each other node minus that of this one.',
      () => liveNodes().flatMap((node) => {
        const offsetMs = clockOffsets.estimateOffsetMs(node);
        return offsetMs === null ? [] : [{ labels: { node }, value: offsetMs / 1000 }];
      }), ['node']),
  ];
}
