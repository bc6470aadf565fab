/**
 * Whose work it is. Where several processes share one log, what waits under a key (a webhook, or
 * the host of forwards) is attempted by one of them at a time. Where there is one process, all of
 * it is that one's, and asking costs nothing.
 */
import type { Transaction } from '../../store/store-port.ts';

/** The right to attempt what waits under some keys, for as long as it lasts. */
export interface Hold {
  /** Whether an attempt may begin now; if so, `end` is to be called when it is over. */
  begin(): boolean;
  end(): void;
  /** The same question, just before a request is written. */
  mayBegin(): boolean;
  /** Aborted when nothing may be under way any more; null: it lasts as long as the process. */
  readonly ended: AbortSignal | null;
  /** Whether it has lasted until this transaction: what came of an attempt is not written else. */
  isKept(transaction: Transaction): boolean;
}

export interface Ownership {
  /** null: it is another's, or nobody's at present. */
  holdOf(key: string): Hold | null;
  /** False while no attempt may begin at all; then `onChange` tells when that is over. */
  mayBegin(): boolean;
  /** Whether what is to be done once for all nodes (old records, jobs) is done here. */
  maintains(): boolean;
  /** Calls `listener` when holds came or went, or attempts may begin again. */
  onChange(listener: () => void): () => void;
}

const FOR_GOOD: Hold = {
  begin: () => true, end() {}, mayBegin: () => true, ended: null, isKept: () => true,
};

export const ALL_OWNED: Ownership = {
  holdOf: () => FOR_GOOD, mayBegin: () => true, maintains: () => true, onChange: () => () => {},
};

/** null once `cutOff` is aborted: what comes of the work then is of no use to anybody. */
export function unlessCutOff<T>(work: Promise<T>, cutOff: AbortSignal): Promise<T | null> {
  if (cutOff.aborted) {
    work.catch(() => {});
    return Promise.resolve(null);
  }
  return new Promise((resolve, reject) => {
    const onCutOff = (): void => resolve(null);
    cutOff.addEventListener('abort', onCutOff);
    work.then(resolve, reject).finally(() => cutOff.removeEventListener('abort', onCutOff));
  });
}
