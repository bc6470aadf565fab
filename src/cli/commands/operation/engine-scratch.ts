/** A scratch folder and an opened engine, for the `data:*` commands. */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { COLLECTIONS } from '../../../app.ts';
import { systemClock } from '../../../base/clock.ts';
import { isAccessRefused, systemCodeOf } from '../../../base/errors.ts';
import { withEngine } from '../../../store/moving/engine-contents.ts';
import type { EngineConnection } from '../../../store/moving/engine-contents.ts';
import type { Files } from '../../../store/disk/files.ts';
import type { Engine } from '../../../store/engines/engine.ts';

const NAME = 'scratch-';
/** The name of a scratch folder holds the pid of the process that made it. */
const SCRATCH = /^scratch-(\d+)-/;

/** Makes a folder while `use` runs: beside the data, where there is room for as much again. */
export async function withScratch<T>(
  directory: string, use: (scratch: string) => Promise<T>,
): Promise<T> {
  const scratch = makeScratch(directory);
  try {
    return await use(scratch);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

type ScratchDeps = {
  readonly files: Files;
  readonly scratch: string;
  /** false: nothing is created in the engine, and one without a log is `not_found`. */
  readonly mayCreate: boolean;
};

export function useEngine<T>(
  engine: Engine, deps: ScratchDeps, use: (opened: EngineConnection) => Promise<T>,
): Promise<T> {
  return withEngine({ ...deps, engine, specs: COLLECTIONS, clock: systemClock }, use);
}

/** `2 books, 1 tokens`; `counts` by collection. */
export function describeRecords(counts: Readonly<Record<string, number>>): string {
  const labels = Object.entries(counts).filter(([, count]) => count > 0)
    .map(([name, count]) => `${count} ${name}`);
  return labels.length === 0 ? 'no records' : labels.join(', ');
}

function makeScratch(directory: string): string {
  try {
    removeAbandonedScratch(directory);
    return mkdtempSync(join(directory, `${NAME}${process.pid}-`));
  } catch (thrown) {
    if (!isAccessRefused(thrown)) throw thrown;
    return mkdtempSync(join(tmpdir(), `hookshelf-${NAME}`));
  }
}

/** Removes the folders of commands that were killed: each may be as large as all records. */
function removeAbandonedScratch(directory: string): void {
  for (const name of readdirSync(directory)) {
    const [, pid] = SCRATCH.exec(name) ?? [];
    if (pid === undefined || isOtherProcess(Number(pid))) continue;
    rmSync(join(directory, name), { recursive: true, force: true });
  }
}

/** Whether another process with this pid runs; in a container we may have got the pid ourselves. */
function isOtherProcess(pid: number): boolean {
  if (pid === process.pid) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (thrown) {
    return systemCodeOf(thrown) === 'EPERM';
  }
}
