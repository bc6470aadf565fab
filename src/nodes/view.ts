/** The nodes as this one sees them: for people, and as figures. */
import { formatTimestamp, type Clock } from '../base/clock.ts';
import { counter, gauge, type MetricSource } from '../server/metrics/metric-source.ts';
import type { Replica } from '../store/store-port.ts';
import type { Membership } from './membership.ts';
import type { NodeView } from './routes.ts';

/** Beyond so long without a word from the engine a node is not ready. */
const SILENT_MS = 5000;

type ViewParts = {
  readonly node: string;
  readonly membership: Membership;
  readonly replica: Replica;
  readonly clock: Clock;
};

/** By identifier. */
export function viewNodes({ node, membership, replica, clock }: ViewParts): readonly NodeView[] {
  const { table } = membership;
  const [nowMs, monotonicMs] = [clock.now(), clock.monotonicMs()];
  return [...table.nodes].map(([identifier, { record, heardMs }]): NodeView => {
    const { version, address, startedAt, position, lag } = record;
    const isSelf = identifier === node;
    return {
      identifier, isSelf, isLive: table.isLive(identifier, monotonicMs), version, address,
      startedAt, lastHeardAt: formatTimestamp(isSelf ? nowMs : nowMs - (monotonicMs - heardMs)),
      ...isSelf ? positionOf(replica) : { position, lag }, shards: table.shardsOf(identifier),
    };
  }).sort((left, right) => left.identifier < right.identifier ? -1 : 1);
}

export function positionOf(
  { sequence, headSequence }: Replica,
): { readonly position: number; readonly lag: number } {
  return { position: sequence, lag: Math.max(0, headSequence - sequence) };
}

/** null: the engine was heard lately, and what is read is of one moment. */
export function unreadinessOf(replica: Replica, clock: Clock): string | null {
  if (replica.isReloading) return 'what this node holds is being loaded anew';
  const silentMs = clock.monotonicMs() - replica.lastResponseMs;
  if (silentMs < SILENT_MS) return null;
  const { engine, disconnectReason } = replica;
  return `the engine (${engine}) was last heard ${Math.round(silentMs / 1000)} s ago`
    + (disconnectReason === null ? '' : `: ${disconnectReason}`);
}

export function nodeMetrics(parts: ViewParts): readonly MetricSource[] {
  const { membership: { table, changes, clockOffsets }, replica, clock } = parts;
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
      () => positionOf(replica).lag),
    gauge('log_silent_seconds', 'Time since the engine was last heard.',
      () => Math.max(0, clock.monotonicMs() - replica.lastResponseMs) / 1000),
    counter('lease_changes_total', 'Shards that this node has claimed, released and lost.',
      () => Object.entries(changes).map(([change, value]) => ({ labels: { change }, value }))),
    gauge('node_shards', 'Shards of webhooks whose work this node does.',
      () => table.ownShards().length),
    gauge('nodes_live', 'Nodes that were heard within the length of their leases.',
      () => liveNodes().length),
    gauge('node_clock_offset_seconds', 'Clock of each other node minus that of this one.',
      () => liveNodes().flatMap((node) => {
        const offsetMs = clockOffsets.offsetMs(node);
        return offsetMs === null ? [] : [{ labels: { node }, value: offsetMs / 1000 }];
      })),
  ];
}
