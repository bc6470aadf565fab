/** Makes this process one of several over one log. Loaded only where the store is shared. */
import { hostname } from 'node:os';
import { assert } from '../base/assert.ts';
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/log.ts';
import type { AdvancingIdSource } from '../base/uuid.ts';
import { VERSION } from '../base/version.ts';
import { Membership } from '../nodes/membership.ts';
import type { NodeOwnership } from '../nodes/node-ownership.ts';
import type { NodeView } from '../nodes/node-routes.ts';
import { createReadConsistency } from '../nodes/read-consistency.ts';
import {
  createNodeMetrics, explainUnreadiness, getPosition, listNodeViews,
} from '../nodes/node-views.ts';
import type { BoundAddress } from './listening.ts';
import type { MetricSource } from '../server/metrics/metric-source.ts';
import type { ReadConsistency } from '../server/routing/dispatcher.ts';
import type { Store } from '../store/store-port.ts';
import { isRouteDeliveryId, parseRequestId } from '../webhooks/deliveries/route-delivery-id.ts';
import { fanOutCollection } from '../webhooks/deliveries/delivery-changes.ts';
import { deliveryCollection } from '../webhooks/deliveries/delivery.ts';
import { eventCollection } from '../webhooks/deliveries/event-record.ts';
import { requestCollection } from '../webhooks/inbox/request-codec.ts';

type NodesDeps = {
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
  /** A UUID that this node keeps for good. */
  readonly node: string;
  readonly makeId: AdvancingIdSource;
  /** `http.timeout`: how long an attempt takes at most. */
  readonly attemptMs: number;
  /** The addresses on which this node listens. */
  readonly addresses: () => readonly BoundAddress[];
};

export interface Nodes {
  readonly ownership: NodeOwnership;
  readonly readConsistency: ReadConsistency;
  readonly metrics: readonly MetricSource[];
  list(): readonly NodeView[];
  /** Why this node is not ready; null when it is. */
  unreadiness(): string | null;
  /** Joins the nodes that share the work. Commands leave that to the server. */
  start(): void;
  close(): Promise<void>;
}

/** The shortest lease. */
const LEASE_MS_MIN = 15_000;
/** A lease is longer than an attempt, which so ends before another node may begin it. */
const LEASE_BEYOND_ATTEMPT_MS = 10_000;

export function composeNodes(deps: NodesDeps): Nodes {
  const { store, clock, logger, makeId, attemptMs, node } = deps;
  const { replica } = store;
  assert(replica !== null, 'the store is shared');
  keepIdsInOrder(makeId, store);
  const lengthMs = Math.round(Math.max(LEASE_MS_MIN, attemptMs + LEASE_BEYOND_ATTEMPT_MS));
  const membership = new Membership({
    store, clock, log: logger, lengths: { lengthMs, attemptMs },
    node, makeRun: makeId,
    isReloading: () => replica.isReloading,
    describeNode: () => ({
      version: VERSION, address: findAdvertisedAddress(deps), ...getPosition(replica),
    }),
  });
  const { ownership } = membership;
  replica.writeSnapshotsWhen(() => ownership.isMaintainer());
  const unfollow = replica.onReload((phase) => {
    if (phase === 'begin') return ownership.cutOffAll();
    membership.restart();
  });
  const view = { node, membership, replica, clock };
  return {
    ownership,
    readConsistency: createReadConsistency(replica),
    metrics: createNodeMetrics(view),
    list: () => listNodeViews(view),
    unreadiness: () => explainUnreadiness(replica, clock),
    start: () => membership.start(),
    async close() {
      unfollow();
      await membership.close();
    },
  };
}

/**
 * The address under which others find this node; null while it listens nowhere. Where it listens on
 * all addresses of the machine, that is the machine's name.
 */
function findAdvertisedAddress({ addresses }: NodesDeps): string | null {
  const first = addresses().find((address) => 'port' in address);
  if (first === undefined) return null;
  const { host, port } = first;
  const name = ['0.0.0.0', '::', ''].includes(host) ? hostname() : host;
  return name.includes(':') ? `[${name}]:${port}` : `${name}:${port}`;
}

const ORDERED_COLLECTIONS = [
  eventCollection, deliveryCollection, fanOutCollection, requestCollection,
];

/**
 * Keeps new ids of events, deliveries and requests after all existing ones. They are worked off in
 * order of their ids, which must be the order in which they were committed. An id begins with the
 * time of the machine that drew it, so with several nodes whose clocks differ a later id could sort
 * before an earlier one. Therefore a node draws ids past all that it has applied.
 */
function keepIdsInOrder(makeId: AdvancingIdSource, store: Pick<Store, 'collection'>): void {
  for (const { name } of ORDERED_COLLECTIONS) {
    const collection = store.collection(name);
    const lastId = collection.idAt(collection.walk({ isDescending: true }).next()) ?? '';
    makeId.advancePast(toUuid(lastId));
    collection.onChange(({ id, before }) => {
      if (before === null) makeId.advancePast(toUuid(id));
    });
  }
}

/** The id of a request's delivery begins with that of the request. */
function toUuid(id: string): string {
  return isRouteDeliveryId(id) ? parseRequestId(id) : id;
}
