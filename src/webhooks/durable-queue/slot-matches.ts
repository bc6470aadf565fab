/**
 * Lists and counts the records of a collection whose slots match. The matchers are those of columns
 * (record-columns.ts) and read no record, so it is done in one go. Deliveries are larger: their
 * pages are decoded in steps (stepped-scan.ts).
 */
import type { Collection } from '../../store/store-port.ts';

/** null: no record matches. */
type SlotMatcher = ((slot: number) => boolean) | null;

type PageOptions<T> = {
  /** The id behind which the page begins; null: with the newest one. */
  readonly before: string | null;
  readonly limit: number;
  readonly decode: (record: Buffer) => T;
};

/** Lists up to `limit` matching records, newest first. */
export function listMatchingPage<T>(
  records: Collection, matches: SlotMatcher, { before, limit, decode }: PageOptions<T>,
): T[] {
  const page: T[] = [];
  if (matches === null) return page;
  const walk = records.walk({ after: before, isDescending: true });
  for (let slot = walk.next(); slot !== -1 && page.length < limit; slot = walk.next()) {
    const record = matches(slot) ? records.bytesAt(slot) : undefined;
    if (record !== undefined) page.push(decode(record));
  }
  return page;
}

export function countMatching(records: Collection, matches: SlotMatcher): number {
  if (matches === null) return 0;
  let count = 0;
  for (let slot = 0; slot < records.slotBound; slot += 1) if (matches(slot)) count += 1;
  return count;
}
