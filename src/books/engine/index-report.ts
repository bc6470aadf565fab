/** The port through which metrics and the status see the indexes of the catalog. */

/** An index that is there, or is being made. */
export type IndexReport = {
  readonly index: string;
  /** About how much memory it takes. */
  readonly bytes: number;
  /** `making`: until it has seen all books once, though it may already answer for some of them. */
  readonly state: 'making' | 'ready';
};

/** What has indexes tells of them here. */
export interface IndexReporter {
  /** None for an index that no query has needed yet, or that was given up. */
  readonly reports: () => readonly IndexReport[];
}

/** A single index; its state is null while it is not there. */
type ObservedIndex = {
  readonly bytes: number; readonly state: IndexReport['state'] | null;
};

/** Reports a single index, which is asked anew each time. */
export function createIndexReporter(name: string, index: ObservedIndex): IndexReporter {
  return {
    reports() {
      const { state, bytes } = index;
      return state === null ? [] : [{ index: name, bytes: Math.round(bytes), state }];
    },
  };
}
