/** Loads the action modules of a data directory and of the settings into the action worker. */
import { systemClock } from '../../../base/clock.ts';
import { lazyImport } from '../../../base/lazy-import.ts';
import type { Clock } from '../../../base/clock.ts';
import type { Logger } from '../../../base/log.ts';
import type { ActionSource } from '../action-registry.ts';
import { findActionModules } from './find-action-modules.ts';
import type { ModuleSelection } from './find-action-modules.ts';

type LoadedActions = {
  readonly sources: readonly ActionSource[];
  /** Ends the worker; idempotent. */
  readonly close: () => Promise<void>;
};

// Most servers have no modules, and start no worker.
const loadWorker = lazyImport(() => import('./action-modules.ts'));

/** Throws `usage` with the name of the first file that is not safe, or does not load. */
export async function loadActionModules(options: {
  /** `<data>/actions`; need not exist. */
  readonly folder: string;
  readonly paths: readonly string[];
  readonly selection?: ModuleSelection;
  readonly log: Logger;
  readonly clock?: Clock;
  readonly callTimeoutMs: number;
  readonly memoryMiBMax: number;
}): Promise<LoadedActions> {
  const files = findActionModules(options);
  if (files.length === 0) return { sources: [], close: async () => {} };
  return loadWorker(async ({ ActionModules }) => {
    const modules = new ActionModules(files, { clock: systemClock, ...options });
    try {
      return { sources: await modules.load(), close: () => modules.close() };
    } catch (thrown) {
      await modules.close();
      throw thrown;
    }
  });
}
