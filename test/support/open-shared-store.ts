/** Opens stores that share the log of one engine, each with a disk of its own. */
import { silentLogger, type Logger } from '../../src/base/log.ts';
import type { CollectionSpec } from '../../src/store/store-port.ts';
import { openStore, type OpenedStore } from '../../src/store/store.ts';
import type { Engine } from '../../src/store/engines/engine.ts';
import { ManualClock } from './manual-clock.ts';
import { SimulatedFiles } from './simulated-files.ts';
import { COLLECTIONS } from './workload.ts';

export type SharedStoreOptions = {
  /** From 1 on. */
  readonly number?: number;
  readonly specs?: readonly CollectionSpec[];
  readonly files?: SimulatedFiles;
  readonly clock?: ManualClock;
  readonly logger?: Logger;
  readonly snapshotEveryBytes?: number;
  readonly mayBegin?: boolean;
};

export function openSharedStore(
  engine: Engine, options: SharedStoreOptions = {},
): Promise<OpenedStore> {
  const {
    number = 1, specs = COLLECTIONS, files = new SimulatedFiles(), clock = new ManualClock(),
    logger = silentLogger, snapshotEveryBytes = 256 << 20, mayBegin = true,
  } = options;
  const node = `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`;
  return openStore({
    directory: '/node', files, specs, clock, logger,
    sharedLog: { engine, node, snapshotEveryBytes, mayCreate: mayBegin },
  });
}
