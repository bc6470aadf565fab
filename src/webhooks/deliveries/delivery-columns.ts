/**
 * The columns that the list of deliveries filters by. No column has the event of a delivery to a
 * route: it is that of its request.
 */
import type { Collection } from '../../store/store-port.ts';
import type { QueueFilter } from '../durable-queue/queue-filter.ts';
import {
  FlagColumn, RecordColumns, SharedTextColumn, TimeColumn, type SlotTest,
} from '../durable-queue/record-columns.ts';
import {
  isForward, readCreatedMs, readEventName, readListedStatus, readWebhookId,
} from './delivery-codec.ts';
import type { DeliveryKind, ListedStatus } from './delivery.ts';
import { isRouteDeliveryId } from './route-delivery-id.ts';

export type DeliveryFilter = QueueFilter<ListedStatus> & {
  /** null: no kind was asked for, which means those of webhooks and forwards, not of routes. */
  readonly kind: DeliveryKind | 'all' | null;
};

/** Every delivery of a webhook, and every forward; see `kind`. */
export const NO_FILTER: DeliveryFilter = {
  kind: null, hook: null, status: null, event: null, sinceMs: null, untilMs: null,
};

/** The columns of the stored deliveries, which follow every change of these. */
export class DeliveryColumns {
  readonly #routes = new FlagColumn((_, id) => isRouteDeliveryId(id));
  readonly #forwards = new FlagColumn(isForward);
  readonly #statuses = new SharedTextColumn(readListedStatus);
  readonly #webhooks = new SharedTextColumn(readWebhookId);
  readonly #events = new SharedTextColumn((record, id) =>
    isRouteDeliveryId(id) ? null : readEventName(record));
  readonly #times = new TimeColumn(readCreatedMs);
  readonly #columns: RecordColumns;

  constructor(deliveries: Collection) {
    this.#columns = new RecordColumns(
      deliveries,
      [this.#routes, this.#forwards, this.#statuses, this.#webhooks, this.#events, this.#times],
      { changingColumns: [this.#statuses] });
  }

  /** Resolves once every delivery is in its columns, which the first call begins. */
  whenBuilt(): Promise<void> {
    return this.#columns.whenBuilt();
  }

  close(): void {
    this.#columns.close();
  }

  /** Makes the matcher of a filter; null when no delivery can match. */
  createMatcher(
    { kind, status, hook, event, sinceMs, untilMs }: DeliveryFilter,
  ): ((slot: number) => boolean) | null {
    return this.#columns.createMatcher([
      ...this.#createKindTests(kind), this.#statuses.createTest(status),
      this.#webhooks.createTest(hook), this.#events.createTest(event),
      this.#times.createTest(sinceMs, untilMs),
    ]);
  }

  #createKindTests(kind: DeliveryFilter['kind']): readonly SlotTest[] {
    if (kind === 'all') return [];
    const isForwardKind = kind === null || kind === 'route' ? null : kind === 'forward';
    return [this.#routes.createTest(kind === 'route'), this.#forwards.createTest(isForwardKind)];
  }
}
