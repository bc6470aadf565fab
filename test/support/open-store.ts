/** Opens the store on a simulated disk, through its own recovery. */
import { silentLogger } from '../../src/base/log.ts';
import { openStore, type OpenedStore } from '../../src/store/store.ts';
import { ManualClock } from './manual-clock.ts';
import type { Disk } from './simulated-disk.ts';
import { SimulatedFiles } from './simulated-files.ts';
import { COLLECTIONS } from './workload.ts';

export const DIRECTORY = '/var/data';

export type OpenStore = {
  readonly store: OpenedStore;
  readonly files: SimulatedFiles;
  readonly clock: ManualClock;
};

export function openOn(disk: Disk): Promise<OpenStore> {
  return openWith(new SimulatedFiles(disk));
}

export async function openWith(files: SimulatedFiles): Promise<OpenStore> {
  const clock = new ManualClock();
  const options = { directory: DIRECTORY, files, specs: COLLECTIONS, logger: silentLogger, clock };
  return { store: await openStore(options), files, clock };
}
