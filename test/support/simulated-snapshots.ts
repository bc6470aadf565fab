/** The snapshots of a simulated engine. */
import assert from 'node:assert/strict';
import { AppError } from '../../src/base/errors.ts';
import type {
  EngineSnapshot, EngineSnapshots, LogPosition, SnapshotPart,
} from '../../src/store/engines/engine.ts';

export type StoredSnapshot = {
  readonly position: LogPosition;
  readonly parts: Map<number, SnapshotPart>;
  /** Null until it is complete. */
  count: number | null;
};

/** `call` does what an engine does with each call: lets it wait, or fail. */
export function simulatedSnapshots(
  snapshots: Map<number, StoredSnapshot>,
  call: <T>(name: keyof EngineSnapshots, run: () => Promise<T>) => Promise<T>,
): EngineSnapshots {
  const get = (at: LogPosition): StoredSnapshot => {
    const stored = snapshots.get(at.sequence);
    assert(stored !== undefined && stored.position.chain === at.chain);
    return stored;
  };
  return {
    list: () => call('list', async () => [...snapshots.values()]
      .flatMap(({ position, count }): EngineSnapshot[] =>
        count === null ? [] : [{ ...position, parts: count }])
      .sort((left, right) => right.sequence - left.sequence)),
    readPart: (at, part) => call('readPart', async () => {
      const found = get(at).parts.get(part);
      assert(found !== undefined);
      return found;
    }),
    writePart: (at, part, content) => call('writePart', async () => {
      const { sequence, chain } = at;
      const stored = snapshots.get(sequence)
        ?? { position: { sequence, chain }, parts: new Map(), count: null };
      snapshots.set(sequence, stored);
      stored.parts.set(part, { sha256: content.sha256, bytes: Buffer.from(content.bytes) });
    }),
    complete: (at, parts) => call('complete', async () => {
      const stored = snapshots.get(at.sequence);
      const numbers = Array.from({ length: parts }, (_, part) => part);
      if (stored === undefined || !numbers.every((part) => stored.parts.has(part))) {
        throw new AppError('unavailable', 'parts of the snapshot have been removed');
      }
      stored.count = parts;
    }),
    remove: (at) => call('remove', async () => void snapshots.delete(at.sequence)),
  };
}
