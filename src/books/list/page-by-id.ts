/** Pages of all books in the order of their ids: nothing is read but the page. */
import type { Collection } from '../../store/store-port.ts';
import type { BookQuery } from '../query/parse-query.ts';
import { readId } from '../query/stored-fields.ts';
import type { PageResult } from './scan.ts';
import { explainPageById } from './scan-plan.ts';
import type { BookEntry } from './top-k.ts';

/** The first `limit` + 1 books after the cursor: the extra one shows whether there are more. */
export function readPageById(
  collection: Collection, { after, sort }: Pick<BookQuery, 'after' | 'sort'>, limit: number,
): PageResult {
  const walk = collection.walk({ isDescending: sort.isIdDescending, after: after?.id ?? null });
  const entries: BookEntry[] = [];
  while (entries.length <= limit) {
    const slot = walk.next();
    const bytes = collection.bytesAt(slot);
    if (bytes === undefined) break;
    entries.push({ sortValues: [], id: readId(bytes), bytes, slot });
  }
  const total = collection.size;
  return { entries, total, plan: explainPageById(total) };
}
