/** Events that were done and left no record, in memory: the oldest are forgotten when too many. */

/** What a duplicate is answered with, in JSON. */
type DoneEvent = {
  readonly expiresAtMs: number; readonly bodySha256: string | null; readonly dataJson: string;
};

const COUNT_MAX = 50_000;
const BYTES_MAX = 16 << 20;
/** Longer data is not told again. */
const DATA_LENGTH_MAX = 1024;
/** An entry, its key and its hash. */
const ENTRY_BYTES = 250;
const NO_DATA = '{}';

export class EventMemory {
  readonly #events = new Map<string, DoneEvent>();
  // What it has passed is forgotten: from the start it would walk over the gaps that they leave.
  readonly #oldest = this.#events.keys();
  #bytes = 0;

  add(identifier: string, { dataJson, ...event }: DoneEvent): void {
    this.#forget(identifier);
    const kept = dataJson.length > DATA_LENGTH_MAX || dataJson === NO_DATA ? NO_DATA : dataJson;
    this.#events.set(identifier, { ...event, dataJson: kept });
    this.#bytes += sizeOf(kept);
    while (this.#events.size > COUNT_MAX || this.#bytes > BYTES_MAX) {
      const { value: oldest } = this.#oldest.next();
      if (oldest === undefined) return;
      this.#forget(oldest);
    }
  }

  find(identifier: string, nowMs: number): DoneEvent | undefined {
    const event = this.#events.get(identifier);
    if (event === undefined || event.expiresAtMs > nowMs) return event;
    this.#forget(identifier);
    return undefined;
  }

  #forget(identifier: string): void {
    const event = this.#events.get(identifier);
    if (event === undefined) return;
    this.#events.delete(identifier);
    this.#bytes -= sizeOf(event.dataJson);
  }
}

function sizeOf(dataJson: string): number {
  return ENTRY_BYTES + (dataJson === NO_DATA ? 0 : dataJson.length * 2);
}
