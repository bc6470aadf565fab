/** The columns that the list of events filters by. Queued forwards are no events. */
import { findCommitted } from '../../store/find-record.ts';
import type { Store } from '../../store/store-port.ts';
import {
  FlagColumn, RareTextColumn, RecordColumns, SharedTextColumn, TimeColumn,
} from '../durable-queue/record-columns.ts';
import { lateDeliveryCollection } from '../deliveries/late-deliveries.ts';
import {
  eventCollection, isEvent, isEventHeard, readEventCreatedMs, readEventKey, readEventName,
  readEventSource, type EventSource,
} from '../deliveries/event-record.ts';

/** The criteria that an event must meet; null stands for no criterion. */
export type EventFilter = {
  readonly isName: ((name: string) => boolean) | null;
  readonly source: EventSource | null;
  /** Whether it has or had a delivery. */
  readonly isHeard: boolean | null;
  readonly key: string | null;
  /** Milliseconds since the epoch: at or after `sinceMs`, and before `untilMs`. */
  readonly sinceMs: number | null;
  readonly untilMs: number | null;
};

export class EventColumns {
  readonly #names = new SharedTextColumn(readEventName);
  readonly #sources = new SharedTextColumn(readEventSource);
  readonly #keys: RareTextColumn;
  readonly #heard: FlagColumn;
  readonly #times = new TimeColumn(readEventCreatedMs);
  readonly #columns: RecordColumns;
  readonly #unlisten: () => void;

  constructor(store: Pick<Store, 'collection'>) {
    const events = store.collection(eventCollection.name);
    const lateDeliveries = store.collection(lateDeliveryCollection.name);
    const find = findCommitted(store);
    this.#keys = new RareTextColumn(events, readEventKey);
    this.#heard = new FlagColumn((event, id) => isEventHeard(find, id, event));
    this.#columns = new RecordColumns(
      events, [this.#names, this.#sources, this.#keys, this.#heard, this.#times],
      { isListed: isEvent });
    this.#unlisten = lateDeliveries.onChange(({ id, after }) => {
      if (after !== null) this.#columns.refresh(events.findSlot(id));
    });
  }

  /** How many events there are, once the columns are built. */
  get count(): number {
    return this.#columns.count;
  }

  /** Resolves once every event is in its columns. */
  whenBuilt(): Promise<void> {
    return this.#columns.whenBuilt();
  }

  close(): void {
    this.#unlisten();
    this.#columns.close();
  }

  /** Makes the matcher of a filter; null when no event can match. */
  createMatcher(
    { isName, source, isHeard, key, sinceMs, untilMs }: EventFilter,
  ): ((slot: number) => boolean) | null {
    return this.#columns.createMatcher([
      isName === null ? null : this.#names.createMatchTest(isName),
      this.#sources.createTest(source), this.#heard.createTest(isHeard),
      this.#times.createTest(sinceMs, untilMs), this.#keys.createTest(key),
    ]);
  }
}
