/** Opens the store in a real directory, under its real lock. */
import { silentLogger } from '../../src/base/log.ts';
import { createNodeFiles } from '../../src/store/files.ts';
import type { Store } from '../../src/store/port.ts';
import { openStore } from '../../src/store/store.ts';
import { COLLECTIONS } from './workload.ts';

export async function openInDirectory(directory: string): Promise<Store> {
  const files = createNodeFiles();
  return openStore({ directory, files, specs: COLLECTIONS, logger: silentLogger });
}
