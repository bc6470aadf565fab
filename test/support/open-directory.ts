/** Opens the store in a real directory, under its real lock. */
import { silentLogger } from '../../src/base/log.ts';
import { createNodeFiles } from '../../src/store/disk/files.ts';
import { acquireLock } from '../../src/store/lock/directory-lock.ts';
import type { Store } from '../../src/store/store-port.ts';
import { openStore } from '../../src/store/store.ts';
import { COLLECTIONS } from './workload.ts';

export type OpenDirectory = { readonly store: Store; close(): Promise<void> };

export async function openInDirectory(directory: string): Promise<OpenDirectory> {
  const files = createNodeFiles();
  files.makeDirectorySync(directory);
  const lock = await acquireLock(directory, { kind: 'server' });
  const store = await openStore({ directory, files, specs: COLLECTIONS, logger: silentLogger });
  const close = async (): Promise<void> => {
    await store.close();
    lock.release();
  };
  return { store, close };
}
