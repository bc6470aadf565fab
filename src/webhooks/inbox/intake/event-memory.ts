/**
 * Remembers finished events whose requests are not stored, in memory, by their keys
 * (`SenderEvent.key`). The oldest are forgotten first.
 */

/** `dataJson` is the data of the response to a duplicate. */
type FinishedEvent = {
  readonly expiresAtMs: number; readonly bodySha256: string | null; readonly dataJson: string;
};

const COUNT_MAX = 50_000;
const BYTES_MAX = 16 << 20;
/** Longer data is not kept: a duplicate is then answered without data. */
const DATA_LENGTH_MAX = 1024;
/** An estimate for an entry with its key and its hash. */
const ENTRY_BYTES = 250;
const NO_DATA = '{}';

export class EventMemory {
  readonly #events = new Map<string, FinishedEvent>();
  // One iterator for ever: a new one would walk over the gaps that forgotten entries leave.
  readonly #keysByAge = this.#events.keys();
  #bytes = 0;

  add(key: string, { dataJson, ...event }: FinishedEvent): void {
    this.#forget(key);
    // Equal texts share the constant, so that an entry without data holds no text of its own.
    const hasData = dataJson !== NO_DATA && dataJson.length <= DATA_LENGTH_MAX;
    const storedJson = hasData ? dataJson : NO_DATA;
    this.#events.set(key, { ...event, dataJson: storedJson });
    this.#bytes += estimateBytes(storedJson);
    while (this.#events.size > COUNT_MAX || this.#bytes > BYTES_MAX) {
      const { value: oldestKey } = this.#keysByAge.next();
      if (oldestKey === undefined) return;
      this.#forget(oldestKey);
    }
  }

  find(key: string, nowMs: number): FinishedEvent | undefined {
    const event = this.#events.get(key);
    if (event === undefined || event.expiresAtMs > nowMs) return event;
    this.#forget(key);
    return undefined;
  }

  #forget(key: string): void {
    const event = this.#events.get(key);
    if (event === undefined) return;
    this.#events.delete(key);
    this.#bytes -= estimateBytes(event.dataJson);
  }
}

function estimateBytes(dataJson: string): number {
  return ENTRY_BYTES + (dataJson === NO_DATA ? 0 : dataJson.length * 2);
}
