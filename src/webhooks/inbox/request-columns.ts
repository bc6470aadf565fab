/** The columns that a list of stored requests filters by. The status is that of `RequestStates`. */
import type { Collection } from '../../store/store-port.ts';
import type { QueueFilter } from '../durable-queue/queue-filter.ts';
import {
  RareTextColumn, RecordColumns, SharedTextColumn, TimeColumn, type SlotTest,
} from '../durable-queue/record-columns.ts';
import { readEventId, readEvent, readWebhookId, readReceivedMs } from './request-codec.ts';
import type { RequestStates } from './request-states.ts';
import type { RequestStatus } from './stored-request.ts';

export type RequestFilter = QueueFilter<RequestStatus> & { readonly eventId: string | null };

export class RequestColumns {
  readonly #states: RequestStates;
  readonly #webhooks = new SharedTextColumn(readWebhookId);
  readonly #events = new SharedTextColumn(readEvent);
  readonly #eventIds: RareTextColumn;
  readonly #times = new TimeColumn(readReceivedMs);
  readonly #columns: RecordColumns;

  constructor(collection: Collection, states: RequestStates) {
    this.#states = states;
    this.#eventIds = new RareTextColumn(collection, readEventId);
    this.#columns = new RecordColumns(
      collection, [this.#webhooks, this.#events, this.#eventIds, this.#times]);
  }

  /** Resolves once every record is in its columns. */
  whenBuilt(): Promise<void> {
    return this.#columns.whenBuilt();
  }

  close(): void {
    this.#columns.close();
  }

  /** Makes the matcher of a filter; null when no record can match. */
  createMatcher(
    { hook, status, event, eventId, sinceMs, untilMs }: RequestFilter,
  ): ((slot: number) => boolean) | null {
    return this.#columns.createMatcher([
      this.#createStatusTest(status), this.#webhooks.createTest(hook),
      this.#events.createTest(event), this.#times.createTest(sinceMs, untilMs),
      this.#eventIds.createTest(eventId),
    ]);
  }

  #createStatusTest(status: RequestStatus | null): SlotTest {
    return status === null ? null : (slot) => this.#states.statusAt(slot) === status;
  }
}
