/** The records of a data directory, where no app has them open. */
import { mkdirSync } from 'node:fs';
import { COLLECTIONS } from '../../src/app.ts';
import { systemClock } from '../../src/base/clock.ts';
import { silentLogger } from '../../src/base/log.ts';
import { createNodeFiles } from '../../src/store/disk/files.ts';
import { openStore, type OpenedStore } from '../../src/store/store.ts';

/** Opens a data directory, or makes it, while `use` runs. */
export async function withAppStore<T>(
  data: string, use: (store: OpenedStore) => Promise<T>,
): Promise<T> {
  mkdirSync(data, { recursive: true, mode: 0o700 });
  const store = await openStore({
    directory: data, files: createNodeFiles(), specs: COLLECTIONS, logger: silentLogger,
    clock: systemClock,
  });
  try {
    return await use(store);
  } finally {
    await store.close();
  }
}
