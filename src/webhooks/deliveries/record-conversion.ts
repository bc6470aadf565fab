/**
 * Converts in the background the records of the former form, which version 1.0 has written
 * (convert-deliveries.ts). Where several nodes share the log, the maintainer does it, as soon as no
 * node of version 1.0 is there that could not read the present form (record-form.ts); another node
 * goes on when the maintainer is gone.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Logger } from '../../base/log.ts';
import { findCommitted } from '../../store/find-record.ts';
import type { Store } from '../../store/store-port.ts';
import type { Ownership } from '../durable-queue/ownership.ts';
import { mustWriteOldForm, recordFormCollection } from '../durable-queue/record-form.ts';
import { convertDeliveries } from './convert-deliveries.ts';
import type { FanOuts } from './fan-out.ts';

type RecordConversionDeps = {
  readonly store: Store;
  readonly log: Logger;
  readonly ownership: Pick<Ownership, 'isMaintainer' | 'onChange'>;
  readonly fanOuts: Pick<FanOuts, 'onIdle'>;
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
    const { store, ownership, fanOuts } = this.#deps;
    this.#isStarted = true;
    const convertIfMaintainer = (): void => {
      if (ownership.isMaintainer()) void this.whenConverted();
    };
    this.#unlisten = [
      ownership.onChange(convertIfMaintainer),
      store.collection(recordFormCollection.name).onChange(convertIfMaintainer),
    ];
    // An event is left while its deliveries are being written.
    fanOuts.onIdle(convertIfMaintainer);
    convertIfMaintainer();
  }

  /**
   * Resolves when no record of the former form is left, but for events whose deliveries are still
   * being written; or when none may be converted now, or an error was logged. What another node has
   * not converted yet, this one converts.
   */
  async whenConverted(): Promise<void> {
    // One that runs may have left events whose deliveries are written by now.
    await this.#running;
    const mayConvert = this.#isStarted && !this.#isDone && !this.#closing.signal.aborted
      && !mustWriteOldForm(findCommitted(this.#deps.store));
    if (this.#running === null && mayConvert) {
      this.#running = this.#convert().finally(() => {
        this.#running = null;
      });
    }
    await this.#running;
  }

  /** Resolves when nothing is being converted. Idempotent. */
  async close(): Promise<void> {
    this.#closing.abort();
    for (const unlisten of this.#unlisten) unlisten();
    await this.#running;
  }

  /** Logs an error, never rejects. */
  async #convert(): Promise<void> {
    const { store, log } = this.#deps;
    // The transaction that begins the new form may still be being applied.
    await nextTurn();
    try {
      const { count, isComplete } = await convertDeliveries(store, this.#closing.signal);
      this.#isDone = isComplete;
      if (count > 0) log.info('deliveries and events were converted', { count });
    } catch (thrown) {
      // They are read in both forms, so a later call may do the rest.
      log.warning('deliveries and events of the former form were not all converted',
        { error: thrown });
    }
  }
}
