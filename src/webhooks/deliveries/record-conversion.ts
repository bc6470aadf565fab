/**
 * Converts in the background what version 1.0 has left (convert-deliveries.ts). Where several nodes
 * share the log, the maintainer does it, as soon as no node of version 1.0 is there that could not
 * read it (record-form.ts); another node goes on when the maintainer is gone.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Logger } from '../../base/log.ts';
import { findCommitted } from '../../store/find-record.ts';
import type { Store } from '../../store/store-port.ts';
import type { Ownership } from '../durable-queue/ownership.ts';
import { mustWriteOldForm, recordFormCollection } from '../durable-queue/record-form.ts';
import { convertDeliveries } from './convert-deliveries.ts';

type RecordConversionDeps = {
  readonly store: Store;
  readonly log: Logger;
  readonly ownership: Pick<Ownership, 'isMaintainer' | 'onChange'>;
};

export class RecordConversion {
  readonly #deps: RecordConversionDeps;
  readonly #closing = new AbortController();
  #unlisten: readonly (() => void)[] = [];
  #isStarted = false;
  #isDone = false;
  #running: Promise<void> | null = null;

  constructor(deps: RecordConversionDeps) {
    this.#deps = deps;
  }

  start(): void {
    const { store, ownership } = this.#deps;
    this.#isStarted = true;
    const convertIfMaintainer = (): void => {
      if (ownership.isMaintainer()) void this.whenConverted();
    };
    this.#unlisten = [
      ownership.onChange(convertIfMaintainer),
      store.collection(recordFormCollection.name).onChange(convertIfMaintainer),
    ];
    convertIfMaintainer();
  }

  /**
   * Resolves when no record of the former form is left, or none may be converted now. What another
   * node has not converted yet, this one converts.
   */
  whenConverted(): Promise<void> {
    const mayConvert = this.#isStarted && !this.#isDone && !this.#closing.signal.aborted
      && !mustWriteOldForm(findCommitted(this.#deps.store));
    if (this.#running === null && mayConvert) {
      this.#running = this.#convert().finally(() => {
        this.#running = null;
      });
    }
    return this.#running ?? Promise.resolve();
  }

  /** Resolves when nothing is being converted. Idempotent. */
  async close(): Promise<void> {
    this.#closing.abort();
    for (const unlisten of this.#unlisten) unlisten();
    await this.#running;
  }

  /** Reports an error, never rejects. */
  async #convert(): Promise<void> {
    const { store, log } = this.#deps;
    const { signal } = this.#closing;
    // The transaction that begins the new form may still be being applied.
    await nextTurn();
    try {
      const count = await convertDeliveries(store, signal);
      this.#isDone = !signal.aborted;
      if (count > 0) log.info('deliveries and events were converted', { count });
    } catch (thrown) {
      // They are read in both forms, so the next start or maintainer may do the rest.
      log.warning('older deliveries and events were not all converted', { error: thrown });
    }
  }
}
