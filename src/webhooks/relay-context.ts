/** The services that all parts of the relay share. A part gets others as parameters of its own. */
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/log.ts';
import type { Turns } from '../base/turns.ts';
import type { Store } from '../store/store-port.ts';
import type { Ownership } from './work/ownership.ts';

export type RelayContext = {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  readonly makeId: () => string;
  /** A number in [0, 1) for jitter. */
  readonly random: () => number;
  readonly ownership: Ownership;
  /** Shared by all long work in this process. */
  readonly turns: Turns;
};
