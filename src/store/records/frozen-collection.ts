/** A collection as of one moment; the bytes stay reachable through it, whatever is written. */
import type { FrozenArena } from './arena.ts';
import type { SlotBlock } from './key-order.ts';
import type { SlotPage, RecordTable } from './record-table.ts';

export type FrozenCollection = FrozenArena & {
  readonly size: number;
  /** The live one, whose records may be moved to another place with the same bytes. */
  readonly table: RecordTable;
  readonly pages: readonly SlotPage[];
  readonly blocks: readonly SlotBlock[];
};
